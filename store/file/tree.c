/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - a checked walk over the branches and leaves of an LMDB file. node.c checks the nodes inside a
 * page when the page is first read; this file checks that pages are where their parents say:
 *
 *   branch        ... |     F     |     M     | ...        the first keys of its children, or something below
 *                           |           |
 *   leaf          ... | F  G  H | | M  N  O | ...          all of a leaf are from its own to its neighbour's
 *
 * and, at the edges of a query, that the keys on both sides are undamaged: the searched entry may be the one
 * before or after, under a key whose bits have changed, and its absence would go unnoticed.
 */
#include "store/file/tree.h"

#include "store/file/leaf_block_internal.h"
#include "store/file/node.h"
#include "store/file/tree_internal.h"

/* ---- the cursor ---- */

void store_tree_cursor_init(
	struct store_tree_cursor *cursor, const struct store_pages *pages, const struct store_tree *tree)
{
	cursor->pages = pages;
	cursor->tree = *tree;
	cursor->fits = NULL;
	cursor->bundle.count = 0;
	cursor->key = (struct store_slice){0};
	cursor->value = (struct store_slice){0};
}

/* Loads the page into a level. The deepest level must be a leaf, the others branches. */
static bool enter(struct store_tree_cursor *cursor, unsigned level, uint64_t number)
{
	bool is_leaf = level + 1 == cursor->tree.depth;

	cursor->level[level].index = 0;
	cursor->level[level].page = store_page_at(cursor->pages, number,
		is_leaf ? STORE_PAGE_LEAF : STORE_PAGE_BRANCH, &cursor->level[level].count);
	return cursor->level[level].page != NULL;
}

static const uint8_t *node_of(
	const struct store_tree_cursor *cursor, unsigned level, unsigned index, struct store_slice *key)
{
	return store_node_at(cursor->pages, cursor->level[level].page, index, key);
}

/* Page number of the child where the level stands. */
static bool child_of(struct store_tree_cursor *cursor, unsigned level, uint64_t *number)
{
	struct store_slice key;
	const uint8_t *node = node_of(cursor, level, cursor->level[level].index, &key);

	if (!node)
		return false;
	*number = store_node_child(node);
	return true;
}

/* ---- checks that pages are where they belong ---- */

/* Keys of what is below a branch's node: not below `least`, below `most`; no bytes: nothing is known. */
struct bounds {
	struct store_slice least, most;
};

static bool narrow(const struct store_tree_cursor *cursor, unsigned level, struct bounds *bounds)
{
	const unsigned index = cursor->level[level].index;

	return (!index || node_of(cursor, level, index, &bounds->least)) &&
	       (index + 1 == cursor->level[level].count || node_of(cursor, level, index + 1, &bounds->most));
}

static bool lies_within(const struct store_tree_cursor *cursor, unsigned level, const struct bounds *bounds)
{
	const unsigned first = level + 1 == cursor->tree.depth ? 0 : 1, count = cursor->level[level].count;
	struct store_slice least, most;

	if (count <= first)
		return true;
	if (!node_of(cursor, level, first, &least) || !node_of(cursor, level, count - 1, &most))
		return false;
	return (!bounds->least.size || store_key_compare(least, bounds->least) >= 0) &&
	       (!bounds->most.size || store_key_compare(most, bounds->most) < 0);
}

/* Is every page on the way where its parent says? *bounds: of the leaf. */
static bool is_in_place(const struct store_tree_cursor *cursor, struct bounds *bounds)
{
	*bounds = (struct bounds){0};
	for (unsigned level = 0; level + 1 < cursor->tree.depth; level++)
		if (!narrow(cursor, level, bounds) || !lies_within(cursor, level + 1, bounds))
			return false;
	return true;
}

/* What was found, if the pages were ours all the while. */
static int settled(const struct store_tree_cursor *cursor, int found, struct error *error)
{
	return store_pages_are_lost(cursor->pages) ? store_pages_lost(cursor->pages, error) : found;
}

/* For nodes; for values of a bundle the check is made on use (tree_step.c). */
static bool fits(const struct store_tree_cursor *cursor, struct store_slice key, struct store_slice value)
{
	if (cursor->tree.is_bundled)
		return store_leaf_block_fits(key, value);
	return !cursor->fits || cursor->fits(key, value);
}

/* Checks that the entry at that position of the leaf belongs to its key. */
static bool fits_at(const struct store_tree_cursor *cursor, unsigned index)
{
	unsigned leaf = cursor->tree.depth - 1;
	struct store_slice key, value;

	return (!cursor->fits && !cursor->tree.is_bundled) ||
	       (store_node_value(cursor->pages, cursor->level[leaf].page, index, &key, &value) &&
		       fits(cursor, key, value));
}

/* Takes key and value of the leaf's node. Keys must grow in the walk's direction, or a hostile tree could
 * lead in circles. */
static bool stand(struct store_tree_cursor *cursor, int direction)
{
	unsigned leaf = cursor->tree.depth - 1;
	struct store_slice key, value;

	if (!store_node_value(
		    cursor->pages, cursor->level[leaf].page, cursor->level[leaf].index, &key, &value))
		return false;
	if (direction && store_key_compare(key, cursor->key) * direction <= 0)
		return false;
	if (!fits(cursor, key, value))
		return false;
	cursor->key = key;
	cursor->value = value;
	return true;
}

/* Index of the last branch child whose key is not above `key`, or of the first leaf node not below it. */
static bool search(struct store_tree_cursor *cursor, unsigned level, struct store_slice key)
{
	const bool is_leaf = level + 1 == cursor->tree.depth;
	unsigned low = is_leaf ? 0 : 1, high = cursor->level[level].count;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		struct store_slice at;

		if (!node_of(cursor, level, middle, &at))
			return false;
		if (store_key_compare(at, key) < (is_leaf ? 0 : 1))
			low = middle + 1;
		else
			high = middle;
	}
	cursor->level[level].index = is_leaf ? low : low - 1;
	return true;
}

static bool descend(struct store_tree_cursor *cursor, struct store_slice key)
{
	uint64_t number = cursor->tree.root;

	for (unsigned level = 0; level < cursor->tree.depth; level++) {
		if (!enter(cursor, level, number) || !search(cursor, level, key))
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
	struct bounds bounds;
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
	return is_in_place(cursor, &bounds) ? 1 : -1;
}

/* ---- the neighbours of what is sought ---- */

/* Of the leaf next to this one: is what is nearest on the asked side of the key? */
static bool neighbour_agrees(const struct store_tree_cursor *cursor, bool forward, struct store_slice key)
{
	struct store_tree_cursor beside = *cursor;
	unsigned leaf = cursor->tree.depth - 1;
	struct store_slice nearest;
	int rc = move_leaf(&beside, forward);

	if (rc <= 0)
		return rc == 0;
	if (!node_of(&beside, leaf, beside.level[leaf].index, &nearest))
		return false;
	return forward ? store_key_compare(nearest, key) >= 0 : store_key_compare(nearest, key) < 0;
}

/* If the leaf begins after the key, or ends before it, the searched entry may be in another leaf, because a
 * branch's key or child number is damaged. A leaf that begins with its parent's key is the right one. */
static bool is_right_leaf(const struct store_tree_cursor *cursor, bool is_below, struct store_slice key)
{
	unsigned leaf = cursor->tree.depth - 1;
	const unsigned index = cursor->level[leaf].index;
	struct store_slice first;
	struct bounds bounds;

	if (index && index < cursor->level[leaf].count)
		return true;
	if (!is_in_place(cursor, &bounds) || !node_of(cursor, leaf, 0, &first))
		return false;
	if (index)
		return !is_below || neighbour_agrees(cursor, true, key);
	return is_below || !bounds.least.size || store_key_compare(first, bounds.least) == 0 ||
	       neighbour_agrees(cursor, false, key);
}

/* Goes down to the key and looks at both sides of it. */
static bool find_place(struct store_tree_cursor *cursor, bool is_below, struct store_slice key)
{
	unsigned leaf = cursor->tree.depth - 1, index;

	if (!descend(cursor, key) || !is_right_leaf(cursor, is_below, key))
		return false;
	index = cursor->level[leaf].index;
	/* The walk continues on the other side, where stand() checks. */
	if (is_below)
		return index == cursor->level[leaf].count || fits_at(cursor, index);
	return !index || fits_at(cursor, index - 1);
}

static int broken(const struct store_tree_cursor *cursor, struct error *error)
{
	return store_pages_damaged(cursor->pages, "a page of its tree", error);
}

int store_tree_page_seek(struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error)
{
	unsigned leaf = cursor->tree.depth - 1;
	int rc;

	if (!cursor->tree.depth)
		return 0;
	if (!find_place(cursor, false, wanted))
		return broken(cursor, error);
	if (cursor->level[leaf].index == cursor->level[leaf].count) {
		rc = move_leaf(cursor, true);
		if (rc <= 0)
			return rc ? broken(cursor, error) : settled(cursor, 0, error);
	}
	/* Who asks on from here must not be led in circles. */
	if (!stand(cursor, 0) || store_key_compare(cursor->key, wanted) < 0)
		return broken(cursor, error);
	return settled(cursor, 1, error);
}

int store_tree_page_next(struct store_tree_cursor *cursor, struct error *error)
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

int store_tree_page_seek_below(
	struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error)
{
	int rc;

	if (!cursor->tree.depth)
		return 0;
	if (!find_place(cursor, true, wanted))
		return broken(cursor, error);
	rc = step_back(cursor, 0, error);
	return rc == 1 && store_key_compare(cursor->key, wanted) >= 0 ? broken(cursor, error) : rc;
}

int store_tree_page_previous(struct store_tree_cursor *cursor, struct error *error)
{
	return step_back(cursor, -1, error);
}
