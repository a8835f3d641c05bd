/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_step.c - steps from value to value of a tree: over its pages' nodes (tree.c) or, in a settled store,
 * over the values in bundles (leaf_block.h), which are then the nodes' values. Checks each bundle on first
 * use.
 */
#include "store/file/tree.h"

#include "store/file/leaf_block_internal.h"
#include "store/file/node.h"
#include "store/file/tree_internal.h"

#define TREE_BYTES 48u

static int broken(const struct store_tree_cursor *cursor, struct error *error)
{
	return store_pages_damaged(cursor->pages, "a page of its tree", error);
}

/* ---- inside of bundles ---- */

/* The bundle's own page; 0 if it is on a leaf. */
static uint64_t page_of(const struct store_pages *pages, struct store_slice value)
{
	const size_t at = (size_t)(value.bytes - pages->bytes);

	return at % pages->page_bytes == STORE_PAGE_HEADER && value.size > pages->page_bytes / 2
		       ? at / pages->page_bytes
		       : 0;
}

static bool enter(struct store_tree_cursor *cursor, struct store_slice key, struct store_slice value)
{
	const uint64_t page = page_of(cursor->pages, value);

	cursor->bundle.count = 0;
	if (!store_leaf_block_open(&cursor->bundle, key, value))
		return false;
	if (page && store_pages_is_known(cursor->pages, page))
		return true;
	if (!store_leaf_block_is_sound(&cursor->bundle, key, value)) {
		cursor->bundle.count = 0;
		return false;
	}
	if (page)
		store_pages_know(cursor->pages, page);
	return true;
}

/* Takes key and value of that place; as stand() of tree.c does for nodes. */
static bool stand(struct store_tree_cursor *cursor, unsigned place, struct store_slice before, int direction)
{
	struct store_slice key = store_leaf_block_key(&cursor->bundle, place), value;

	if (direction && store_key_compare(key, before) * direction <= 0)
		return false;
	if (!store_leaf_block_value(&cursor->bundle, place, &value) ||
		(cursor->fits && !cursor->fits(key, value)))
		return false;
	cursor->place = place;
	cursor->key = key;
	cursor->value = value;
	return true;
}

/* Of the bundle that the pages' walk has come to: its first value, or its last. */
static int stand_at_edge(struct store_tree_cursor *cursor, bool is_first, struct store_slice before,
	int direction, struct error *error)
{
	if (!enter(cursor, cursor->key, cursor->value) ||
		!stand(cursor, is_first ? 0 : cursor->bundle.count - 1, before, direction))
		return broken(cursor, error);
	return 1;
}

/* The walk continues from the bundle's own key, which is its first. */
static int next_bundle(struct store_tree_cursor *cursor, struct error *error)
{
	const struct store_slice before = store_leaf_block_key(&cursor->bundle, cursor->bundle.count - 1);
	int rc;

	cursor->key = store_leaf_block_key(&cursor->bundle, 0);
	rc = store_tree_page_next(cursor, error);
	if (rc == 0)
		cursor->key = before; /* where it still stands */
	return rc == 1 ? stand_at_edge(cursor, true, before, 1, error) : rc;
}

static int seek(struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error)
{
	const struct store_slice nothing = {0};
	int rc = store_tree_page_seek_below(cursor, wanted, error);
	unsigned place;

	if (rc == 0) {
		rc = store_tree_page_seek(cursor, wanted, error);
		return rc == 1 ? stand_at_edge(cursor, true, nothing, 0, error) : rc;
	}
	if (rc < 0)
		return rc;
	if (!enter(cursor, cursor->key, cursor->value))
		return broken(cursor, error);
	place = store_leaf_block_search(&cursor->bundle, wanted);
	if (place == cursor->bundle.count)
		return next_bundle(cursor, error);
	return stand(cursor, place, nothing, 0) ? 1 : broken(cursor, error);
}

static int seek_below(struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error)
{
	int rc = store_tree_page_seek_below(cursor, wanted, error);
	unsigned place;

	if (rc != 1)
		return rc;
	if (!enter(cursor, cursor->key, cursor->value))
		return broken(cursor, error);
	place = store_leaf_block_search(&cursor->bundle, wanted);
	return place && stand(cursor, place - 1, wanted, -1) ? 1 : broken(cursor, error);
}

static int previous(struct store_tree_cursor *cursor, struct error *error)
{
	const struct store_slice before = cursor->key;
	int rc;

	if (cursor->place)
		return stand(cursor, cursor->place - 1, before, -1) ? 1 : broken(cursor, error);
	rc = store_tree_page_previous(cursor, error);
	return rc == 1 ? stand_at_edge(cursor, false, before, -1, error) : rc;
}

/* ---- either way ---- */

int store_tree_seek(struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error)
{
	const struct store_slice wanted = {key, key_size};

	return cursor->tree.is_bundled ? seek(cursor, wanted, error)
				       : store_tree_page_seek(cursor, wanted, error);
}

int store_tree_next(struct store_tree_cursor *cursor, struct error *error)
{
	if (!cursor->tree.is_bundled)
		return store_tree_page_next(cursor, error);
	if (cursor->place + 1 == cursor->bundle.count)
		return next_bundle(cursor, error);
	return stand(cursor, cursor->place + 1, cursor->key, 1) ? 1 : broken(cursor, error);
}

int store_tree_seek_below(
	struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error)
{
	const struct store_slice wanted = {key, key_size};

	return cursor->tree.is_bundled ? seek_below(cursor, wanted, error)
				       : store_tree_page_seek_below(cursor, wanted, error);
}

int store_tree_previous(struct store_tree_cursor *cursor, struct error *error)
{
	return cursor->tree.is_bundled ? previous(cursor, error) : store_tree_page_previous(cursor, error);
}

/* ---- one value, one tree ---- */

int store_tree_get(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, pages, tree);
	rc = store_tree_seek(&cursor, key, key_size, error);
	if (rc <= 0)
		return rc;
	if (store_key_compare(cursor.key, (struct store_slice){key, key_size}) != 0)
		return store_pages_are_lost(pages) ? store_pages_lost(pages, error) : 0;
	*value = cursor.value;
	return 1;
}

int store_tree_get_sealed(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc = store_tree_get(pages, tree, key, key_size, value, error);

	if (rc)
		return rc;
	store_tree_cursor_init(&cursor, pages, tree);
	cursor.fits = store_is_sealed;
	rc = store_tree_seek(&cursor, key, key_size, error);
	return rc < 0 ? rc : 0;
}

int store_tree_open(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error)
{
	struct store_slice value = {0};
	int rc = store_tree_get(pages, &pages->names, name, strlen(name), &value, error);

	if (rc < 0)
		return rc;
	if (rc == 0 || value.size != TREE_BYTES)
		return error_set(error, ERROR_RUN,
			"'%s' is not a store of hpct (it has no table '%s'); restore it, or take it out of "
			"the run",
			pages->path, name);
	return store_pages_tree(tree, pages, value.bytes, error);
}

int store_tree_open_optional(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error)
{
	struct store_slice value;
	int rc = store_tree_get(pages, &pages->names, name, strlen(name), &value, error);

	*tree = (struct store_tree){.root = UINT64_MAX};
	return rc <= 0 ? rc : store_tree_open(tree, pages, name, error);
}
