/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append_block.c - writes and reads append blocks.
 */
#include "store/catalog/append_block.h"

#include <errno.h>

#include "store/catalog/zstd_block.h"
#include "store/key.h"

#define BLOCK_BYTES 4080u /* what one page of 4096 holds */

static int put_block(MDB_txn *txn, MDB_dbi dbi, uint32_t first, struct store_bytes *block)
{
	uint8_t key_bytes[STORE_KEY_ID_BYTES];
	MDB_val key = {sizeof key_bytes, key_bytes}, value;

	store_key_id_put(key_bytes, first);
	store_bytes_seal(block, key_bytes, sizeof key_bytes);
	if (block->failed)
		return ENOMEM;
	value = (MDB_val){block->size, block->data};
	return mdb_put(txn, dbi, &key, &value, 0);
}

int store_append_block_put(struct store_append_block *pack, MDB_txn *txn, MDB_dbi dbi, const void *table,
	uint32_t count, bool rewrite, store_append_block_put_entry *put_entry, struct store_bytes *scratch)
{
	uint32_t first = rewrite ? 0 : pack->tail;
	int rc = 0;

	pack->next_tail = pack->tail;
	pack->next_stored = pack->stored;
	if (count == pack->stored && !rewrite)
		return 0;
	if (rewrite)
		rc = mdb_drop(txn, dbi, 0); /* block boundaries may move */
	store_bytes_begin_sealed(scratch);
	for (uint32_t id = first; id < count && !rc; id++) {
		size_t before = scratch->size;

		put_entry(table, id, scratch);
		if (scratch->failed)
			return ENOMEM;
		if (scratch->size <= BLOCK_BYTES || id == first)
			continue;
		scratch->size = before;
		rc = put_block(txn, dbi, first, scratch);
		store_bytes_begin_sealed(scratch);
		first = id--;
	}
	rc = rc || first == count ? rc : put_block(txn, dbi, first, scratch);
	pack->next_tail = first;
	pack->next_stored = count;
	return rc;
}

void store_append_block_committed(struct store_append_block *pack)
{
	pack->tail = pack->next_tail;
	pack->stored = pack->next_stored;
}

/* ---- reading ---- */

static int damaged(const struct store_snapshot *snapshot, enum store_tree_id tree, struct error *error)
{
	return error_set(error, ERROR_RUN, "'%s' is damaged (its table '%s'); restore it from a copy",
		store_file_path(snapshot->file), store_tree_name(tree));
}

/* One block, whose first id must be *next: that of the block that was the last one, or the one behind. */
static int get_block(const struct store_tree_cursor *cursor, struct store_bytes *unpacked, uint32_t *next,
	void *table, store_append_block_get_entry *get_entry)
{
	struct store_input input = store_input_sealed(cursor->value, cursor->key.bytes, cursor->key.size);
	uint32_t id;
	int rc = 0;

	if (input.bad || !store_key_id_get(&id, cursor->key.bytes, cursor->key.size) || id != *next)
		return ERROR_RUN;
	if (unpacked) {
		if (!store_zstd_block_unpack(input, unpacked))
			return unpacked->failed ? ERROR_IO : ERROR_RUN;
		input = (struct store_input){unpacked->data, unpacked->data + unpacked->size, false};
	}
	while (input.at < input.end && !input.bad && !rc && id < UINT32_MAX - 1)
		rc = get_entry(table, id++, &input);
	if (rc)
		return ERROR_IO;
	if (input.bad || id == *next)
		return ERROR_RUN;
	*next = id;
	return 0;
}

/* The block that holds id `from`. */
static int seek_block(const struct store_snapshot *snapshot, enum store_tree_id tree, uint32_t from,
	struct store_tree_cursor *cursor, struct error *error)
{
	uint8_t key[STORE_KEY_ID_BYTES];

	store_tree_cursor_init(cursor, &snapshot->pages, &snapshot->trees[tree]);
	store_key_id_put(key, from + 1);
	return store_tree_seek_below(cursor, key, sizeof key, error);
}

int store_append_block_get(const struct store_snapshot *snapshot, enum store_tree_id tree, uint32_t *tail,
	uint32_t *count, void *table, store_append_block_get_entry *get_entry, struct error *error)
{
	struct store_tree_cursor cursor;
	struct store_bytes unpacked = {0};
	bool is_dense = snapshot->is_dense && store_zstd_block_has(tree);
	int rc = seek_block(snapshot, tree, *tail, &cursor, error), bad = 0;
	uint32_t next;

	if (rc == 0 && snapshot->trees[tree].entries)
		bad = ERROR_RUN; /* the first one is not there */
	if (rc == 1 && !store_key_id_get(tail, cursor.key.bytes, cursor.key.size))
		bad = ERROR_RUN;
	for (next = *tail; rc == 1 && !bad; rc = bad ? rc : store_tree_next(&cursor, error)) {
		*tail = next;
		bad = get_block(&cursor, is_dense ? &unpacked : NULL, &next, table, get_entry);
	}
	store_bytes_fini(&unpacked);
	if (!bad && rc == 0 && next < *count)
		bad = ERROR_RUN;
	if (bad)
		return bad == ERROR_IO ? error_memory(error) : damaged(snapshot, tree, error);
	*count = rc == 0 ? next : *count;
	return rc;
}
