/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - see symbol.h. */
#include "store/read/symbol.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/catalog/zstd_block.h"
#include "store/read/reader_internal.h"

static int damaged(const struct store_reader *reader, struct error *error)
{
	return store_reader_damaged(reader, "a symbol", error);
}

static void part_fini(struct store_symbol_part *part)
{
	store_bytes_fini(&part->bytes);
	free(part->places);
}

void store_symbols_fini(struct store_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->count; i++)
		part_fini(&symbols->parts[i]);
	free(symbols->parts);
	*symbols = (struct store_symbols){0};
}

/* ---- decoding a compressed block ---- */

/* Offsets rise: 0, 1: the bytes are bad, or -ERROR_IO: no memory. */
static int find_places(struct store_symbol_part *part, uint64_t offset)
{
	struct store_input input = {part->bytes.data, part->bytes.data + part->bytes.size, false};

	while (input.at < input.end) {
		uint64_t step = store_input_varint(&input), size = store_input_varint(&input);
		const uint8_t *at = store_input_take(&input, (size_t)size);
		struct store_symbol_place *place;

		if (!at || (step == 0) != (part->count == 0) || offset + step < offset)
			return 1;
		offset += step;
		place = store_id_table_add(&part->places, &part->count, &part->capacity, sizeof *place);
		if (!place)
			return -ERROR_IO;
		*place = (struct store_symbol_place){
			offset, (uint32_t)(at - part->bytes.data), (uint32_t)size};
	}
	return 0;
}

static int read_key(const struct store_reader *reader, const struct store_tree_cursor *cursor,
	uint32_t *module, uint64_t *offset, struct error *error)
{
	if (store_key_symbol_get(module, offset, cursor->key.bytes, cursor->key.size) &&
		*module < reader->modules.count)
		return 0;
	return store_reader_damaged(reader, "a symbol's key", error);
}

static int read_part(const struct store_reader *reader, struct store_symbol_part *part,
	const struct store_tree_cursor *cursor, struct error *error)
{
	struct store_input input = store_input_sealed(cursor->value, cursor->key.bytes, cursor->key.size);
	uint64_t first;
	int rc = read_key(reader, cursor, &part->module, &first, error);

	if (rc)
		return rc;
	if (input.bad || !store_zstd_block_unpack(input, &part->bytes))
		return part->bytes.failed ? error_memory(error) : damaged(reader, error);
	rc = find_places(part, first);
	return rc < 0 ? error_memory(error) : rc ? damaged(reader, error) : 0;
}

/* How many parts begin at or before it. */
static uint32_t parts_before(const struct store_symbols *symbols, uint32_t module, uint64_t offset)
{
	uint32_t low = 0, high = symbols->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct store_symbol_part *part = &symbols->parts[middle];

		if (part->module < module || (part->module == module && part->places->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_part(struct store_reader *reader, const struct store_tree_cursor *cursor, struct error *error)
{
	struct store_symbols *symbols = &reader->symbols;
	struct store_symbol_part part = {0};
	uint64_t first;
	uint32_t module, at;
	int rc = read_key(reader, cursor, &module, &first, error);

	if (rc)
		return rc;
	at = parts_before(symbols, module, first);
	if (at && symbols->parts[at - 1].module == module && symbols->parts[at - 1].places->offset == first)
		return 0; /* it is there */
	rc = read_part(reader, &part, cursor, error);
	if (!rc && !store_id_table_add(&symbols->parts, &symbols->count, &symbols->capacity, sizeof part))
		rc = error_memory(error);
	if (rc) {
		part_fini(&part);
		return rc;
	}
	memmove(&symbols->parts[at + 1], &symbols->parts[at], (symbols->count - 1 - at) * sizeof part);
	symbols->parts[at] = part;
	return 0;
}

/* ---- looking one up ---- */

static const struct store_symbol_place *find_place(const struct store_symbol_part *part, uint64_t offset)
{
	uint32_t low = 0, high = part->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (part->places[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < part->count && part->places[low].offset == offset ? &part->places[low] : NULL;
}

/* The part that would hold it, among those that are unpacked; *is_sure: no other one would. */
static const struct store_symbol_part *find_part(
	const struct store_symbols *symbols, uint32_t module, uint64_t offset, bool *is_sure)
{
	uint32_t before = parts_before(symbols, module, offset);
	const struct store_symbol_part *part = before ? &symbols->parts[before - 1] : NULL;

	if (part && part->module != module)
		part = NULL;
	*is_sure = part && offset <= part->places[part->count - 1].offset;
	return part;
}

/* The last value whose key is not above: 1, and the cursor stands on it. */
static int seek_part(const struct store_reader *reader, struct store_tree_cursor *cursor,
	const uint8_t key[STORE_KEY_SYMBOL_BYTES], struct error *error)
{
	int rc;

	store_tree_cursor_init(cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_SYMBOL]);
	rc = store_tree_seek(cursor, key, STORE_KEY_SYMBOL_BYTES, error);
	if (rc < 0 || (rc == 1 && cursor->key.size == STORE_KEY_SYMBOL_BYTES &&
			      memcmp(cursor->key.bytes, key, STORE_KEY_SYMBOL_BYTES) == 0))
		return rc;
	cursor->fits = store_is_sealed;
	return store_tree_seek_below(cursor, key, STORE_KEY_SYMBOL_BYTES, error);
}

/* 1: *input is there; 0: there is no such symbol. */
static int find_dense(struct store_reader *reader, uint32_t module, uint64_t offset,
	const uint8_t key[STORE_KEY_SYMBOL_BYTES], struct store_input *input, struct error *error)
{
	const struct store_symbol_part *part;
	const struct store_symbol_place *place;
	struct store_tree_cursor cursor;
	bool is_sure;
	int rc;

	part = find_part(&reader->symbols, module, offset, &is_sure);
	if (!is_sure) {
		rc = seek_part(reader, &cursor, key, error);
		rc = rc == 1 ? add_part(reader, &cursor, error) : rc;
		if (rc)
			return rc;
		part = find_part(&reader->symbols, module, offset, &is_sure);
	}
	place = part ? find_place(part, offset) : NULL;
	if (!place)
		return 0;
	input->at = part->bytes.data + place->at;
	input->end = input->at + place->size;
	return 1;
}

int store_reader_symbol(struct store_reader *reader, uint32_t module, uint64_t offset,
	struct store_scope *scopes, struct error *error)
{
	uint8_t key[STORE_KEY_SYMBOL_BYTES];
	struct store_slice value;
	struct store_input input = {0};
	int rc, count;

	store_key_symbol_put(key, module, offset);
	if (reader->snapshot.is_dense) {
		rc = find_dense(reader, module, offset, key, &input, error);
	} else {
		rc = store_tree_get_sealed(&reader->snapshot.pages,
			&reader->snapshot.trees[STORE_TREE_SYMBOL], key, sizeof key, &value, error);
		if (rc > 0)
			input = store_input_sealed(value, key, sizeof key);
	}
	if (rc <= 0)
		return rc;
	count = store_symbol_get(&input, scopes, reader->texts.count);
	return input.bad ? damaged(reader, error) : count;
}

/* ---- all of them ---- */

static int check_part(
	struct store_reader *reader, const struct store_tree_cursor *cursor, struct error *error)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	struct store_symbol_part part = {0};
	int rc = read_part(reader, &part, cursor, error);

	for (uint32_t i = 0; i < part.count && !rc; i++) {
		const uint8_t *at = part.bytes.data + part.places[i].at;
		struct store_input input = {at, at + part.places[i].size, false};

		store_symbol_get(&input, scopes, reader->texts.count);
		rc = input.bad ? damaged(reader, error) : 0;
	}
	part_fini(&part);
	return rc;
}

static int check_one(struct store_reader *reader, const struct store_tree_cursor *cursor, struct error *error)
{
	struct store_scope scopes[STORE_SCOPE_MAX];
	uint32_t module;
	uint64_t offset;
	int rc = read_key(reader, cursor, &module, &offset, error);

	if (rc)
		return rc;
	rc = store_reader_symbol(reader, module, offset, scopes, error);
	return rc < 0 ? rc : 0;
}

int store_reader_symbols_check(struct store_reader *reader, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_SYMBOL]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		rc = reader->snapshot.is_dense ? check_part(reader, &cursor, error)
					       : check_one(reader, &cursor, error);
		if (rc)
			return rc;
	}
	return rc;
}
