/* SPDX-License-Identifier: Apache-2.0 */
/* tree_internal.h - the walk over a tree's nodes, for tree_step.c. Reads the pages of a snapshot, like
 * tree.h. */
#ifndef STORE_TREE_INTERNAL_H
#define STORE_TREE_INTERNAL_H

#include "store/file/tree.h"

int store_tree_page_seek(struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error);
int store_tree_page_next(struct store_tree_cursor *cursor, struct error *error);
int store_tree_page_seek_below(
	struct store_tree_cursor *cursor, struct store_slice wanted, struct error *error);
int store_tree_page_previous(struct store_tree_cursor *cursor, struct error *error);

#endif
