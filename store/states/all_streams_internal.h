/* SPDX-License-Identifier: Apache-2.0 */
/* all_streams_internal.h - what all_streams.c (buckets) and all_streams_wait.c (queued pieces) share. */
#ifndef STORE_ALL_STREAMS_INTERNAL_H
#define STORE_ALL_STREAMS_INTERNAL_H

#include "store/chunk/sum_cache.h"
#include "store/states/all_streams.h"

#define CROWD_FEW_PIECES 8192u	   /* kept while there are few streams */
#define CROWD_WAIT_MANY (1u << 18) /* 16 bytes each */

struct all_streams_bucket {
	struct store_context_sums sums;
	bool is_spoiled;
};

/* ---- all_streams.c ---- */

/* Makes buckets for all of [begin, end), begin < end. False: the sums have failed (is_bad). */
bool all_streams_cover(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns);
/* Limits the memory. True: buckets are now wider, or the sums have failed (is_bad). */
bool all_streams_bound(struct store_all_streams *all_streams);

/* ---- all_streams_wait.c ---- */

/* Moves queued pieces into buckets. */
void all_streams_wait_empty(struct store_all_streams *all_streams);
void all_streams_wait_fini(struct all_streams_wait *wait);

#endif
