/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - strings by id. The writer looks them up by hash; the reader only appends.
 */
#include "store/catalog/text.h"

#include <stdlib.h>

#include "store/base/hash.h"
#include "store/base/id_table.h"
#include "store/catalog/lazy_text.h"

int store_texts_init(struct store_texts *texts)
{
	static const uint8_t empty[1];
	struct store_slice *first;

	*texts = (struct store_texts){0};
	first = store_id_table_add(&texts->texts, &texts->count, &texts->capacity, sizeof *first);
	if (!first)
		return -1;
	*first = (struct store_slice){.bytes = empty};
	return 0;
}

void store_texts_fini(struct store_texts *texts)
{
	free(texts->texts);
	free(texts->index.slots);
	arena_fini(&texts->arena);
	store_lazy_text_free(texts->late);
	*texts = (struct store_texts){0};
}

static uint32_t texts_append(struct store_texts *texts, const void *bytes, size_t size)
{
	const char *copy = arena_copy(&texts->arena, bytes, size);
	struct store_slice *text;

	if (!copy)
		return STORE_ID_FAILED;
	text = store_id_table_add(&texts->texts, &texts->count, &texts->capacity, sizeof *text);
	if (!text)
		return STORE_ID_FAILED;
	*text = (struct store_slice){.bytes = (const uint8_t *)copy, .size = size};
	return texts->count - 1;
}

static uint64_t text_hash(const void *texts, uint32_t id)
{
	const struct store_texts *of = texts;

	return store_hash64(of->texts[id].bytes, of->texts[id].size, 0);
}

static bool text_equal(const void *texts, uint32_t id, const void *key)
{
	const struct store_slice *text = &((const struct store_texts *)texts)->texts[id], *wanted = key;

	return text->size == wanted->size && memcmp(text->bytes, wanted->bytes, wanted->size) == 0;
}

uint32_t store_texts_intern(struct store_texts *texts, const void *bytes, size_t size)
{
	const struct store_slice key = {.bytes = bytes, .size = size};
	uint32_t *slot;

	if (!size)
		return 0;
	if (!store_id_table_index(&texts->index, texts->count, text_hash, texts))
		return STORE_ID_FAILED;
	slot = hash_index_slot(&texts->index, store_hash64(bytes, size, 0), text_equal, texts, &key);
	if (*slot)
		return *slot - 1;
	if (texts_append(texts, bytes, size) == STORE_ID_FAILED)
		return STORE_ID_FAILED;
	*slot = texts->count;
	return texts->count - 1;
}

struct store_slice store_texts_at(const struct store_texts *texts, uint32_t id)
{
	const struct store_slice *text = &texts->texts[id < texts->count ? id : 0];

	if (!text->bytes)
		store_lazy_text_need(texts, id);
	return text->bytes ? *text : texts->texts[0]; /* a damaged block lacks it */
}

struct store_slice store_texts_peek(const struct store_texts *texts, uint32_t id)
{
	return texts->late && id < texts->count ? store_lazy_text_peek(texts, id) : store_texts_at(texts, id);
}

void store_texts_put(const void *texts, uint32_t id, struct store_bytes *out)
{
	struct store_slice text = store_texts_at(texts, id);

	store_bytes_put_varint(out, text.size);
	store_bytes_put(out, text.bytes, text.size);
}

int store_texts_get(void *texts, uint32_t id, struct store_input *input)
{
	struct store_texts *of = texts;
	uint64_t size = store_input_varint(input);
	const uint8_t *bytes = store_input_take(input, size);

	if (!bytes || id < of->count)
		return 0;
	return texts_append(of, bytes, size) == STORE_ID_FAILED ? -1 : 0;
}
