/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - reads the B+trees of an LMDB file (pages.h) with every offset checked. One thread for the same
 * pages at a time.
 */
#ifndef STORE_TREE_H
#define STORE_TREE_H

#include "store/file/leaf_block_internal.h"
#include "store/file/pages.h"

/* Can this value belong to that key? */
typedef bool store_tree_fits(struct store_slice key, struct store_slice value);

struct store_tree_cursor {
	const struct store_pages *pages;
	struct store_tree tree;
	struct store_slice key, value; /* the current entry */
	/* Called for each entry returned or adjacent to the searched key; false is damage. NULL, as init
	 * sets it: no check. */
	store_tree_fits *fits;
	struct {
		const uint8_t *page;
		unsigned index, count;
	} level[STORE_TREE_DEPTH_MAX];
	struct store_leaf_block bundle; /* in a bundled tree: the current bundle, and the index in it */
	unsigned place;
};

/* Opens a named database. ERROR_RUN when it is missing. */
int store_tree_open(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);
/* The same; an empty tree when it is missing. */
int store_tree_open_optional(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);

void store_tree_cursor_init(
	struct store_tree_cursor *cursor, const struct store_pages *pages, const struct store_tree *tree);
/* Each returns 1 and sets the cursor's key and value; 0: no such entry; negative: damage. */
/* The first entry whose key is not below the given one. */
int store_tree_seek(struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error);
int store_tree_next(struct store_tree_cursor *cursor, struct error *error); /* after a seek that returned 1 */
/* The last entry whose key is below the given one. */
int store_tree_seek_below(
	struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error);
int store_tree_previous(struct store_tree_cursor *cursor, struct error *error);
/* The value of exactly that key. */
int store_tree_get(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error);
/* The same in a tree of sealed values, where a missing entry is a valid answer: checks the neighbours, since
 * the entry's key may be damaged. */
int store_tree_get_sealed(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error);

#endif
