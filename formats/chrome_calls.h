/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_calls.h - a stream's state timeline as nested calls: consecutive extents in the same call are one
 * call, whatever its state.
 *
 *   extents   |m;f;g|m;f;h|m;f  |  gap  |m    |
 *   calls     |m________________|       |m____|
 *              |f_______________|
 *              |g____|h____|
 */
#ifndef FORMATS_CHROME_CALLS_H
#define FORMATS_CHROME_CALLS_H

#include "timeline/base/external_sort.h"
#include "timeline/scan/extent.h"

#define CHROME_STATE 0xffffff00u /* frames from here on are states, not scopes */

struct chrome_call {
	uint64_t begin_ns, end_ns;
	uint32_t frame; /* scope of the run, or CHROME_STATE + enum extent_state */
	uint32_t depth;
};

/* All-zero before the first begin. */
struct chrome_calls {
	struct external_sort *spill; /* calls that have ended */
	struct run *run;
	uint32_t depth;		  /* contexts are cut at this depth */
	struct chrome_call *open; /* outermost first */
	size_t open_count, open_capacity;
	uint32_t *path; /* scratch: frames of an extent */
	size_t path_capacity;
};

/* Forgets the calls of the last stream. */
int chrome_calls_begin(struct chrome_calls *calls, struct run *run, uint32_t depth, struct error *error);
void chrome_calls_fini(struct chrome_calls *calls);
/* The next extent of the timeline. */
int chrome_calls_add(struct chrome_calls *calls, const struct extent *extent, struct error *error);
/* After the last extent: next() returns the calls one by one, by begin, outermost first; NULL: no more, or
 * an error in *code. */
int chrome_calls_end(struct chrome_calls *calls, struct error *error);
const struct chrome_call *chrome_calls_next(struct chrome_calls *calls, int *code, struct error *error);

#endif
