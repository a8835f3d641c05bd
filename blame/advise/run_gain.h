/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_gain.h - how much faster the whole window were if a kernel took less time: Amdahl, and what overlaps.
 *
 *   thread   =launch=|~~~~~~~~~~sync~~~~~~~~~~~|==      A twice as fast: at least 1, since the sync may wait
 *   queue 1          |#########A##########|             for B, too; at most 11, half of A
 *   queue 2                |######B######|
 *
 * At most: the union of the kernel's executions, less what is left of it: whatever depends on what, no path
 * through the window has more of it. At least: run_replay.h. What one kernel takes from the GPU's resources
 * while others run is left out.
 */
#ifndef BLAME_RUN_GAIN_H
#define BLAME_RUN_GAIN_H

#include "blame/advise/advice.h"
#include "blame/stalls/kernels.h"

/* Speedups of the window, 1 or more. */
struct run_gain {
	uint64_t window_ns; /* that gets shorter: to the end of its last thread */
	double low, high;   /* if the kernel takes the estimated time */
	double least, most; /* over the estimate's interval */
};

struct run_gains;

/* For kernels of the run, of which the launches that --context chooses change; all must outlive it. NULL in
 * *gains, and no error: it cannot be told (run_replay_new()). */
int run_gains_new(struct run_gains **gains, struct run *run, const struct select *select,
	const struct kernels *kernels, struct error *error);
void run_gains_free(struct run_gains *gains);

/* If the advice is followed. False: not known, since the questions before took too long (ask for the longest
 * kernels first), or since the advice is not about the time of launches. */
bool run_gains_of(struct run_gains *gains, const struct kernel *kernel, const struct advice *advice,
	struct run_gain *gain);

#endif
