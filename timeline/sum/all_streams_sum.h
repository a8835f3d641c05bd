/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_sum.h - what all streams of a run did in a window, from the sums of all timelines in their
 * stores (store/states/all_streams.h): the cost does not grow with the number of streams. Where no bucket
 * covers the window (its edges, invalid buckets) the streams are read.
 *
 *   buckets       |====2^33=====|=2^30=|=2^30=|
 *   given     gap | sums          sums   sums | gap      gaps: every stream's timeline
 */
#ifndef TIMELINE_ALL_STREAMS_SUM_H
#define TIMELINE_ALL_STREAMS_SUM_H

#include "timeline/sum/state_sum.h"

/* A range of a store that buckets do not cover, in the run's time. */
struct all_streams_gap {
	unsigned store;
	uint64_t begin_ns, end_ns;
};

/* For callers that read the streams themselves, several at once: called once, before any bucket. 0, or
 * negative. */
struct all_streams_asker {
	void *own;
	int (*ask)(void *own, const struct all_streams_gap *gaps, uint32_t count, struct error *error);
};

/* Sums what all of these streams did in [begin, end); they must be all of the run. Calls the sink's `piece`
 * and `sum` in any order, never `reach`. `asker` NULL: the sink gets the gaps too. 1: done; 0: reading each
 * stream is not slower, and nothing was given; negative. */
int all_streams_sum(struct run *run, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, const struct state_sum_sink *sink, const struct all_streams_asker *asker,
	struct error *error);

#endif
