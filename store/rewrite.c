/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - see rewrite.h. */
#include "store/rewrite.h"

#include <errno.h>

#include "store/dense.h"
#include "store/store.h"

#define COMMIT_BYTES ((size_t)16 << 20) /* LMDB holds what is not committed in memory */
#define ROOM_BYTES (UINT64_C(4) << 20)	/* of a map that never fills */
#define FREE_SHARE 8
#define PAGES 4096u /* that a store has at most before they are larger ones */
#define LONG_KEY_BYTES 128u

struct copy {
	const struct store_snapshot *from;
	struct store_file *to;
	MDB_txn *txn;
	MDB_dbi dbi;
	size_t pending; /* bytes since the last commit */
	struct store_dense dense;
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

static int put_value(struct copy *copy, struct store_slice of_key, struct store_slice of_value)
{
	MDB_val key = {of_key.size, (void *)of_key.bytes}, value = {of_value.size, (void *)of_value.bytes};
	int rc = mdb_put(copy->txn, copy->dbi, &key, &value, MDB_APPEND);

	copy->pending += value.mv_size;
	return rc || copy->pending < COMMIT_BYTES ? rc : commit(copy);
}

static int put_dense(struct copy *copy)
{
	struct store_dense *dense = &copy->dense;

	if (!store_dense_finish(dense))
		return ENOMEM;
	return put_value(copy, (struct store_slice){dense->key, dense->key_size},
		(struct store_slice){dense->value.data, dense->value.size});
}

static int take_dense(struct copy *copy, enum store_tree_id tree, const struct store_tree_cursor *cursor)
{
	int rc = 0;

	if (store_dense_is_full(&copy->dense, tree, cursor->key, cursor->value.size))
		rc = put_dense(copy);
	if (!rc && !store_dense_take(&copy->dense, tree, cursor->key, cursor->value))
		rc = MDB_CORRUPTED;
	return rc;
}

static int copy_tree(struct copy *copy, enum store_tree_id tree, bool is_dense, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc = mdb_dbi_open(copy->txn, store_tree_name(tree), MDB_CREATE, &copy->dbi), found = 0;

	store_tree_cursor_init(&cursor, &copy->from->pages, &copy->from->trees[tree]);
	if (!rc)
		found = store_tree_seek(&cursor, "", 0, error);
	for (; found == 1 && !rc; found = rc ? found : store_tree_next(&cursor, error))
		rc = is_dense ? take_dense(copy, tree, &cursor) : put_value(copy, cursor.key, cursor.value);
	if (!rc && found == 0 && copy->dense.entries.size)
		rc = put_dense(copy);
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
	store_bytes_put(&bytes, &(char){STORE_SETTLED_DENSE}, 1);
	store_bytes_seal(&bytes, key.mv_data, key.mv_size);
	value = (MDB_val){bytes.size, bytes.data};
	if (!bytes.failed)
		rc = mdb_put(copy->txn, copy->dbi, &key, &value, 0);
	store_bytes_fini(&bytes);
	return rc ? store_file_failed(copy->to, "write", rc, error) : 0;
}

int store_rewrite(
	const struct store_snapshot *from, struct store_file *to, bool is_settled, struct error *error)
{
	struct copy copy = {.from = from, .to = to};
	int rc = 0, failed;

	mdb_env_set_flags(store_file_env(to), MDB_NOSYNC, 1);
	failed = mdb_txn_begin(store_file_env(to), NULL, 0, &copy.txn);
	if (failed)
		return store_file_failed(to, "write", failed, error);
	for (unsigned tree = 0; tree < STORE_TREE_COUNT && !rc; tree++) {
		rc = copy_tree(&copy, (enum store_tree_id)tree,
			is_settled && !from->is_dense && store_dense_has((enum store_tree_id)tree), error);
		if (tree == STORE_TREE_META && is_settled && !rc)
			rc = put_settled(&copy, error);
	}
	store_dense_fini(&copy.dense);
	if (rc) {
		if (copy.txn)
			mdb_txn_abort(copy.txn);
		return rc;
	}
	failed = mdb_txn_commit(copy.txn);
	return failed ? store_file_failed(to, "write", failed, error) : 0;
}

/* ---- in place of itself ---- */

static int fill(struct store_file *by, void *own, struct error *error)
{
	return store_rewrite(own, by, true, error);
}

/* How large is what is in use? 0: so large, or so full, that it stays as it is. */
static uint64_t used_bytes(const struct store_file *file)
{
	uint64_t freed, pages, page_bytes, used;

	if (!store_slow_count_pages(store_file_env(file), &freed, &pages, &page_bytes) || freed > pages)
		return 0;
	used = (pages - freed) * page_bytes;
	if (used <= STORE_REWRITE_ALWAYS_BYTES)
		return used;
	return used <= STORE_REWRITE_MOST_BYTES && freed > pages / FREE_SHARE ? used : 0;
}

/* LMDB wants room for two keys on a page; only facts have long ones. */
static bool has_long_keys(const struct store_snapshot *snapshot)
{
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_META]);
	for (rc = store_tree_seek(&cursor, "", 0, NULL); rc == 1; rc = store_tree_next(&cursor, NULL))
		if (cursor.key.size > LONG_KEY_BYTES)
			return true;
	return rc < 0;
}

/* Each tree and each long value leaves half a page empty, which is most of a small store. */
static uint32_t page_bytes(const struct store_snapshot *snapshot, uint64_t used)
{
	uint32_t bytes = STORE_PAGE_BYTES_LEAST;

	if (has_long_keys(snapshot))
		return STORE_PAGE_BYTES_MAX;
	while (bytes < STORE_PAGE_BYTES_MAX && used / bytes > PAGES)
		bytes *= 2;
	return bytes;
}

bool store_rewrite_in_place(struct store_file *file)
{
	struct store_snapshot snapshot = {.file = file};
	uint64_t used = used_bytes(file);
	struct error error;
	bool is_replaced;

	if (!used)
		return false;
	is_replaced =
		store_snapshot_renew(&snapshot, &error) == 0 &&
		store_file_replace(file, 2 * used + ROOM_BYTES, page_bytes(&snapshot, used), fill, &snapshot);
	store_snapshot_end(&snapshot);
	return is_replaced;
}
