/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_calls.h - a stream's line as nested calls: extents one behind the other in the same call are one
 * call, whatever they do in it.
 *
 *   extents   |m;f;g|m;f;h|m;f  |  gap  |m    |
 *   calls     |m________________|       |m____|
 *              |f_______________|
 *              |g____|h____|
 */
#ifndef FORMATS_CHROME_CALLS_H
#define FORMATS_CHROME_CALLS_H

#include "timeline/extent.h"

#define CHROME_STATE 0xffffff00u /* frames from here on are states, not scopes */

struct chrome_call {
	uint64_t begin_ns, end_ns;
	uint32_t frame; /* scope of the run, or CHROME_STATE + enum extent_state */
	uint32_t depth;
};

/* All-zero before the first begin. */
struct chrome_calls {
	struct chrome_call *calls; /* by begin, outermost first */
	size_t count;
	/* -- its own -- */
	struct run *run;
	uint32_t depth; /* contexts are cut there */
	size_t capacity;
	uint32_t *open; /* calls that are open: indices into `calls`, outermost first */
	size_t open_count, open_capacity;
	uint32_t *path; /* scratch: frames of an extent */
	size_t path_capacity;
};

/* Forgets the calls of the stream before. */
void chrome_calls_begin(struct chrome_calls *calls, struct run *run, uint32_t depth);
void chrome_calls_fini(struct chrome_calls *calls);
/* The next extent of the line; false when memory is out. */
bool chrome_calls_add(struct chrome_calls *calls, const struct extent *extent);

#endif
