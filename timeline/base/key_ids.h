/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ids.h - gives each key it is shown a number, counting from 0, so that sums and rows are
 * plain arrays. Keys are structs of one size without padding, compared bytewise; a text stands in
 * by its 128-bit hash.
 */
#ifndef TIMELINE_KEY_IDS_H
#define TIMELINE_KEY_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBERING_NONE UINT32_MAX

struct numbering {
	size_t key_bytes;
	uint32_t count;
	/* -- its own -- */
	uint32_t capacity; /* of keys */
	uint32_t slots;	   /* a power of two, or 0 */
	uint8_t *keys;
	uint32_t *table; /* number + 1; 0: free */
};

/* Heap memory only once a key is put. */
void numbering_init(struct numbering *numbering, size_t key_bytes);
void numbering_fini(struct numbering *numbering);
/* Forgets all keys, keeps the memory. */
void numbering_clear(struct numbering *numbering);

/* The key's number, a new one if need be; *is_new (may be NULL) says so. NUMBERING_NONE: memory is out. */
uint32_t numbering_put(struct numbering *numbering, const void *key, bool *is_new);
/* NUMBERING_NONE: not there. */
uint32_t numbering_find(const struct numbering *numbering, const void *key);
/* Valid until the next put. */
const void *numbering_key(const struct numbering *numbering, uint32_t number);

#endif
