/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ids.h - numbers keys from 0 in order of first use, so that sums and rows are plain arrays. Keys are
 * structs of one size without padding, compared bytewise; texts are keyed by their 128-bit hash.
 */
#ifndef TIMELINE_KEY_IDS_H
#define TIMELINE_KEY_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/hash_index.h"

#define KEY_IDS_NONE UINT32_MAX

struct key_ids {
	size_t key_bytes;
	uint32_t count;
	/* -- internal -- */
	size_t capacity; /* of keys */
	uint8_t *keys;
	struct hash_index index;
};

/* Allocates only when a key is put. */
void key_ids_init(struct key_ids *ids, size_t key_bytes);
void key_ids_fini(struct key_ids *ids);
/* Forgets all keys, keeps the memory. */
void key_ids_clear(struct key_ids *ids);

/* The key's number, known or new; *is_new (may be NULL) tells which. KEY_IDS_NONE: no memory. */
uint32_t key_ids_put(struct key_ids *ids, const void *key, bool *is_new);
/* KEY_IDS_NONE: not there. */
uint32_t key_ids_find(const struct key_ids *ids, const void *key);
/* Valid until the next put. */
const void *key_ids_key(const struct key_ids *ids, uint32_t number);

#endif
