/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - reads the B+trees of an LMDB file with every offset checked. LMDB itself trusts its pages: a
 * damaged file makes it crash or abort. So readers let LMDB hold the snapshot (its lock table keeps the
 * writer off their pages) and walk the pages here, where damage is an error.
 *
 *   page 0, 1: meta (magic, page size, roots, last page, transaction) | branch, leaf and overflow pages
 *
 * Written from the on-disk format of LMDB 0.9 (data version 1), as FORMAT.md tells it. Pure functions over
 * bytes: no state, any thread.
 */
#ifndef STORE_TREE_H
#define STORE_TREE_H

#include "store/bytes.h"
#include "store/error.h"

#define STORE_TREE_DEPTH_MAX 24u
/* A moment is held for sure until the writer is that many commits ahead (slow.h). */
#define STORE_MOMENT_COMMITS 64u

struct store_packed; /* packed.h */

struct store_tree {
	uint64_t root; /* page number, UINT64_MAX: empty */
	unsigned depth;
	uint64_t entries;
};

/* The file's pages, as one snapshot sees them. */
struct store_pages {
	const uint8_t *bytes;
	size_t page_bytes;
	uint64_t page_count; /* that belong to the snapshot and lie in `bytes` */
	uint64_t transaction;
	struct store_tree names;     /* the tree of the named databases */
	bool is_short;		     /* the snapshot has more pages than the file */
	const char *path;	     /* for errors */
	struct store_packed *packed; /* unpacks them as they are looked at; NULL: they are there */
	/* Is the moment still held? Asked once the writer is `sure` commits ahead; NULL: nobody writes. */
	bool (*is_held)(void *holder, uint64_t transaction);
	void *holder;
	uint64_t sure;
};

struct store_tree_cursor {
	const struct store_pages *pages;
	struct store_tree tree;
	struct store_slice key, value; /* where it stands */
	struct {
		const uint8_t *page;
		unsigned index, count;
	} level[STORE_TREE_DEPTH_MAX];
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
	uint64_t transaction, const char *path, struct store_packed *packed, struct error *error);

/* The named database. ERROR_RUN when it is not there. */
int store_tree_open(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);
/* The same; an empty tree when it is not there. */
int store_tree_open_optional(
	struct store_tree *tree, const struct store_pages *pages, const char *name, struct error *error);

/* Has the moment been given up while it was looked at? Then what was read may be anything. To be asked behind
 * reads of pages; the functions below do, their values' readers must. */
bool store_pages_are_lost(const struct store_pages *pages);
/* ERROR_IO, and that sentence. */
int store_pages_lost(const struct store_pages *pages, struct error *error);

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

#endif
