/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd_sum.h - what all streams of a run did in a window, from the sums that their stores keep of all lines
 * (store/crowd.h): the cost does not know how many streams there are. What no bucket holds (the window's
 * edges, what was spoiled) is asked of the streams.
 *
 *   buckets       |====2^33=====|=2^30=|=2^30=|
 *   given     gap | sums          sums   sums | gap      gaps: every stream's line
 */
#ifndef TIMELINE_CROWD_SUM_H
#define TIMELINE_CROWD_SUM_H

#include "timeline/line_sum.h"

/* Adds up what all of these streams did in [begin, end); they must be all of the run. In no order: `piece`
 * and `sum` take what they are given, `reach` is not called. 1: done; 0: not to be had for less than asking
 * each stream, and nothing was given; negative. */
int crowd_sum(struct run *run, const uint32_t *streams, uint32_t count, uint64_t begin_ns, uint64_t end_ns,
	const struct line_sink *sink, struct error *error);

#endif
