/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readahead.h - reads trees' pages ahead, one height at a time. A walk over a tree waits for one page at a
 * time, and the kernel's readahead fetches megabytes around it, mostly pages of other trees. Here all pages
 * of a height are requested together, and no others:
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

/* Pages beyond this are read during the walk. */
#define STORE_READAHEAD_BYTES_MOST (UINT64_C(64) << 20)

/* Only advice: it cannot fail, and the walk reports damage. Returns how many pages were requested, cached
 * ones included; 0 for an archive. */
uint64_t store_readahead_trees(
	const struct store_pages *pages, const struct store_tree *const *trees, unsigned count);

#endif
