/* SPDX-License-Identifier: Apache-2.0 */
/* hash_index.c - see hash_index.h. */
#include "store/base/hash_index.h"

#include <stdlib.h>

#define SLOTS_FIRST 64u

bool hash_index_grow(struct hash_index *index, size_t used, hash_index_hash *hash, const void *owner)
{
	struct hash_index wider = {.count = index->count ? index->count : SLOTS_FIRST};

	while (wider.count / 2 <= used)
		wider.count *= 2;
	wider.slots = calloc(wider.count, sizeof *wider.slots);
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < index->count; i++)
		if (index->slots[i])
			hash_index_put(&wider, hash(owner, index->slots[i] - 1), index->slots[i] - 1);
	free(index->slots);
	*index = wider;
	return true;
}
