/* SPDX-License-Identifier: Apache-2.0 */
/* lazy_text.c - see lazy_text.h. */
#include "store/catalog/lazy_text.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/catalog/zstd_block.h"
#include "store/key.h"

struct text_block {
	uint32_t first, count;
	struct store_slice bytes; /* the value's payload */
};

struct store_lazy_text {
	struct text_block *blocks;
	uint32_t count, capacity;
	bool is_dense, is_damaged;   /* the latter: some block that was unpacked */
	struct store_bytes unpacked; /* of the current compressed block */
	/* -- store_lazy_text_peek(): its last block, and that block's texts */
	struct store_bytes shown;
	struct store_slice *peeked;
	uint32_t peeked_count, peeked_capacity;
	const struct text_block *peeked_block; /* NULL: none */
	struct arena arena;
};

void store_lazy_text_free(struct store_lazy_text *late)
{
	if (!late)
		return;
	free(late->blocks);
	store_bytes_fini(&late->unpacked);
	store_bytes_fini(&late->shown);
	free(late->peeked);
	arena_fini(&late->arena);
	free(late);
}

/* ---- loading ---- */

/* How many texts these bytes are; 0: they are none. */
static uint32_t count_texts(struct store_slice bytes)
{
	struct store_input input = {
		.at = bytes.bytes, .end = bytes.size ? bytes.bytes + bytes.size : bytes.bytes};
	uint32_t count = 0;

	while (!input.bad && input.at < input.end && count < UINT32_MAX - 1) {
		store_input_take(&input, store_input_varint(&input));
		count++;
	}
	return input.bad ? 0 : count;
}

/* The block's texts, one behind the other: in the file, or in `unpacked`. .size 0: it is damaged. */
static struct store_slice entries_of(
	const struct store_lazy_text *late, const struct text_block *block, struct store_bytes *unpacked)
{
	const uint8_t *bytes = block->bytes.bytes;
	struct store_input input = {.at = bytes, .end = bytes + block->bytes.size};

	if (!late->is_dense)
		return block->bytes;
	if (!store_zstd_block_unpack(input, unpacked))
		return (struct store_slice){0};
	return (struct store_slice){unpacked->data, unpacked->size};
}

/* No more than it has bytes, once unpacked: each text has one of size at least. */
static bool may_have(const struct text_block *block, uint32_t count)
{
	const uint8_t *bytes = block->bytes.bytes;

	return count <=
	       store_zstd_block_size((struct store_input){.at = bytes, .end = bytes + block->bytes.size});
}

/* How many the last block has: what the next one's key says, if there is one, or its bytes. */
static bool count_last(struct store_lazy_text *late, uint32_t next)
{
	struct text_block *last = late->count ? &late->blocks[late->count - 1] : NULL;

	if (!last)
		return next == 0;
	if (!late->is_dense || next == UINT32_MAX)
		last->count = count_texts(entries_of(late, last, &late->unpacked));
	else
		last->count = next > last->first ? next - last->first : 0;
	if (late->is_dense && !may_have(last, last->count))
		return false;
	return last->count && last->count < UINT32_MAX - last->first &&
	       (next == UINT32_MAX || next - last->first == last->count);
}

static int add_block(
	struct store_lazy_text *late, const struct store_tree_cursor *cursor, struct error *error)
{
	struct store_input input = store_input_sealed(cursor->value, cursor->key.bytes, cursor->key.size);
	struct text_block *block;
	uint32_t first;

	if (input.bad || !store_key_id_get(&first, cursor->key.bytes, cursor->key.size) ||
		first == UINT32_MAX || !count_last(late, first))
		return -ERROR_RUN;
	block = store_id_table_add(&late->blocks, &late->count, &late->capacity, sizeof *block);
	if (!block)
		return error_memory(error);
	*block = (struct text_block){first, 0, {input.at, (size_t)(input.end - input.at)}};
	return 0;
}

static int add_blocks(struct store_lazy_text *late, const struct store_snapshot *snapshot, uint32_t *count,
	struct error *error)
{
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_TEXT]);
	rc = store_tree_seek(&cursor, "", 0, error);
	while (rc == 1) {
		rc = add_block(late, &cursor, error);
		rc = rc ? rc : store_tree_next(&cursor, error);
	}
	if (rc || !late->count)
		return rc;
	if (!count_last(late, UINT32_MAX))
		return late->unpacked.failed ? error_memory(error) : -ERROR_RUN;
	*count = late->blocks[late->count - 1].first + late->blocks[late->count - 1].count;
	return 0;
}

int store_lazy_text_load(struct store_texts *texts, const struct store_snapshot *snapshot, uint32_t *tail,
	uint32_t *count, struct error *error)
{
	struct store_lazy_text *late = calloc(1, sizeof *late);
	struct store_slice *slices;
	int rc;

	if (!late)
		return error_memory(error);
	texts->late = late;
	late->is_dense = snapshot->is_dense;
	*count = 0;
	rc = add_blocks(late, snapshot, count, error);
	if (rc || !*count)
		return rc;
	slices = calloc(*count, sizeof *slices); /* untouched memory costs nothing */
	if (!slices)
		return error_memory(error);
	slices[0] = texts->texts[0];
	free(texts->texts);
	texts->texts = slices;
	texts->count = texts->capacity = *count;
	*tail = late->blocks[late->count - 1].first;
	return 0;
}

/* ---- unpacking ---- */

/* Finds the texts of a block in its bytes, which the reader owns, with room for one more; returns how many.
 * Each gets its NUL in place of the next one's size. A compressed block with a right seal may still have too
 * few texts: missing ones stay untouched, because the claimed number may be huge. */
static uint32_t split(
	uint8_t *bytes, size_t size, struct store_slice *texts, uint32_t count, bool *is_damaged)
{
	struct store_input input = {.at = bytes, .end = bytes + size};
	uint8_t *end = NULL;
	uint32_t i;

	for (i = 0; i < count; i++) {
		size_t text_size = store_input_varint(&input);
		const uint8_t *text = store_input_take(&input, text_size);

		if (end)
			*end = '\0';
		if (!text)
			break;
		end = (uint8_t *)text + text_size;
		texts[i] = (struct store_slice){text, text_size};
	}
	if (end)
		*end = '\0'; /* behind the last text there are no bytes, or some that the block did not
				announce */
	*is_damaged |= input.bad || input.at < input.end;
	return i;
}

static void unpack(const struct store_texts *texts, struct text_block *block)
{
	struct store_lazy_text *late = texts->late;
	const struct store_slice nothing = texts->texts[0];
	struct store_slice entries = entries_of(late, block, &late->unpacked);
	char *copy =
		entries.size ? arena_copy(&late->arena, (const char *)entries.bytes, entries.size) : NULL;

	if (copy)
		split((uint8_t *)copy, entries.size, &texts->texts[block->first], block->count,
			&late->is_damaged);
	else if (!entries.size && !late->unpacked.failed && block->bytes.size)
		late->is_damaged = true;
	if (!block->first)
		texts->texts[0] = nothing;
	block->bytes.size = 0; /* not again, for those that are missing */
}

/* The block that has the text. */
static struct text_block *find_block(const struct store_lazy_text *late, uint32_t id)
{
	uint32_t from = 0, to = late->count;

	while (from + 1 < to) {
		uint32_t middle = from + (to - from) / 2;

		if (late->blocks[middle].first <= id)
			from = middle;
		else
			to = middle;
	}
	return &late->blocks[from];
}

void store_lazy_text_need(const struct store_texts *texts, uint32_t id)
{
	if (texts->late->count)
		unpack(texts, find_block(texts->late, id));
}

/* The block's bytes with room for the last NUL; NULL: no memory, or damage. */
static uint8_t *show(struct store_lazy_text *late, const struct text_block *block)
{
	struct store_slice entries = entries_of(late, block, &late->shown);
	uint8_t *room;

	if (!late->is_dense) {
		late->shown.size = 0;
		store_bytes_put(&late->shown, entries.bytes, entries.size);
	}
	room = entries.size ? store_bytes_reserve(&late->shown, 1) : NULL;
	return room ? late->shown.data : NULL;
}

static bool peek_block(struct store_lazy_text *late, const struct text_block *block)
{
	uint8_t *bytes;

	late->peeked_block = NULL;
	bytes = show(late, block);
	if (!bytes || !store_id_table_reserve(
			      &late->peeked, &late->peeked_capacity, block->count, sizeof *late->peeked))
		return false;
	late->peeked_count = split(bytes, late->shown.size, late->peeked, block->count, &late->is_damaged);
	late->peeked_block = block;
	return late->peeked_count > 0;
}

struct store_slice store_lazy_text_peek(const struct store_texts *texts, uint32_t id)
{
	struct store_lazy_text *late = texts->late;
	const struct text_block *block = late->peeked_block;

	/* Reads the table only after the block is decoded: touching an unused table costs as much as filling
	 * it. */
	if (block && id >= block->first && id - block->first < late->peeked_count)
		return late->peeked[id - block->first];
	if (!late->count)
		return texts->texts[id];
	block = find_block(late, id);
	if (!block->bytes.size) /* it has been; what it lacked is nothing */
		return texts->texts[texts->texts[id].bytes ? id : 0];
	return peek_block(late, block) && id - block->first < late->peeked_count
		       ? late->peeked[id - block->first]
		       : texts->texts[0];
}

bool store_lazy_text_check(const struct store_texts *texts)
{
	struct store_lazy_text *late = texts->late;

	for (uint32_t i = 0; late && i < late->count && !late->is_damaged; i++)
		if (late->blocks[i].bytes.size) /* is not unpacked */
			late->is_damaged = count_texts(entries_of(late, &late->blocks[i], &late->unpacked)) !=
					   late->blocks[i].count;
	return !late || !late->is_damaged;
}

void store_lazy_text_settle(struct store_texts *texts)
{
	struct store_lazy_text *late = texts->late;

	for (uint32_t i = 0; late && i < late->count; i++) {
		uint32_t last = late->blocks[i].first + late->blocks[i].count - 1;

		if (!texts->texts[last].bytes)
			unpack(texts, &late->blocks[i]);
	}
	if (late) {
		late->count = 0;
		late->peeked_block = NULL;
	}
}
