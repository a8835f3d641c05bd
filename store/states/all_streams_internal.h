/* SPDX-License-Identifier: Apache-2.0 */
/* all_streams_internal.h - what all_streams.c (buckets) and all_streams_wait.c (what waits for them) share.
 */
#ifndef STORE_ALL_STREAMS_INTERNAL_H
#define STORE_ALL_STREAMS_INTERNAL_H

#include "store/chunk/sum_cache.h"
#include "store/states/all_streams.h"

#define CROWD_FEW_PIECES 8192u	   /* that are kept while there are few streams */
#define CROWD_WAIT_MANY (1u << 18) /* 16 bytes each */

struct all_streams_bucket {
	struct store_context_sums sums;
	bool is_spoiled;
};

/* ---- all_streams.c ---- */

/* Buckets for all of [begin, end), begin < end. False: the sums of all streams is bad. */
bool all_streams_cover(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns);
/* No more in memory than it may be. True: buckets are wider now, or the sums of all streams is bad. */
bool all_streams_bound(struct store_all_streams *all_streams);

/* ---- all_streams_wait.c ---- */

/* What waits goes to buckets. */
void all_streams_wait_empty(struct store_all_streams *all_streams);
void all_streams_wait_fini(struct all_streams_wait *wait);

#endif
