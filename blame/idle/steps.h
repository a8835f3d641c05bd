/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the instances of a program's marks (steps, phases), each with a breakdown of its wall clock.
 */
#ifndef BLAME_STEPS_H
#define BLAME_STEPS_H

#include "blame/idle/idle.h"

struct step {
	const char *name;	   /* of the mark, raw bytes */
	uint64_t begin_ns, end_ns; /* cut at the window */
	struct idle idle;	   /* without shares; if nothing is known in the instance, only unknown_ns */
	uint32_t context;	   /* with the largest blame; 0: none */
};

struct steps {
	struct step *list; /* the longest first, then by begin */
	size_t count;
};

/* For marks and ranges; bookmark.h defines how long a moment lasts, the last one to the window's end. With
 * processes as groups, a process's mark covers its own GPUs, if it has any. Without a GPU among the streams
 * it covers the process's threads, each a group: busy is work, idle is waiting, `context` is the longest
 * wait. In `arena`. */
int steps_make(struct steps *steps, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
