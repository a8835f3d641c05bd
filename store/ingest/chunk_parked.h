/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_parked.h - records of a chunk that still grows, put by in little room. Where many streams take turns,
 * what a stream's chunk has so far is out of the caches before its next records come; put by it is a fifth to
 * a tenth of that, and is not touched again until the chunk is encoded.
 *
 *   stash -> page | group | group |     -> page | group | group |      4 KB each, of the pool
 *                 group  | first record | count | widths | column | column | ...
 *                 column   bytes of each record that are not as in the first: its value xor the first's, as
 *                          many of the low bytes as the largest of them wants
 *
 * A record that is all different takes 56 bytes, as it does outside; a CPU sample about 6, a GPU's span 15.
 */
#ifndef STORE_CHUNK_PARKED_H
#define STORE_CHUNK_PARKED_H

#include "store/store.h"

struct store_chunk_parked_page;

/* Pages, handed from stash to stash: they are in memory, and often in a cache. All-zero is ready. */
struct store_chunk_parked_pool {
	struct store_chunk_parked_page *free;
	size_t free_count;
	size_t used, most; /* pages in use; at most so many, since settle() was called last */
};
void store_chunk_parked_pool_fini(struct store_chunk_parked_pool *pool);
/* Gives back to the system what was not in use since the last call. */
void store_chunk_parked_pool_settle(struct store_chunk_parked_pool *pool);
size_t store_chunk_parked_pool_bytes(const struct store_chunk_parked_pool *pool); /* of the pages in use */

/* All-zero is empty. */
struct store_chunk_parked {
	struct store_chunk_parked_page *first, *last;
	uint32_t count; /* records */
};

/* Puts records by behind the others; how many: fewer when memory is out. */
uint32_t store_chunk_parked_put(struct store_chunk_parked_pool *pool, struct store_chunk_parked *stash,
	const struct store_record *records, uint32_t count);
/* All its records, in the order in which they were put; `to` has room for stash->count. */
void store_chunk_parked_get(const struct store_chunk_parked *stash, struct store_record *to);
/* Its pages go to the pool: it is empty. */
void store_chunk_parked_clear(struct store_chunk_parked_pool *pool, struct store_chunk_parked *stash);

#endif
