/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_anchor.h - where this host's CLOCK_MONOTONIC lies on the wall clock, and how far that may be off:
 * what several hosts' times are put together by. Two anchors, at begin and end, tell how far the wall clock
 * was moved between.
 */
#ifndef RECORD_CLOCK_ANCHOR_H
#define RECORD_CLOCK_ANCHOR_H

#include <stdint.h>

#define CLOCK_ANCHOR_UNKNOWN UINT64_MAX

struct clock_anchor {
	uint64_t monotonic_ns, wall_ns; /* of one moment */
	uint64_t error_ns;		/* between the two, and of the wall clock as the kernel knows it;
					   CLOCK_ANCHOR_UNKNOWN:	      nobody keeps the clock */
};

struct clock_anchor clock_anchor_take(void);

struct store_writer;
/* As facts: wall_ns (at the origin) and wall_error_ns of the first one; with the last one wall_drift_ns, too.
 */
void clock_anchor_put_first(
	struct store_writer *writer, const struct clock_anchor *first, uint64_t origin_ns);
void clock_anchor_put_last(
	struct store_writer *writer, const struct clock_anchor *first, const struct clock_anchor *last);

#endif
