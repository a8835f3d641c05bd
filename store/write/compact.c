/* SPDX-License-Identifier: Apache-2.0 */
/* compact.c - see compact.h. */
#include "store/write/compact.h"

#include <errno.h>

#include "store/catalog/zstd_block.h"
#include "store/file/leaf_block.h"
#include "store/store.h"
#include "store/write/page_size.h"
#include "store/write/rollup_prune.h"

#define COMMIT_BYTES ((size_t)16 << 20) /* LMDB holds what is not committed in memory */
#define ROOM_BYTES (UINT64_C(4) << 20)	/* of a map that never fills */
#define GAIN_SHARE 10

struct copy {
	const struct store_snapshot *from;
	struct store_file *to;
	MDB_txn *txn;
	MDB_dbi dbi;
	size_t pending; /* bytes since the last commit */
	struct store_zstd_block block;
	struct store_leaf_block_draft bundle;
	bool is_settled, is_bundled, drops_rolls;
};

static int commit(struct copy *copy)
{
	int rc = mdb_txn_commit(copy->txn);

	copy->pending = 0;
	if (!rc)
		rc = mdb_txn_begin(store_file_env(copy->to), NULL, 0, &copy->txn);
	if (rc)
		copy->txn = NULL;
	return rc;
}

static int put_node(struct copy *copy, struct store_slice of_key, struct store_slice of_value)
{
	MDB_val key = {of_key.size, (void *)of_key.bytes}, value = {of_value.size, (void *)of_value.bytes};
	int rc = mdb_put(copy->txn, copy->dbi, &key, &value, MDB_APPEND);

	copy->pending += value.mv_size;
	return rc || copy->pending < COMMIT_BYTES ? rc : commit(copy);
}

static int put_bundle(struct copy *copy)
{
	struct store_slice key, value;

	return store_leaf_block_finish(&copy->bundle, &key, &value) ? put_node(copy, key, value) : ENOMEM;
}

static int put_value(
	struct copy *copy, enum store_tree_id tree, struct store_slice key, struct store_slice value)
{
	int rc = 0;

	if (!copy->is_bundled || !store_leaf_block_has(tree))
		return put_node(copy, key, value);
	if (store_leaf_block_is_full(&copy->bundle, key.size, value.size))
		rc = put_bundle(copy);
	store_leaf_block_take(&copy->bundle, key, value);
	return rc;
}

static int put_dense(struct copy *copy, enum store_tree_id tree)
{
	struct store_zstd_block *block = &copy->block;

	if (!store_zstd_block_finish(block))
		return ENOMEM;
	return put_value(copy, tree, (struct store_slice){block->key, block->key_size},
		(struct store_slice){block->value.data, block->value.size});
}

static int take_dense(struct copy *copy, enum store_tree_id tree, const struct store_tree_cursor *cursor)
{
	int rc = 0;

	if (store_zstd_block_is_full(&copy->block, tree, cursor->key, cursor->value.size))
		rc = put_dense(copy, tree);
	if (!rc && !store_zstd_block_take(&copy->block, tree, cursor->key, cursor->value))
		rc = MDB_CORRUPTED;
	return rc || !copy->block.entries.failed ? rc : ENOMEM;
}

static int copy_value(struct copy *copy, enum store_tree_id tree, const struct store_tree_cursor *cursor)
{
	if (copy->is_settled && !copy->from->is_dense && store_zstd_block_has(tree))
		return take_dense(copy, tree, cursor);
	if (tree == STORE_TREE_ROLL && copy->drops_rolls &&
		!store_rollup_prune_keeps(copy->from, cursor->key, cursor->value.size))
		return 0;
	return put_value(copy, tree, cursor->key, cursor->value);
}

static int copy_tree(struct copy *copy, enum store_tree_id tree, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc = mdb_dbi_open(copy->txn, store_tree_name(tree), MDB_CREATE, &copy->dbi), found = 0;

	store_tree_cursor_init(&cursor, &copy->from->pages, &copy->from->trees[tree]);
	if (!rc)
		found = store_tree_seek(&cursor, "", 0, error);
	for (; found == 1 && !rc; found = rc ? found : store_tree_next(&cursor, error))
		rc = copy_value(copy, tree, &cursor);
	if (!rc && found == 0 && copy->block.entries.size)
		rc = put_dense(copy, tree);
	if (!rc && found == 0 && copy->bundle.count)
		rc = put_bundle(copy);
	if (rc)
		return store_file_failed(copy->to, "write", rc, error);
	return found < 0 ? found : 0;
}

/* Among the facts, while they are still in memory. */
static int put_settled(struct copy *copy, struct error *error)
{
	struct store_bytes bytes = {0};
	MDB_val key = {strlen(STORE_META_SETTLED), STORE_META_SETTLED}, value;
	int rc = ENOMEM;

	store_bytes_begin_sealed(&bytes);
	store_bytes_put(&bytes, &(char){STORE_SETTLED_BUNDLED}, 1);
	store_bytes_seal(&bytes, key.mv_data, key.mv_size);
	value = (MDB_val){bytes.size, bytes.data};
	if (!bytes.failed)
		rc = mdb_put(copy->txn, copy->dbi, &key, &value, 0);
	store_bytes_fini(&bytes);
	return rc ? store_file_failed(copy->to, "write", rc, error) : 0;
}

int store_compact(const struct store_snapshot *from, struct store_file *to, unsigned how, struct error *error)
{
	struct copy copy = {.from = from,
		.to = to,
		.is_settled = how & STORE_COMPACT_SETTLED,
		.is_bundled = (how & STORE_COMPACT_SETTLED) || from->is_bundled,
		.drops_rolls = how & STORE_COMPACT_DROPS_ROLLS};
	int rc = 0, failed;

	mdb_env_set_flags(store_file_env(to), MDB_NOSYNC, 1);
	failed = mdb_txn_begin(store_file_env(to), NULL, 0, &copy.txn);
	if (failed)
		return store_file_failed(to, "write", failed, error);
	for (unsigned tree = 0; tree < STORE_TREE_COUNT && !rc; tree++) {
		rc = copy_tree(&copy, (enum store_tree_id)tree, error);
		if (tree == STORE_TREE_META && copy.is_settled && !rc)
			rc = put_settled(&copy, error);
	}
	store_zstd_block_fini(&copy.block);
	store_leaf_block_fini(&copy.bundle);
	if (rc) {
		if (copy.txn)
			mdb_txn_abort(copy.txn);
		return rc;
	}
	failed = mdb_txn_commit(copy.txn);
	return failed ? store_file_failed(to, "write", failed, error) : 0;
}

/* ---- in place of itself ---- */

struct settling {
	struct store_snapshot from;
	unsigned how;
};

static int fill(struct store_file *by, void *own, struct error *error)
{
	const struct settling *settling = own;

	return store_compact(&settling->from, by, settling->how, error);
}

/* Bytes of its pages that are in use; 0: not known. */
static uint64_t used_bytes(const struct store_file *file, uint64_t *all_bytes)
{
	uint64_t freed, pages, page_bytes;

	if (!store_stale_readers_count_pages(store_file_env(file), &freed, &pages, &page_bytes) ||
		freed > pages)
		return 0;
	*all_bytes = pages * page_bytes;
	return (pages - freed) * page_bytes;
}

/* Which page size it gets; 0: it stays as it is. */
static uint32_t worth_pages_of(const struct store_snapshot *from, uint64_t used, uint64_t all_bytes)
{
	uint64_t fresh_bytes;
	uint32_t page_bytes = store_page_size_choose(from, &fresh_bytes);

	if (used > STORE_COMPACT_ALWAYS_BYTES &&
		(!fresh_bytes || fresh_bytes + all_bytes / GAIN_SHARE > all_bytes))
		return 0;
	return page_bytes;
}

bool store_compact_in_place(struct store_file *file, bool drops_rolls)
{
	struct settling settling = {.from.file = file,
		.how = STORE_COMPACT_SETTLED | (drops_rolls ? STORE_COMPACT_DROPS_ROLLS : 0)};
	uint64_t all_bytes, used = used_bytes(file, &all_bytes);
	uint32_t page_bytes = 0;
	struct error error;
	bool is_replaced;

	if (!used || used > STORE_COMPACT_MOST_BYTES)
		return false;
	if (store_snapshot_renew(&settling.from, &error) == 0)
		page_bytes = worth_pages_of(&settling.from, used, all_bytes);
	is_replaced =
		page_bytes && store_file_replace(file, 2 * used + ROOM_BYTES, page_bytes, fill, &settling);
	store_snapshot_end(&settling.from);
	return is_replaced;
}
