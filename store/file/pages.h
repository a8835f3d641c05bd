/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - the pages of an LMDB file as one snapshot sees them. LMDB itself trusts its pages: a damaged file
 * makes it crash or abort. So readers let LMDB hold the snapshot (its lock table keeps the writer off their
 * pages) and look at the pages here, where damage is an error.
 *
 *   page 0, 1: meta (magic, page size, roots, last page, transaction) | branch, leaf and overflow pages
 * (tree.h)
 *
 * Written from the on-disk format of LMDB 0.9 (data version 1), as FORMAT.md tells it. Pure functions over
 * bytes, but for `known`, which is of one thread.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "store/base/bytes.h"
#include "store/base/error.h"

#define STORE_PAGE_HEADER 16u
#define STORE_TREE_DEPTH_MAX 24u
/* A moment is held for sure until the writer is that many commits ahead (stale_readers.h). */
#define STORE_MOMENT_COMMITS 64u

struct store_archive_pages; /* archive_pages.h */

struct store_tree {
	uint64_t root; /* page number, UINT64_MAX: empty */
	unsigned depth;
	uint64_t entries; /* nodes: values, or bundles of them */
	bool is_bundled;  /* (leaf_block.h) */
};

/* The file's pages, as one snapshot sees them. */
struct store_pages {
	const uint8_t *bytes;
	size_t page_bytes;
	uint64_t page_count; /* that belong to the snapshot and lie in `bytes` */
	uint64_t transaction;
	struct store_tree names;	    /* the tree of the named databases */
	bool is_short;			    /* the snapshot has more pages than the file */
	const char *path;		    /* for errors */
	struct store_archive_pages *packed; /* unpacks them as they are looked at; NULL: they are there */
	/* Is the moment still held? Asked once the writer is `sure` commits ahead; NULL: nobody writes. */
	bool (*is_held)(void *holder, uint64_t transaction);
	void *holder;
	uint64_t sure;
	/* A bit for each page whose nodes have been looked through (node.h), or that begins inside a value
	 * all of which has been, as the first page there that does. NULL: none is kept. */
	uint64_t *known;
};

/* Do these first bytes of a file of `file_bytes` bytes start an LMDB file that is all there? 0, or ERROR_RUN
 * with the reason. `head` holds the first min(file_bytes, 128 KiB) bytes. */
int store_pages_check(
	const uint8_t *head, size_t head_bytes, uint64_t file_bytes, const char *path, struct error *error);

/* The two meta pages of an LMDB file in which nothing is, with pages of that size. */
void store_pages_begin(uint8_t *bytes, uint32_t page_bytes, uint64_t map_bytes);

/* The snapshot of `transaction` (UINT64_MAX: the newest) in a mapped file (`packed`: of an archived one). 1:
 * its meta page is no longer there (a busy writer has moved on), ask LMDB for a newer one. */
int store_pages_open(struct store_pages *pages, const uint8_t *bytes, uint64_t file_bytes,
	uint64_t transaction, const char *path, struct store_archive_pages *packed, struct error *error);

/* store_pages_are_lost of pages that somebody holds (is_held). */
bool store_pages_are_gone(const struct store_pages *pages);
/* Has the moment been given up while it was looked at? Then what was read may be anything. To be asked behind
 * reads of pages; those of tree.h do, their values' readers must. */
static inline bool store_pages_are_lost(const struct store_pages *pages)
{
	return pages->is_held && store_pages_are_gone(pages);
}
/* ERROR_IO, and that sentence. */
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

/* The tree whose description, of an LMDB file, is at `at`. */
int store_pages_tree(
	struct store_tree *tree, const struct store_pages *pages, const uint8_t *at, struct error *error);
/* ERROR_RUN, with what is damaged and what to do; ERROR_IO where the moment was lost meanwhile. */
int store_pages_damaged(const struct store_pages *pages, const char *what, struct error *error);

#endif
