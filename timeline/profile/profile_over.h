/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_over.h - how a profile's metrics are spread over ranks, threads, processes, programs, hosts,
 * devices or streams (S0 4.5): of each row the sum, minimum, mean, maximum and standard deviation of its
 * values in the groups.
 *
 *   rank 0  solve 10     rank 1  solve 14     rank 2  -       solve: sum 24, min 0, mean 8, max 14
 *
 * A row that a group has not is 0 there: all groups of the selection are the population, whose deviation it
 * is. Streams without the property (no rank; no device) are in the profile, but in no group.
 */
#ifndef TIMELINE_PROFILE_OVER_H
#define TIMELINE_PROFILE_OVER_H

#include "timeline/profile/profile.h"
#include "timeline/report/stream_groups.h"

struct profile_spread {
	double sum, min, mean, max, deviation;
};

/* In the arena of the profile. */
struct profile_over {
	size_t groups;
	struct profile_spread *spreads; /* [row][inclusive, exclusive][metric] */
};

/* The coefficient of variation; NAN with a mean of 0. */
double profile_spread_variation(const struct profile_spread *spread);

/* The profile, as profile_compute() makes it, and its spread. ERROR_EMPTY: no chosen stream is in a group. */
int profile_over_compute(struct profile *profile, struct profile_over *over, struct run *run,
	const struct select *select, enum profile_view view, enum stream_groups_by by, struct arena *arena,
	struct error *error);

/* What each group has, of everything that is selected. */
struct profile_each {
	const char *key; /* the label of its struct stream_group */
	uint32_t streams;
	double *values; /* by metric, inclusive */
};

/* The groups in their order, in `each`, and the metrics, in profile->metrics; the profile has its rows, too.
 * In `arena`. ERROR_EMPTY as above. */
int profile_each_compute(struct profile *profile, struct profile_each **each, size_t *count, struct run *run,
	const struct select *select, enum stream_groups_by by, bool has_labels, struct arena *arena,
	struct error *error);

#endif
