/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - reads the B+trees of an LMDB file (pages.h) with every offset checked. One thread for the same
 * pages at a time.
 */
#ifndef STORE_TREE_H
#define STORE_TREE_H

#include "store/file/leaf_block_internal.h"
#include "store/file/pages.h"

/* Can this value lie under that key? */
typedef bool store_tree_fits(struct store_slice key, struct store_slice value);

struct store_tree_cursor {
	const struct store_pages *pages;
	struct store_tree tree;
	struct store_slice key, value; /* where it stands */
	/* Asked of each entry where it stands or that lies beside what is sought; no is damage. NULL, as init
	 * leaves it: not asked. */
	store_tree_fits *fits;
	struct {
		const uint8_t *page;
		unsigned index, count;
	} level[STORE_TREE_DEPTH_MAX];
	struct store_leaf_block
		bundle; /* of a bundled tree: where it stands, and which of its values that is */
	unsigned place;
};

/* The named database. ERROR_RUN when it is not there. */
int store_tree_open(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);
/* The same; an empty tree when it is not there. */
int store_tree_open_optional(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);

void store_tree_cursor_init(
	struct store_tree_cursor *cursor, const struct store_pages *pages, const struct store_tree *tree);
/* Each: 1 and the cursor stands on key and value; 0: no such entry; negative: damage. */
/* The first entry whose key is not below the given one. */
int store_tree_seek(struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error);
int store_tree_next(struct store_tree_cursor *cursor, struct error *error); /* after a seek that gave 1 */
/* The last entry whose key is below the given one. */
int store_tree_seek_below(
	struct store_tree_cursor *cursor, const void *key, size_t key_size, struct error *error);
int store_tree_previous(struct store_tree_cursor *cursor, struct error *error);
/* The value of exactly that key. */
int store_tree_get(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error);
/* The same in a tree of sealed values, for who takes "no such entry" for an answer: damage, where it may have
 * been one whose key has changed. */
int store_tree_get_sealed(const struct store_pages *pages, const struct store_tree *tree, const void *key,
	size_t key_size, struct store_slice *value, struct error *error);

#endif
