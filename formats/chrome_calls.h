/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_calls.h - a stream's line as nested calls: extents one behind the other in the same call are one
 * call, whatever they do in it.
 *
 *   extents   |m;f;g|m;f;h|m;f  |  gap  |m    |
 *   calls     |m________________|       |m____|
 *              |f_______________|
 *              |g____|h____|
 *
 * A wait of which no record says where it is lies where the thread was: the calls around it go on.
 */
#ifndef FORMATS_CHROME_CALLS_H
#define FORMATS_CHROME_CALLS_H

#include "timeline/scan/extent.h"

#define CHROME_STATE 0xffffff00u /* frames from here on are states, not scopes */

/* All-zero before the first begin. */
struct chrome_calls {
	struct run *run;
	uint32_t depth; /* contexts are cut there */
	/* A call begins or ends: in the order of time, what ends before what begins, innermost first.
	 * `frame`: a scope of the run, or CHROME_STATE + enum extent_state. */
	void (*change)(void *own, uint32_t frame, uint64_t time_ns, bool is_begin);
	void *own;
	uint32_t *open; /* frames, outermost first */
	size_t open_count, open_capacity;
	uint64_t end_ns; /* of the extent before: until then they are open */
	uint32_t *path;	 /* scratch: frames of an extent */
	size_t path_capacity;
};

/* Forgets the calls of the stream before. */
void chrome_calls_begin(struct chrome_calls *calls, struct run *run, uint32_t depth);
void chrome_calls_fini(struct chrome_calls *calls);
/* The next extent of the line. False: memory is out. */
bool chrome_calls_add(struct chrome_calls *calls, const struct extent *extent);
/* No more extents: what is open ends. */
void chrome_calls_end(struct chrome_calls *calls);

#endif
