/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readahead.h - asks the disk for all that trees are made of, before somebody walks over them. A walk meets a
 * page at a time, waits for it, and the kernel guesses what else to bring: where a tree's pages lie among
 * those of others, mostly others', by the megabyte. Here the pages of each height are asked for together, and
 * no other:
 *
 *   roots                     [ T ]           [ S ]
 *                            /     \         /     \
 *   branches, leaves      [ ]       [ ]   [ ]       [ ]      one wait for each height of all trees
 *                        / | \     / | \
 *   long values          []  []   []  []  []                 and one for these
 */
#ifndef STORE_READAHEAD_H
#define STORE_READAHEAD_H

#include "store/file/pages.h"

/* What is beyond that is read on the way. */
#define STORE_READAHEAD_BYTES_MOST (UINT64_C(64) << 20)

/* Advice: nothing fails, and damage is left to who walks. How many pages were asked for, those that were in
 * memory counted, too; none of an archive. */
uint64_t store_readahead_trees(
	const struct store_pages *pages, const struct store_tree *const *trees, unsigned count);

#endif
