/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_sum.h - what all streams of a run did in a window, from the sums that their stores keep of all
 * lines (store/states/all_streams.h): the cost does not know how many streams there are. What no bucket holds
 * (the window's edges, what was spoiled) is asked of the streams.
 *
 *   buckets       |====2^33=====|=2^30=|=2^30=|
 *   given     gap | sums          sums   sums | gap      gaps: every stream's line
 */
#ifndef TIMELINE_ALL_STREAMS_SUM_H
#define TIMELINE_ALL_STREAMS_SUM_H

#include "timeline/sum/state_sum.h"

/* What buckets do not tell of the streams of a store, in the run's time. */
struct all_streams_gap {
	unsigned store;
	uint64_t begin_ns, end_ns;
};

/* Who asks the streams himself, several at once: is called once, before any bucket is given. 0, or negative.
 */
struct all_streams_asker {
	void *own;
	int (*ask)(void *own, const struct all_streams_gap *gaps, uint32_t count, struct error *error);
};

/* Adds up what all of these streams did in [begin, end); they must be all of the run. In no order: `piece`
 * and `sum` take what they are given, `reach` is not called. `asker` NULL: the sink is given the gaps, too.
 * 1: done; 0: not to be had for less than asking each stream, and nothing was given; negative. */
int all_streams_sum(struct run *run, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, const struct state_sum_sink *sink, const struct all_streams_asker *asker,
	struct error *error);

#endif
