/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_index.h - an open-addressing hash table (linear probing) of the numbers of things stored elsewhere,
 * mostly in an array. The caller hashes and compares; nothing is ever removed. free(slots) ends it.
 */
#ifndef STORE_HASH_INDEX_H
#define STORE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All-zero is empty. */
struct hash_index {
	uint32_t *slots; /* number + 1; 0: free */
	size_t count;	 /* of slots: a power of two, or 0 */
};

/* Of the thing that has the number; `owner` is the caller's. */
typedef uint64_t hash_index_hash(const void *owner, uint32_t number);
typedef bool hash_index_equal(const void *owner, uint32_t number, const void *key);

bool hash_index_grow(struct hash_index *index, size_t used, hash_index_hash *hash, const void *owner);

/* Keeps the table at most half full with one more than `used` numbers; false: no memory. */
static inline bool hash_index_reserve(
	struct hash_index *index, size_t used, hash_index_hash *hash, const void *owner)
{
	return used < index->count / 2 || hash_index_grow(index, used, hash, owner);
}

/* The slot of the number that is equal to the key, or the free one where it belongs: there must be slots.
 * Inline, so that the comparison is, too. */
static inline uint32_t *hash_index_slot(const struct hash_index *index, uint64_t hash,
	hash_index_equal *equal, const void *owner, const void *key)
{
	const size_t mask = index->count - 1;
	size_t at = (size_t)hash & mask;

	while (index->slots[at] && !equal(owner, index->slots[at] - 1, key))
		at = (at + 1) & mask;
	return &index->slots[at];
}

/* Puts a number that is not there; there must be room. */
static inline void hash_index_put(struct hash_index *index, uint64_t hash, uint32_t number)
{
	const size_t mask = index->count - 1;
	size_t at = (size_t)hash & mask;

	while (index->slots[at])
		at = (at + 1) & mask;
	index->slots[at] = number + 1;
}

#endif
