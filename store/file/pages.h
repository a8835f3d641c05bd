/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - the pages of an LMDB file in one snapshot. LMDB trusts its pages: a damaged file makes it crash
 * or abort. So readers let LMDB hold the snapshot (its lock table keeps the writer off their pages) and read
 * the pages here, where damage is an error.
 *
 *   page 0, 1: meta (magic, page size, roots, last page, transaction) | branch, leaf, overflow pages (tree.h)
 *
 * Written from the on-disk format of LMDB 0.9 (data version 1), described in FORMAT.md. Pure functions over
 * bytes, except for `known`, which belongs to one thread.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "store/base/bytes.h"
#include "store/base/error.h"

#define STORE_PAGE_HEADER 16u
#define STORE_TREE_DEPTH_MAX 24u
/* The writer keeps a snapshot for at least that many commits (stale_readers.h). */
#define STORE_MOMENT_COMMITS 64u

struct store_archive_pages; /* archive_pages.h */

struct store_tree {
	uint64_t root; /* page number, UINT64_MAX: empty */
	unsigned depth;
	uint64_t entries; /* nodes: values, or bundles */
	bool is_bundled;  /* (leaf_block.h) */
};

/* The file's pages, as one snapshot sees them. */
struct store_pages {
	const uint8_t *bytes;
	size_t page_bytes;
	uint64_t page_count; /* pages that belong to the snapshot and are in `bytes` */
	uint64_t transaction;
	struct store_tree names;	    /* the tree of the named databases */
	bool is_short;			    /* the snapshot has more pages than the file */
	const char *path;		    /* for errors */
	struct store_archive_pages *packed; /* decompresses pages on use; NULL: not an archive */
	/* Returns whether the snapshot is still held. Called once the writer is `sure` commits ahead; NULL:
	 * there is no writer. */
	bool (*is_held)(void *holder, uint64_t transaction);
	void *holder;
	uint64_t sure;
	/* A bit for each page whose nodes have been checked (node.h), or that is the first to begin inside a
	 * value checked as a whole. NULL: not recorded. */
	uint64_t *known;
};

/* Checks whether these first bytes of a file of `file_bytes` bytes start a complete LMDB file: 0, or
 * ERROR_RUN with the reason. `head` holds the first min(file_bytes, 128 KiB) bytes. */
int store_pages_check(
	const uint8_t *head, size_t head_bytes, uint64_t file_bytes, const char *path, struct error *error);

/* Writes the two meta pages of an empty LMDB file with that page size. */
void store_pages_begin(uint8_t *bytes, uint32_t page_bytes, uint64_t map_bytes);

/* Opens the snapshot of `transaction` (UINT64_MAX: the newest) in a mapped file (`packed`: of an archive).
 * 1: its meta page has been overwritten by a later commit; take a newer snapshot from LMDB. */
int store_pages_open(struct store_pages *pages, const uint8_t *bytes, uint64_t file_bytes,
	uint64_t transaction, const char *path, struct store_archive_pages *packed, struct error *error);

/* store_pages_are_lost() for pages with is_held. */
bool store_pages_are_gone(const struct store_pages *pages);
/* True when the writer has given up the snapshot: what was read may be garbage. Check after reading pages;
 * tree.c does for its own reads, its callers must after they read values. */
static inline bool store_pages_are_lost(const struct store_pages *pages)
{
	return pages->is_held && store_pages_are_gone(pages);
}
/* ERROR_IO with a sentence that says so. */
int store_pages_lost(const struct store_pages *pages, struct error *error);

/* ---- for node.c, tree.c and chunk_job.c ---- */

static inline bool store_pages_is_known(const struct store_pages *pages, uint64_t number)
{
	return pages->known && pages->known[number / 64] >> number % 64 & 1;
}
static inline void store_pages_know(const struct store_pages *pages, uint64_t number)
{
	if (pages->known)
		pages->known[number / 64] |= (uint64_t)1 << number % 64;
}

/* Reads the description of a tree at `at` in an LMDB file. */
int store_pages_tree(
	struct store_tree *tree, const struct store_pages *pages, const uint8_t *at, struct error *error);
/* ERROR_RUN: what is damaged and what to do; ERROR_IO if the snapshot has been given up. */
int store_pages_damaged(const struct store_pages *pages, const char *what, struct error *error);

#endif
