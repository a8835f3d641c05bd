/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_changes.h - a stream's line as nested calls: extents one behind the other in the same call are one
 * call, whatever they do in it.
 *
 *   extents   |m;f;g|m;f;h|m;f  |  gap  |m    |
 *   calls     |m________________|       |m____|
 *              |f_______________|
 *              |g____|h____|
 *
 * A wait of which no record says where it is lies where the thread was: the calls around it go on.
 */
#ifndef FORMATS_STACK_CHANGES_H
#define FORMATS_STACK_CHANGES_H

#include "timeline/scan/extent.h"
#include "timeline/select/select.h"

#define STACK_STATE 0xffffff00u /* frames from here on are states, not scopes */

/* All-zero before the first begin. */
struct stack_changes {
	struct run *run;
	uint32_t depth; /* contexts are cut there */
	/* A call begins or ends: in the order of time, what ends before what begins, innermost first.
	 * `frame`: a scope of the run, or STACK_STATE + enum extent_state. */
	void (*change)(void *own, uint32_t frame, uint64_t time_ns, bool is_begin);
	void *own;
	uint32_t *open; /* frames, outermost first */
	size_t open_count, open_capacity;
	uint64_t end_ns; /* of the extent before: until then they are open */
	uint32_t *path;	 /* scratch: frames of an extent */
	size_t path_capacity;
};

/* Forgets the calls of the stream before. */
void stack_changes_begin(struct stack_changes *calls, struct run *run, uint32_t depth);
void stack_changes_fini(struct stack_changes *calls);
/* The next extent of the line. False: memory is out. */
bool stack_changes_add(struct stack_changes *calls, const struct extent *extent);
/* No more extents: what is open ends. */
void stack_changes_end(struct stack_changes *calls);
/* All of it for the selected part of one stream's line; `change` and `own` are set. */
int stack_changes_stream(struct stack_changes *calls, struct run *run, const struct select *select,
	uint32_t stream, struct error *error);

#endif
