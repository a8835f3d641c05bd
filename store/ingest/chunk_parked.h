/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_parked.h - compresses the records of an open chunk. Where many streams take turns, a chunk's records
 * have left the caches before the next ones come; parked, they take a fifth to a tenth of the space and are
 * not touched until the chunk is encoded.
 *
 *   parked -> page | group | group |     -> page | group | group |      4 KB each, from the pool
 *                 group  | first record | count | widths | column | column | ...
 *                 column   each record's value xor the first's, in as many low bytes as the largest needs
 *
 * A record with nothing in common takes 56 bytes, as uncompressed; a CPU sample about 6, a GPU span 15.
 */
#ifndef STORE_CHUNK_PARKED_H
#define STORE_CHUNK_PARKED_H

#include "store/store.h"

struct store_chunk_parked_page;

/* Pages shared by all parked chunks: they stay in memory, often in a cache. All-zero is ready. */
struct store_chunk_parked_pool {
	struct store_chunk_parked_page *free;
	size_t free_count;
	size_t used, most; /* pages in use, and their maximum since the last settle() */
};
void store_chunk_parked_pool_fini(struct store_chunk_parked_pool *pool);
/* Frees pages that were unused since the last call. */
void store_chunk_parked_pool_settle(struct store_chunk_parked_pool *pool);
size_t store_chunk_parked_pool_bytes(const struct store_chunk_parked_pool *pool); /* of the pages in use */

/* All-zero is empty. */
struct store_chunk_parked {
	struct store_chunk_parked_page *first, *last;
	uint32_t count; /* records */
};

/* Appends records and returns how many: fewer without memory. */
uint32_t store_chunk_parked_put(struct store_chunk_parked_pool *pool, struct store_chunk_parked *parked,
	const struct store_record *records, uint32_t count);
/* Copies all records, in the order of adding; `to` has room for parked->count. */
void store_chunk_parked_get(const struct store_chunk_parked *parked, struct store_record *to);
/* Returns its pages to the pool and empties it. */
void store_chunk_parked_clear(struct store_chunk_parked_pool *pool, struct store_chunk_parked *parked);

#endif
