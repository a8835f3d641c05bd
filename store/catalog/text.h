/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the strings of one store, each once, by id. They hold names from traced programs, so any byte may
 * occur. Id 0 is "". In the file: | size varint | bytes | ... in append blocks (append_block.h).
 */
#ifndef STORE_TEXT_H
#define STORE_TEXT_H

#include "store/base/arena.h"
#include "store/base/bytes.h"
#include "store/base/hash_index.h"

#define STORE_ID_FAILED UINT32_MAX /* no memory, or no free ids */

struct store_texts {
	struct store_slice *texts; /* NUL-terminated as well; NULL: not decoded yet (lazy_text.h) */
	uint32_t count, capacity;
	struct hash_index index; /* of ids; the writer's alone */
	struct arena arena;
	struct store_lazy_text *late; /* NULL: all are decoded */
};

int store_texts_init(struct store_texts *texts); /* negative: no memory */
void store_texts_fini(struct store_texts *texts);
/* Id of the bytes, new or known; STORE_ID_FAILED. */
uint32_t store_texts_intern(struct store_texts *texts, const void *bytes, size_t size);
/* "" for an unknown id. */
struct store_slice store_texts_at(const struct store_texts *texts, uint32_t id);
/* The same without keeping it decoded: valid until the next call. */
struct store_slice store_texts_peek(const struct store_texts *texts, uint32_t id);

void store_texts_put(const void *texts, uint32_t id, struct store_bytes *out);
/* Appends a text without searching for an equal one: for readers. */
int store_texts_get(void *texts, uint32_t id, struct store_input *input);

#endif
