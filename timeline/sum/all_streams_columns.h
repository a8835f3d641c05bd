/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_columns.h - how busy all streams of a run were in each column of a screen, from the sums that
 * stores keep of all streams (all_streams_sum.h). The cost does not depend on the number of streams.
 */
#ifndef TIMELINE_ALL_STREAMS_COLUMNS_H
#define TIMELINE_ALL_STREAMS_COLUMNS_H

#include "timeline/run/run.h"

/* Times are sums over the streams. */
struct all_streams_column {
	uint64_t busy_ns;	     /* extent_state_is_busy() */
	uint64_t there_ns;	     /* alive */
	uint64_t known_ns, blind_ns; /* neither absent, lost nor unmonitored; unmonitored */
	bool has_lost;
};

/* Sums `count` columns; column i is [edges[i], edges[i + 1]) << shift, in ns. `is_spread`: stored sums are of
 * longer times than a tile of 2^shift ns, and were spread evenly over them; else columns are exact. 1: done;
 * 0: there are no such sums (they are of more than 16 columns, or spoiled by late records; a run that is
 * still recorded has none), and the columns are undefined: ask each stream. Negative: error. */
int all_streams_columns(struct run *run, const uint64_t *edges, unsigned shift, uint32_t count,
	struct all_streams_column *columns, bool *is_spread, struct error *error);

#endif
