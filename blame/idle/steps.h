/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the instances of what a program marks (steps, phases), each with where its wall clock went.
 */
#ifndef BLAME_STEPS_H
#define BLAME_STEPS_H

#include "blame/idle/idle.h"

struct step {
	const char *name;	   /* of the mark, raw bytes */
	uint64_t begin_ns, end_ns; /* cut at the window */
	struct idle idle; /* without shares; of a stretch in which nothing is known, unknown_ns alone */
	uint32_t context; /* that most of it is blamed on; 0: none */
};

struct steps {
	struct step *list; /* the longest first, then by begin */
	size_t count;
};

/* Of marks and ranges; how long a moment lasts is said in mark.h, the last one to the window's end. Where
 * groups are processes, a process's mark is about its own GPUs, if it has any. Without any GPU among the
 * streams it is about its threads, each a group: busy is work, idle what they wait, `context` where they wait
 * most. In `arena`. */
int steps_make(struct steps *steps, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
