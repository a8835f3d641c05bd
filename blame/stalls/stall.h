/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.h - the reasons of instruction samples, by vendor-neutral names (S4 T8.7), and the metrics that carry
 * them:
 *
 *   GINST:STL_GMEM/long_scoreboard   the vendor's own name is kept; the scheduler issued another warp
 *   GINST:STL_GMEM/long_scoreboard/not_issued   it issued none: a latency sample (S2 II-A, S4 8.2.2)
 *   GINST:STL_NONE/selected   this warp issued
 *
 * The weights of all GINST:STL_* of an instruction add up to its samples x period.
 */
#ifndef BLAME_STALL_H
#define BLAME_STALL_H

#include <stdbool.h>
#include <stddef.h>

#define STALLS(X)                                                      \
	X(NONE, "no stall: issued")                                    \
	X(IFET, "instruction fetch or branch")                         \
	X(IDEP, "execution dependency: an input is not ready")         \
	X(GMEM, "memory dependency: waits for a load")                 \
	X(TMEM, "texture queue full")                                  \
	X(SYNC, "synchronization: barriers and fences")                \
	X(CMEM, "constant or immediate not in the cache")              \
	X(PIPE, "a pipeline of the arithmetic units is busy")          \
	X(MTHR, "memory throttle: queues of memory instructions full") \
	X(NSEL, "ready, another warp was selected")                    \
	X(OTH, "other")                                                \
	X(SLP, "sleeps")
enum stall {
#define X(name, text) STALL_##name,
	STALLS(X)
#undef X
		STALL_COUNT
};
const char *stall_name(enum stall stall);  /* "GMEM" */
const char *stall_about(enum stall stall); /* for people */

struct stall_metric {
	enum stall stall;
	bool is_latency;
	const char *vendor; /* inside the name; "" if it has none */
	size_t vendor_bytes;
};
/* False: the metric counts no instruction samples. */
bool stall_metric_parse(const char *name, struct stall_metric *metric);

#endif
