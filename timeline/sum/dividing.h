/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dividing.h - finds where call paths divide a thread's time. From the root down stand frames that pass on
 * nearly all of it to one callee (main, a runtime's start, a dispatcher), then one whose callees share it.
 * All these are above the picture: run_depth_below() counts from the first callee below them, so that no row
 * is one function only because of where it began. A frame that mostly works itself stays in the picture. But
 * where threads end in the same such frame below different callers (a copy, a parser, a busy loop), it does
 * not tell what they do: then the first frame on the way that also waits elsewhere is the last above, else
 * the caller is in the picture.
 *
 * Each thread says of the frames on its way down whether they are above; a frame is if it is for most of the
 * threads' work. That depends on the run and the window alone, not on who looks at it.
 */
#ifndef TIMELINE_DIVIDING_H
#define TIMELINE_DIVIDING_H

#include "timeline/run/run.h"

#define DIVIDING_EIGHTHS 7 /* so much of a frame's work in one callee: the way goes on there */
/* More threads, or more call paths in all of them, are judged by an even choice of threads. */
#define DIVIDING_STREAMS 256u
#define DIVIDING_PATHS 24000u

struct dividing {
	uint32_t depth;	 /* where most of the work divides, for those who need one number; 0: nothing known */
	bool is_changed; /* other frames are above than before */
	uint32_t *streams; /* that were looked at; dividing_fini() frees them and their levels */
	uint32_t *levels;  /* how deep most of their paths go below the frames above, at least 1 */
	uint32_t count;
	bool is_choice; /* not all threads of the window were looked at */
};

/* Looks at the window and tells the run (run_set_passing). Without threads at work, nothing passes. */
int dividing_find(
	struct run *run, uint64_t begin_ns, uint64_t end_ns, struct dividing *dividing, struct error *error);
void dividing_fini(struct dividing *dividing);
/* How deep that stream's paths go; 0: not known. */
uint32_t dividing_levels(const struct dividing *dividing, uint32_t stream);

#endif
