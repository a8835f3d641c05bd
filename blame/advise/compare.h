/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - a change beside its estimate: the kernels of a run before it and of one after it, by name.
 *
 *   before   kernel, launches, samples -> advice with intervals
 *   after    kernel, launches          -> speedup of a launch: does an interval hold it?
 *
 * A kernel's name changes with its parameters: what has no partner of the same name is joined by the name
 * without parameters and template arguments, if one is left on each side.
 */
#ifndef BLAME_COMPARE_H
#define BLAME_COMPARE_H

#include "blame/advise/advice.h"
#include "blame/stalls/kernels.h"

struct compare_pair {
	const struct kernel *before, *after; /* NULL: only the other run has it; never both */
};

struct compare {
	struct compare_pair *pairs; /* as the run before lists them, then those of the run after alone */
	size_t count;
};

/* The kernels must outlive it. Returns 0, negative: no memory. compare_fini() in both cases. */
int compare_find(struct compare *compare, const struct kernels *before, const struct kernels *after,
	struct error *error);
void compare_fini(struct compare *compare);

/* Mean time of a launch; 0: no launch is known. */
double compare_launch_ns(const struct kernel *kernel);
/* How much faster a launch is after than before; 0: not known. */
double compare_speedup(const struct compare_pair *pair);

enum compare_verdict { COMPARE_BELOW, COMPARE_INSIDE, COMPARE_ABOVE, COMPARE_UNKNOWN };
const char *compare_verdict_name(enum compare_verdict verdict); /* "inside"; "" if it is not known */
/* Where the measured speedup lies in the interval of the advice. Not known of advice that is not about the
 * time of a launch. */
enum compare_verdict compare_judge(const struct advice *advice, double speedup);

/* Share of the kernel's samples with this reason, 0 to 1; negative: it has no samples. Only of code that
 * could be read. */
double compare_stall_share(const struct kernel *kernel, enum stall stall);

#endif
