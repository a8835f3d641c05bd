/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_launches.h - for profile.c: samples of GPU instructions, below the call paths that launched their
 * kernels (timeline/sum/launch_samples.h), so that a profile has them where it has the CPU's.
 *
 *   launch   main;solve;<gpu kernel>;K          sample   <gpu kernel>;K;INSTRUCTION
 *   row      main;solve;<gpu kernel>;K;INSTRUCTION
 */
#ifndef TIMELINE_PROFILE_LAUNCHES_H
#define TIMELINE_PROFILE_LAUNCHES_H

#include "timeline/profile/profile_tree.h"
#include "timeline/sum/launch_samples.h"

struct window;

struct profile_launches {
	struct run *run;
	const uint32_t *others; /* streams of the part that are not such samples' */
	uint32_t other_count;
	struct launch_samples *samples; /* NULL: the part has none */
	uint64_t wanted;		/* metrics of GPU_METRIC_SAMPLES */
	uint64_t period;		/* cycles; 0: unknown */
};

/* Of the part's streams, window and contexts; those whose launch is not known stand where they were sampled.
 * The part must outlive it. fini in any case. */
int profile_launches_read(
	struct profile_launches *launches, const struct profile_part *part, struct error *error);
void profile_launches_fini(struct profile_launches *launches);
/* Makes the window know their metrics, by sums of 0. */
int profile_launches_mark(
	const struct profile_launches *launches, struct window *window, struct error *error);
/* Creates the scopes that profile_launches_add() sums. */
void profile_launches_expand(const struct profile_launches *launches);
/* Whole numbers, which sum to the whole of each metric. */
int profile_launches_add(const struct profile_launches *launches, struct scope_sums *sums,
	const struct profile *profile, struct error *error);

#endif
