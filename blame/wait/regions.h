/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h - OpenMP's regions by the sums that the recorder made of each (metrics OMP:*): nothing is sampled
 * or guessed. A region is a place in the program, by its call path; all its rounds are one.
 *
 *   thread 0   |==work==|~~~~~~~~~~|
 *   thread 1   |==work=======|~~~~~|
 *   thread 2   |==work=============|
 *
 *   capacity: all threads x (last arrival - begin, or the barrier before)
 *   held: what the others waited for the last one
 *   work = capacity - held; imbalance = capacity / work
 *
 * The imbalance is the longest thread's work over the mean, by rounds. Sums get the time at which the
 * recorder's collector read them: a window's edge is known to some hundred milliseconds.
 */
#ifndef BLAME_REGIONS_H
#define BLAME_REGIONS_H

#include "blame/idle/idle.h"

enum region_sum {
	REGION_COUNT,
	REGION_TIME,
	REGION_LAST,
	REGION_HELD,
	REGION_CAPACITY,
	REGION_WAITED,
	REGION_SUMS
};

struct region {
	uint32_t context; /* that of the region, and its scope */
	uint32_t scope;
	uint64_t sums[REGION_SUMS];
	/* The thread that the others waited for most there: its stream, and its part of last and held. */
	uint32_t stream;
	uint64_t stream_last, stream_held_ns;
};

/* A thread's part of a region. */
struct region_part {
	uint32_t region; /* of the list */
	uint32_t stream;
	uint64_t sums[REGION_SUMS];
};

struct regions {
	struct region *regions; /* by descending held time, then in the order of the contexts */
	size_t count;
	struct region_part *parts; /* `region` is the index in `regions` */
	size_t part_count;
	uint64_t sums[REGION_SUMS];
};

/* Of these streams in [begin, end). Empty where the run has no such metrics. In `arena`. */
int regions_sum(struct regions *regions, struct run *run, const uint32_t *streams, uint32_t stream_count,
	uint64_t begin_ns, uint64_t end_ns, struct arena *arena, struct error *error);

/* The context in which a thread worked longest inside the region; the region's own if it did not. */
int regions_work(uint32_t *context, struct run *run, const struct idle_question *question, uint32_t stream,
	const struct region *region, struct error *error);

#endif
