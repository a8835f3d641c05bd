/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - a checked walk over the branches and leaves of an LMDB file.
 *
 *   page   | number u64 | pad u16 | flags u16 | lower u16, upper u16 (overflow: pages u32) | node offsets
 *            u16 ... lower .. free .. upper ... nodes |
 *   node   | lo u16 | hi u16 | flags u16 | key size u16 | key | data |
 *            leaf: data of lo + hi << 16 bytes, or (BIG) the number of its first overflow page
 *            branch: child page = lo + hi << 16 + flags << 32; the first key of a branch is not used
 */
#include "store/tree.h"

#include "store/packed.h"

#define NODE_HEADER 8u
#define PAGE_BRANCH 0x01u
#define PAGE_LEAF 0x02u
#define PAGE_OVERFLOW 0x04u
#define NODE_BIG 0x01u
#define NODE_TREE 0x02u
#define TREE_BYTES 48u

/* ---- pages and nodes ---- */

/* Are these pages there? Those of an archive are unpacked first. */
static bool have_pages(const struct store_pages *pages, uint64_t number, uint64_t count)
{
	return !pages->packed ||
	       store_packed_need(pages->packed, number * pages->page_bytes, count * pages->page_bytes);
}

/* The page of that number if it is what it should be, NULL else. */
static const uint8_t *page_at(const struct store_pages *pages, uint64_t number, unsigned flag)
{
	const uint8_t *page;

	if (number < 2 || number >= pages->page_count || !have_pages(pages, number, 1))
		return NULL;
	page = pages->bytes + number * pages->page_bytes;
	if (store_load64(page) != number ||
		(store_load16(page + 10) & (PAGE_BRANCH | PAGE_LEAF | PAGE_OVERFLOW)) != flag)
		return NULL;
	return page;
}

/* Nodes of a branch or leaf page; 0 when its header makes no sense. */
static unsigned node_count(const struct store_pages *pages, const uint8_t *page)
{
	unsigned lower = store_load16(page + 12), upper = store_load16(page + 14);

	if (lower < STORE_PAGE_HEADER || lower > upper || upper > pages->page_bytes || lower % 2)
		return 0;
	return (lower - STORE_PAGE_HEADER) / 2;
}

/* The node, its key inside the page; NULL when it is not. */
static const uint8_t *node_at(
	const struct store_pages *pages, const uint8_t *page, unsigned index, struct store_slice *key)
{
	unsigned at = store_load16(page + STORE_PAGE_HEADER + 2 * index);

	if (at < store_load16(page + 14) || at + NODE_HEADER > pages->page_bytes)
		return NULL;
	key->size = store_load16(page + at + 6);
	key->bytes = page + at + NODE_HEADER;
	return at + NODE_HEADER + key->size <= pages->page_bytes ? page + at : NULL;
}

static int compare_keys(struct store_slice a, const void *b, size_t b_size)
{
	size_t shorter = a.size < b_size ? a.size : b_size;
	int order = shorter ? memcmp(a.bytes, b, shorter) : 0;

	return order ? order : (a.size > b_size) - (a.size < b_size);
}

/* A value in overflow pages. */
static bool big_value(const struct store_pages *pages, uint64_t number, struct store_slice *value)
{
	const uint8_t *page = page_at(pages, number, PAGE_OVERFLOW);
	uint64_t room;

	if (!page)
		return false;
	room = store_load32(page + 12);
	if (room > pages->page_count - number || value->size + STORE_PAGE_HEADER > room * pages->page_bytes ||
		!have_pages(pages, number, room))
		return false;
	value->bytes = page + STORE_PAGE_HEADER;
	return true;
}

/* ---- the cursor ---- */

void store_tree_cursor_init(
	struct store_tree_cursor *cursor, const struct store_pages *pages, const struct store_tree *tree)
{
	cursor->pages = pages;
	cursor->tree = *tree;
	cursor->key = (struct store_slice){0};
	cursor->value = (struct store_slice){0};
}

/* Loads the page into a level. The deepest level must be a leaf, the others branches. */
static bool enter(struct store_tree_cursor *cursor, unsigned level, uint64_t number)
{
	bool is_leaf = level + 1 == cursor->tree.depth;
	const uint8_t *page = page_at(cursor->pages, number, is_leaf ? PAGE_LEAF : PAGE_BRANCH);

	if (!page)
		return false;
	cursor->level[level].page = page;
	cursor->level[level].index = 0;
	cursor->level[level].count = node_count(cursor->pages, page);
	return cursor->level[level].count != 0;
}

/* Page number of the child where the level stands. */
static bool child_of(struct store_tree_cursor *cursor, unsigned level, uint64_t *number)
{
	struct store_slice key;
	const uint8_t *node =
		node_at(cursor->pages, cursor->level[level].page, cursor->level[level].index, &key);

	if (!node)
		return false;
	*number = store_load16(node) | (uint64_t)store_load16(node + 2) << 16 |
		  (uint64_t)store_load16(node + 4) << 32;
	return true;
}

/* What was found, if the pages were ours all the while. */
static int settled(const struct store_tree_cursor *cursor, int found, struct error *error)
{
	return store_pages_are_lost(cursor->pages) ? store_pages_lost(cursor->pages, error) : found;
}

/* Takes key and value of the leaf's node. Keys must grow in the walk's direction, or a hostile tree could
 * lead in circles. */
static bool stand(struct store_tree_cursor *cursor, int direction)
{
	unsigned leaf = cursor->tree.depth - 1;
	struct store_slice key, value;
	const uint8_t *node = node_at(
			      cursor->pages, cursor->level[leaf].page, cursor->level[leaf].index, &key),
		      *data;
	unsigned flags;

	if (!node || !key.size)
		return false;
	flags = store_load16(node + 4);
	data = key.bytes + key.size;
	value.size = store_load16(node) | (size_t)store_load16(node + 2) << 16;
	value.bytes = data;
	if (flags & NODE_BIG) {
		if (data + 8 > cursor->level[leaf].page + cursor->pages->page_bytes ||
			!big_value(cursor->pages, store_load64(data), &value))
			return false;
	} else if (value.size > (size_t)(cursor->level[leaf].page + cursor->pages->page_bytes - data)) {
		return false;
	}
	if (direction && compare_keys(key, cursor->key.bytes, cursor->key.size) * direction <= 0)
		return false;
	cursor->key = key;
	cursor->value = value;
	return true;
}

/* Index of the last branch child whose key is not above `key`, or of the first leaf node not below it. */
static bool search(struct store_tree_cursor *cursor, unsigned level, const void *key, size_t key_size)
{
	const bool is_leaf = level + 1 == cursor->tree.depth;
	unsigned low = is_leaf ? 0 : 1, high = cursor->level[level].count;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		struct store_slice at;

		if (!node_at(cursor->pages, cursor->level[level].page, middle, &at))
			return false;
		if (compare_keys(at, key, key_size) < (is_leaf ? 0 : 1))
			low = middle + 1;
		else
			high = middle;
	}
	cursor->level[level].index = is_leaf ? low : low - 1;
	return true;
}

static bool descend(struct store_tree_cursor *cursor, const void *key, size_t key_size)
{
	uint64_t number = cursor->tree.root;

	for (unsigned level = 0; level < cursor->tree.depth; level++) {
		if (!enter(cursor, level, number) || !search(cursor, level, key, key_size))
			return false;
		if (level + 1 < cursor->tree.depth && !child_of(cursor, level, &number))
			return false;
	}
	return true;
}

/* Moves to the neighbouring leaf. 1, 0: there is none, -1: damage. */
static int move_leaf(struct store_tree_cursor *cursor, bool forward)
{
	unsigned level = cursor->tree.depth - 1;
	uint64_t number;

	for (;;) {
		if (level == 0)
			return 0;
		level--;
		if (forward && cursor->level[level].index + 1 < cursor->level[level].count) {
			cursor->level[level].index++;
			break;
		}
		if (!forward && cursor->level[level].index > 0) {
			cursor->level[level].index--;
			break;
		}
	}
	for (; level + 1 < cursor->tree.depth; level++) {
		if (!child_of(cursor, level, &number) || !enter(cursor, level + 1, number))
			return -1;
		if (!forward)
			cursor->level[level + 1].index = cursor->level[level + 1].count - 1;
	}
	return 1;
}

static int broken(const struct store_tree_cursor *cursor, struct error *error)
{
	return store_pages_damaged(cursor->pages, "a page of its tree", error);
}

int store_tree_seek(struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error)
{
	unsigned leaf = cursor->tree.depth - 1;
	int rc;

	if (!cursor->tree.depth)
		return 0;
	if (!descend(cursor, key, key_size))
		return broken(cursor, error);
	if (cursor->level[leaf].index == cursor->level[leaf].count) {
		rc = move_leaf(cursor, true);
		if (rc <= 0)
			return rc ? broken(cursor, error) : settled(cursor, 0, error);
	}
	/* What is searched in a hostile page's keys, in no order, could lead who asks on from here in
	 * circles. */
	if (!stand(cursor, 0) || compare_keys(cursor->key, key, key_size) < 0)
		return broken(cursor, error);
	return settled(cursor, 1, error);
}

int store_tree_next(struct store_tree_cursor *cursor, struct error *error)
{
	unsigned leaf = cursor->tree.depth - 1;
	int rc;

	if (cursor->level[leaf].index + 1 < cursor->level[leaf].count) {
		cursor->level[leaf].index++;
	} else {
		rc = move_leaf(cursor, true);
		if (rc <= 0)
			return rc ? broken(cursor, error) : settled(cursor, 0, error);
	}
	return stand(cursor, 1) ? settled(cursor, 1, error) : broken(cursor, error);
}

static int step_back(struct store_tree_cursor *cursor, int direction, struct error *error)
{
	unsigned leaf = cursor->tree.depth - 1;
	int rc;

	if (cursor->level[leaf].index > 0) {
		cursor->level[leaf].index--;
	} else {
		rc = move_leaf(cursor, false);
		if (rc <= 0)
			return rc ? broken(cursor, error) : settled(cursor, 0, error);
	}
	return stand(cursor, direction) ? settled(cursor, 1, error) : broken(cursor, error);
}

int store_tree_seek_below(
	struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error)
{
	int rc;

	if (!cursor->tree.depth)
		return 0;
	if (!descend(cursor, key, key_size))
		return broken(cursor, error);
	rc = step_back(cursor, 0, error);
	return rc == 1 && compare_keys(cursor->key, key, key_size) >= 0 ? broken(cursor, error) : rc;
}

int store_tree_previous(struct store_tree_cursor *cursor, struct error *error)
{
	return step_back(cursor, -1, error);
}

int store_tree_get(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error)
{
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, pages, tree);
	rc = store_tree_seek(&cursor, key, key_size, error);
	if (rc <= 0)
		return rc;
	if (compare_keys(cursor.key, key, key_size) != 0)
		return settled(&cursor, 0, error);
	*value = cursor.value;
	return 1;
}

int store_tree_open(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error)
{
	struct store_slice value;
	int rc = store_tree_get(pages, &pages->names, name, strlen(name), &value, error);

	if (rc < 0)
		return rc;
	if (rc == 0 || value.size != TREE_BYTES)
		return error_set(error, ERROR_RUN, "'%s' is not a store of hpct (it has no table '%s')",
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
