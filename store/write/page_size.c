/* SPDX-License-Identifier: Apache-2.0 */
/* page_size.c - see page_size.h. */
#include "store/write/page_size.h"

#include "store/catalog/zstd_block.h"
#include "store/file/leaf_block.h"

#define SIZES 4u /* 512, 1024, 2048, 4096 */
#define KEY_MAX (STORE_PAGE_BYTES_LEAST / 4)
#define PAGE_HEADER 16u
#define NODE_BYTES 10u /* header and place in the page */
#define PAGE_NUMBER 8u
#define META_PAGES 2u
#define NAME_BYTES 6u  /* of a named database, about */
#define ROOT_BYTES 48u /* what LMDB keeps of one */
#define DENSE_SHARE 2u /* compressed values take about this share */
#define STREAM_SHARE 8u
#define STREAM_BYTES 2048u /* of a value of 256 streams, about */
#define WORTH \
	64u /* a size that saves less of a share than that is not taken: more pages, for next to nothing */

/* One page size under trial, as LMDB fills pages of values that come in order. */
struct trial {
	uint32_t page_bytes;
	uint32_t used;	 /* of the current leaf */
	uint64_t leaves; /* of the current tree */
	uint64_t bytes;	 /* of whole pages */
};

static void trial_add(struct trial *trial, size_t key_size, size_t value_size)
{
	const uint32_t room = trial->page_bytes - PAGE_HEADER;
	size_t node = (NODE_BYTES + key_size + value_size + 1) & ~(size_t)1;

	if (node > room / 2) {
		uint64_t pages = (PAGE_HEADER + value_size + trial->page_bytes - 1) / trial->page_bytes;

		trial->bytes += pages * trial->page_bytes;
		node = (NODE_BYTES + key_size + PAGE_NUMBER + 1) & ~(size_t)1;
	}
	if (!trial->used || trial->used + node > room) {
		trial->bytes += trial->page_bytes;
		trial->leaves++;
		trial->used = 0;
	}
	trial->used += (uint32_t)node;
}

/* Where a tree ends: the pages above its leaves. */
static void trial_end(struct trial *trial, size_t key_size)
{
	const size_t node = (NODE_BYTES + key_size + 1) & ~(size_t)1;

	for (uint64_t pages = trial->leaves; pages > 1; trial->bytes += pages * trial->page_bytes)
		pages = (pages * node + trial->page_bytes - PAGE_HEADER - 1) /
			(trial->page_bytes - PAGE_HEADER);
	trial->used = 0;
	trial->leaves = 0;
}

/* Values of the current tree, to be bundled. */
struct bundle {
	uint64_t count, values_bytes;
	size_t key_size;
};

static void end_bundle(struct trial *trials, struct bundle *bundle)
{
	if (bundle->count)
		for (unsigned i = 0; i < SIZES; i++)
			trial_add(&trials[i], bundle->key_size,
				store_leaf_block_bytes(
					bundle->count, bundle->key_size, bundle->values_bytes));
	bundle->count = bundle->values_bytes = 0;
}

static void add_value(struct trial *trials, struct bundle *bundle, size_t key_size, size_t value_size)
{
	if (store_leaf_block_bytes(bundle->count + 1, key_size, bundle->values_bytes + value_size) >
		STORE_LEAF_BLOCK_BYTES)
		end_bundle(trials, bundle);
	bundle->count++;
	bundle->values_bytes += value_size;
	bundle->key_size = key_size;
}

/* Adds values that are not compressed yet, of which there are few. */
static void add_dense(struct trial *trials, struct bundle *bundle, size_t key_size, size_t bytes)
{
	for (size_t left = bytes, share; left; left -= share) {
		share = left < STORE_ZSTD_BLOCK_BYTES ? left : STORE_ZSTD_BLOCK_BYTES;
		add_value(trials, bundle, key_size, share / DENSE_SHARE);
	}
}

static void add_streams(struct trial *trials, size_t key_size, size_t bytes)
{
	for (size_t left = bytes / STREAM_SHARE, value; left; left -= value) {
		value = left < STREAM_BYTES ? left : STREAM_BYTES;
		for (unsigned i = 0; i < SIZES; i++)
			trial_add(&trials[i], key_size, value);
	}
}

/* What every store has: meta pages, and the names of its trees. */
static void try_names(struct trial *trial)
{
	trial->bytes = META_PAGES * trial->page_bytes;
	for (unsigned tree = 0; tree < STORE_TREE_COUNT; tree++)
		trial_add(trial, NAME_BYTES, ROOT_BYTES);
	trial_end(trial, NAME_BYTES);
}

/* False: a key is too long for the smaller sizes (LMDB needs two on a page); or a page is damaged, which the
 * copy will report. */
static bool try_tree(const struct store_snapshot *snapshot, enum store_tree_id tree, struct trial *trials)
{
	const bool is_dense = store_zstd_block_has(tree);
	struct store_tree_cursor cursor;
	struct bundle bundle = {0};
	size_t key_size = 0, bytes = 0;
	int rc;

	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[tree]);
	rc = store_tree_seek(&cursor, "", 0, NULL);
	for (; rc == 1; rc = store_tree_next(&cursor, NULL)) {
		if (cursor.key.size > KEY_MAX)
			return false;
		for (unsigned i = 0; i < SIZES && tree == STORE_TREE_META; i++)
			trial_add(&trials[i], cursor.key.size, cursor.value.size);
		if (store_leaf_block_has(tree) && !is_dense)
			add_value(trials, &bundle, cursor.key.size, cursor.value.size);
		key_size = cursor.key.size > key_size ? cursor.key.size : key_size;
		bytes += cursor.value.size;
	}
	if (is_dense)
		add_dense(trials, &bundle, key_size, bytes);
	if (tree == STORE_TREE_STREAM)
		add_streams(trials, key_size, bytes);
	end_bundle(trials, &bundle);
	for (unsigned i = 0; i < SIZES; i++)
		trial_end(&trials[i], key_size);
	return rc == 0;
}

uint32_t store_page_size_choose(const struct store_snapshot *snapshot, uint64_t *bytes)
{
	struct trial trials[SIZES], *best = &trials[SIZES - 1];

	*bytes = 0;
	for (unsigned i = 0; i < SIZES; i++) {
		trials[i] = (struct trial){.page_bytes = STORE_PAGE_BYTES_LEAST << i};
		try_names(&trials[i]);
	}
	for (unsigned i = 0; i < STORE_TREE_COUNT; i++)
		if (!try_tree(snapshot, (enum store_tree_id)i, trials))
			return STORE_PAGE_BYTES_MAX;
	for (unsigned i = SIZES - 1; i-- > 0;)
		if (trials[i].bytes < best->bytes - best->bytes / WORTH)
			best = &trials[i];
	*bytes = best->bytes;
	return best->page_bytes;
}
