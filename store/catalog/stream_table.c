/* SPDX-License-Identifier: Apache-2.0 */
/* stream_table.c - see stream_table.h. */
#include "store/catalog/stream_table.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "store/base/hash.h"
#include "store/base/id_table.h"
#include "store/key.h"

#define STREAM_BYTES_LEAST 20u
#define DENSE_BYTES_LEAST 38u /* with its seal: a byte for each column */

/* The bytes that a block was decoded from. */
struct store_stream_mark {
	uint64_t hash;
	uint32_t size, count; /* streams; 0: none was decoded */
};

void store_stream_table_fini(struct store_stream_table *table)
{
	if (table->mapped_bytes)
		munmap(table->streams, table->mapped_bytes);
	else
		free(table->streams);
	free(table->blocks);
	free(table->marks);
	*table = (struct store_stream_table){0};
}

/* ---- loading ---- */

/* By what the tree says, and no more than fit the file. */
static uint32_t most_streams(const struct store_snapshot *snapshot, uint32_t block)
{
	const struct store_pages *pages = &snapshot->pages;
	const uint64_t block_bytes =
		block == STORE_STREAM_DENSE ? DENSE_BYTES_LEAST : STREAM_BYTES_LEAST * STORE_STREAM_BLOCK;
	uint64_t wanted = snapshot->trees[STORE_TREE_STREAM].entries;
	uint64_t most = pages->page_count * pages->page_bytes / block_bytes + 1;

	wanted = (wanted < most ? wanted : most) * block;
	return wanted < UINT32_MAX ? (uint32_t)wanted : 0;
}

/* In a map of its own, where untouched pages cost nothing: calloc() clears reused memory. */
static bool reserve_late(struct store_stream_table *table, uint32_t most)
{
	const size_t bytes = ((size_t)most + table->block) * sizeof *table->streams;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return false;
	table->streams = map;
	table->mapped_bytes = bytes;
	table->blocks = calloc((size_t)most / table->block + 1, sizeof *table->blocks);
	return table->blocks != NULL;
}

/* What was decoded before is kept where its bytes are the same. */
static bool reserve_all(struct store_stream_table *table, uint32_t most)
{
	const uint32_t blocks = most / table->block + 1, before = table->mark_count;

	if (!store_id_table_reserve(&table->marks, &table->mark_count, blocks, sizeof *table->marks))
		return false;
	for (uint32_t i = before; i < table->mark_count; i++)
		table->marks[i].count = 0;
	return store_id_table_reserve(&table->streams, &table->capacity, most, sizeof *table->streams);
}

/* Number of entries in these bytes; does not check their content. */
static uint32_t count_entries(struct store_input input)
{
	uint32_t count = 0;

	while (!input.bad && input.at < input.end && count <= STORE_STREAM_BLOCK) {
		store_input_take(&input, store_input_varint(&input));
		count++;
	}
	return input.bad ? 0 : count;
}

static uint32_t get_streams(const struct store_stream_table *table, struct store_stream *into, uint32_t room,
	struct store_input *input)
{
	return table->block == STORE_STREAM_DENSE ? store_stream_block_get(into, room, input, table->texts)
						  : store_streams_get(into, room, input, table->texts);
}

static bool note_block(struct store_stream_table *table, const struct store_input *input)
{
	uint32_t count =
		table->block == STORE_STREAM_DENSE ? store_stream_block_count(*input) : count_entries(*input);

	if (!count || count > table->block)
		return false;
	table->blocks[table->count / table->block] =
		(struct store_slice){input->at, (size_t)(input->end - input->at)};
	table->count += count;
	return true;
}

/* Most blocks of a run that is being recorded are what they were at the last renewal. */
static void add_block(struct store_stream_table *table, struct store_input *input, uint32_t most)
{
	const uint32_t first = table->count, left = most - first;
	const uint32_t room = left < table->block ? left : table->block;
	const size_t size = (size_t)(input->end - input->at);
	struct store_stream_mark *mark = &table->marks[first / table->block];
	const uint64_t hash = store_hash64(input->at, size, first);

	if (mark->count && mark->hash == hash && mark->size == size) {
		table->count += mark->count;
		input->at = input->end;
		return;
	}
	mark->count = 0;
	table->count += get_streams(table, &table->streams[first], room, input);
	table->decoded += table->count - first;
	if (!input->bad && input->at == input->end)
		*mark = (struct store_stream_mark){hash, (uint32_t)size, table->count - first};
}

static int load_block(struct store_stream_table *table, const struct store_tree_cursor *cursor, uint32_t most,
	bool *is_damaged)
{
	struct store_input input = store_input_sealed(cursor->value, cursor->key.bytes, cursor->key.size);
	uint32_t first;

	if (!store_key_id_get(&first, cursor->key.bytes, cursor->key.size) || first != table->count ||
		first >= most || first % table->block)
		input.bad = true;
	if (table->blocks && !input.bad) {
		input.bad = !note_block(table, &input);
		input.at = input.end;
	} else if (!input.bad) {
		add_block(table, &input, most);
	}
	*is_damaged = input.bad || input.at < input.end;
	return *is_damaged ? -ERROR_RUN : 0;
}

int store_stream_table_load(struct store_stream_table *table, const struct store_snapshot *snapshot,
	uint32_t texts, bool is_listed, bool *is_damaged, struct error *error)
{
	const uint32_t block = snapshot->has_columns ? STORE_STREAM_DENSE : STORE_STREAM_BLOCK;
	const uint32_t most = most_streams(snapshot, block);
	struct store_tree_cursor cursor;
	int rc;

	/* A map cannot grow, and what is known of blocks is of those of one size. */
	if (is_listed || table->mapped_bytes || table->block != block)
		store_stream_table_fini(table);
	table->block = block;
	table->shift = (unsigned)__builtin_ctz(block);
	table->count = table->peeked_block = 0;
	table->texts = texts;
	table->is_damaged = false;
	*is_damaged = false;
	if (is_listed && most ? !reserve_late(table, most) : !reserve_all(table, most))
		return error_memory(error);
	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_STREAM]);
	rc = store_tree_seek(&cursor, "", 0, error);
	while (rc == 1) {
		rc = load_block(table, &cursor, most, is_damaged);
		rc = rc ? rc : store_tree_next(&cursor, error);
	}
	return rc;
}

void store_stream_table_leave(struct store_stream_table *table)
{
	free(table->blocks);
	table->blocks = NULL;
	table->peeked_block = 0;
}

/* ---- asking ---- */

static void decode(struct store_stream_table *table, uint32_t block, struct store_stream *into)
{
	const struct store_slice *bytes = &table->blocks[block];
	struct store_input input = {.at = bytes->bytes, .end = bytes->bytes + bytes->size};
	uint32_t left = table->count - block * table->block;
	uint32_t count = left < table->block ? left : table->block;

	table->decoded += count;
	if (get_streams(table, into, count, &input) == count && !input.bad && input.at == input.end)
		return;
	memset(into, 0, count * sizeof *into);
	table->is_damaged = true;
}

/* Is it still bytes? */
static bool is_late(const struct store_stream_table *table, uint32_t block)
{
	return table->blocks && table->blocks[block].bytes;
}

const struct store_stream *store_stream_table_at(struct store_stream_table *table, uint32_t id)
{
	const uint32_t block = id >> table->shift;

	if (is_late(table, block)) {
		decode(table, block, &table->streams[(size_t)block * table->block]);
		table->blocks[block].bytes = NULL;
	}
	return &table->streams[id];
}

const struct store_stream *store_stream_table_peek(struct store_stream_table *table, uint32_t id)
{
	const uint32_t block = id >> table->shift;

	if (!is_late(table, block))
		return &table->streams[id];
	if (table->peeked_block != block + 1)
		decode(table, block, table->peeked);
	table->peeked_block = block + 1;
	return &table->peeked[id & (table->block - 1)];
}

bool store_stream_table_all(struct store_stream_table *table)
{
	for (uint32_t id = 0; table->blocks && id < table->count; id += table->block)
		store_stream_table_at(table, id);
	return !table->is_damaged;
}
