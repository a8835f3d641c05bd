/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - a checked walk over the pages of an LMDB file.
 *
 *   page   | number u64 | pad u16 | flags u16 | lower u16, upper u16 (overflow: pages u32) | node offsets
 *            u16 ... lower .. free .. upper ... nodes |
 *   node   | lo u16 | hi u16 | flags u16 | key size u16 | key | data |
 *            leaf: data of lo + hi << 16 bytes, or (BIG) the number of its first overflow page
 *            branch: child page = lo + hi << 16 + flags << 32; the first key of a branch is not used
 *   meta   | page header | magic u32 | version u32 | address u64 | map size u64 | free tree | main tree |
 *            last page u64 | transaction u64 |
 *   tree   | pad u32 (free tree: page size) | flags u16 | depth u16 | 3 x pages u64 | entries u64 | root u64
 * |
 */
#include "store/tree.h"

#include "store/packed.h"

#define PAGE_HEADER 16u
#define NODE_HEADER 8u
#define PAGE_BRANCH 0x01u
#define PAGE_LEAF 0x02u
#define PAGE_OVERFLOW 0x04u
#define PAGE_META 0x08u
#define NODE_BIG 0x01u
#define NODE_TREE 0x02u
#define META_MAGIC 0xBEEFC0DEu
#define META_VERSION 1u
#define META_BYTES (PAGE_HEADER + 136u)
#define META_FREE_TREE (PAGE_HEADER + 24u)
#define META_MAIN_TREE (PAGE_HEADER + 72u)
#define META_LAST_PAGE (PAGE_HEADER + 120u)
#define META_TRANSACTION (PAGE_HEADER + 128u)
#define TREE_BYTES 48u
#define TREE_ROOT 40u
#define FREE_TREE_FLAGS 0x08u /* its keys are integers */
#define NO_PAGE UINT64_MAX

static uint16_t load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static int damaged(const struct store_pages *pages, const char *what, struct error *error)
{
	if (store_pages_are_lost(pages))
		return store_pages_lost(pages, error);
	if (pages->packed && store_packed_why(pages->packed))
		return error_set(error, ERROR_RUN, "'%s': %s", pages->path, store_packed_why(pages->packed));
	if (pages->is_short)
		return error_set(error, ERROR_RUN, "'%s' is cut short; copy it again", pages->path);
	return error_set(error, ERROR_RUN,
		"'%s' is damaged (%s); restore it from a copy, or read the run's other stores", pages->path,
		what);
}

/* ---- meta pages ---- */

static bool is_page_size(uint64_t size)
{
	return size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
}

/* A meta page at `at`, its page size in *page_bytes. */
static bool is_meta(const uint8_t *at, uint64_t *page_bytes)
{
	*page_bytes = store_load32(at + META_FREE_TREE);
	return load16(at + 10) & PAGE_META && store_load32(at + PAGE_HEADER) == META_MAGIC &&
	       store_load32(at + PAGE_HEADER + 4) == META_VERSION && is_page_size(*page_bytes);
}

int store_pages_check(
	const uint8_t *head, size_t head_bytes, uint64_t file_bytes, const char *path, struct error *error)
{
	uint64_t page_bytes, second;

	if (head_bytes < META_BYTES || !is_meta(head, &page_bytes))
		return error_set(error, ERROR_RUN, "'%s' is not a store of hpct", path);
	if (head_bytes < page_bytes + META_BYTES || !is_meta(head + page_bytes, &second) ||
		second != page_bytes)
		return error_set(error, ERROR_RUN,
			"'%s' is damaged (its second page is not there); restore it from a copy", path);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t last = store_load64(head + i * page_bytes + META_LAST_PAGE);

		/* LMDB may leave pages unwritten behind the last one in use: a little is no proof. */
		if (last / 5 * 4 > file_bytes / page_bytes + 256)
			return error_set(error, ERROR_RUN, "'%s' is cut short (%llu bytes); copy it again",
				path, (unsigned long long)file_bytes);
	}
	return 0;
}

static int tree_from(
	struct store_tree *tree, const struct store_pages *pages, const uint8_t *at, struct error *error)
{
	tree->depth = load16(at + 6);
	tree->entries = store_load64(at + 32);
	tree->root = store_load64(at + 40);
	if (tree->root == NO_PAGE)
		tree->depth = 0;
	else if (tree->depth == 0 || tree->depth > STORE_TREE_DEPTH_MAX)
		return damaged(pages, "a tree's depth", error);
	return 0;
}

/* The meta page is copied before it is believed: a writer two commits ahead may be overwriting it. */
int store_pages_open(struct store_pages *pages, const uint8_t *bytes, uint64_t file_bytes,
	uint64_t transaction, const char *path, struct store_packed *packed, struct error *error)
{
	uint8_t meta[META_BYTES];
	const uint8_t *at = bytes;
	uint64_t page_bytes, last;

	*pages = (struct store_pages){.bytes = bytes, .path = path, .packed = packed};
	if (file_bytes < META_BYTES || !is_meta(bytes, &page_bytes) || file_bytes < page_bytes + META_BYTES)
		return damaged(pages, "its first page", error);
	if (transaction == UINT64_MAX ? store_load64(at + page_bytes + META_TRANSACTION) >
						store_load64(at + META_TRANSACTION)
				      : store_load64(at + META_TRANSACTION) != transaction)
		at += page_bytes;
	memcpy(meta, at, sizeof meta);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	pages->transaction = store_load64(meta + META_TRANSACTION);
	if ((transaction != UINT64_MAX && pages->transaction != transaction) ||
		store_load64(at + META_TRANSACTION) != pages->transaction)
		return 1;
	last = store_load64(meta + META_LAST_PAGE);
	pages->page_bytes = page_bytes;
	pages->is_short = last >= file_bytes / page_bytes;
	pages->page_count = pages->is_short ? file_bytes / page_bytes : last + 1;
	return tree_from(&pages->names, pages, meta + META_MAIN_TREE, error);
}

static void store64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

void store_pages_begin(uint8_t *bytes, uint32_t page_bytes, uint64_t map_bytes)
{
	memset(bytes, 0, 2 * (size_t)page_bytes);
	for (unsigned page = 0; page < 2; page++, bytes += page_bytes) {
		store64(bytes, page);
		bytes[10] = PAGE_META;
		store64(bytes + PAGE_HEADER, (uint64_t)META_VERSION << 32 | META_MAGIC);
		store64(bytes + PAGE_HEADER + 16, map_bytes);
		store64(bytes + META_FREE_TREE, (uint64_t)FREE_TREE_FLAGS << 32 | page_bytes);
		store64(bytes + META_FREE_TREE + TREE_ROOT, NO_PAGE);
		store64(bytes + META_MAIN_TREE + TREE_ROOT, NO_PAGE);
		store64(bytes + META_LAST_PAGE, 1);
	}
}

/* ---- moments ---- */

bool store_pages_are_lost(const struct store_pages *pages)
{
	uint64_t first, second;

	if (!pages->is_held)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read was read before */
	first = store_load64(pages->bytes + META_TRANSACTION);
	second = store_load64(pages->bytes + pages->page_bytes + META_TRANSACTION);
	return (first > second ? first : second) >= pages->transaction + pages->sure &&
	       !pages->is_held(pages->holder, pages->transaction);
}

int store_pages_lost(const struct store_pages *pages, struct error *error)
{
	return error_set(error, ERROR_IO,
		"'%s' is being recorded, and the moment looked at was given up, because this reader slept or "
		"took long while the file grew for it; ask again, or for a part (--time)",
		pages->path);
}

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
		(load16(page + 10) & (PAGE_BRANCH | PAGE_LEAF | PAGE_OVERFLOW)) != flag)
		return NULL;
	return page;
}

/* Nodes of a branch or leaf page; 0 when its header makes no sense. */
static unsigned node_count(const struct store_pages *pages, const uint8_t *page)
{
	unsigned lower = load16(page + 12), upper = load16(page + 14);

	if (lower < PAGE_HEADER || lower > upper || upper > pages->page_bytes || lower % 2)
		return 0;
	return (lower - PAGE_HEADER) / 2;
}

/* The node, its key inside the page; NULL when it is not. */
static const uint8_t *node_at(
	const struct store_pages *pages, const uint8_t *page, unsigned index, struct store_slice *key)
{
	unsigned at = load16(page + PAGE_HEADER + 2 * index);

	if (at < load16(page + 14) || at + NODE_HEADER > pages->page_bytes)
		return NULL;
	key->size = load16(page + at + 6);
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
	if (room > pages->page_count - number || value->size + PAGE_HEADER > room * pages->page_bytes ||
		!have_pages(pages, number, room))
		return false;
	value->bytes = page + PAGE_HEADER;
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
	*number = load16(node) | (uint64_t)load16(node + 2) << 16 | (uint64_t)load16(node + 4) << 32;
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
	flags = load16(node + 4);
	data = key.bytes + key.size;
	value.size = load16(node) | (size_t)load16(node + 2) << 16;
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
	return damaged(cursor->pages, "a page of its tree", error);
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
	return tree_from(tree, pages, value.bytes, error);
}

int store_tree_open_optional(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error)
{
	struct store_slice value;
	int rc = store_tree_get(pages, &pages->names, name, strlen(name), &value, error);

	*tree = (struct store_tree){.root = UINT64_MAX};
	return rc <= 0 ? rc : store_tree_open(tree, pages, name, error);
}
