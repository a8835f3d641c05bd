/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the LMDB file of a store, opened by the only writer or by readers, and a reader's snapshot. Only
 * this folder and the writer call LMDB.
 *
 * LMDB must not open a file twice in one process (its record locks would vanish with the first close), so
 * readers and the writer of one process share an environment, found by device and inode.
 */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <lmdb.h>

#include "store/base/error.h"
#include "store/file/archive_pages.h"
#include "store/file/stale_readers.h"
#include "store/file/tree.h"

#define STORE_FORMAT_MAJOR 7u	  /* a reader refuses a larger one */
#define STORE_FORMAT_MINOR 0u	  /* a reader ignores what it does not know */
#define STORE_FORMAT_OLDEST "1.0" /* the lowest that is read: tests/golden/formats has a run of each */
#define STORE_FORMAT_KEY "format"

/* The named databases. Stores of format 1.0 have no `roll`, of 1.1 no `blob`. */
#define STORE_TREES(X)        \
	X(META, "meta")       \
	X(TEXT, "text")       \
	X(MODULE, "module")   \
	X(METRIC, "metric")   \
	X(CONTEXT, "context") \
	X(SYMBOL, "symbol")   \
	X(STREAM, "stream")   \
	X(CHUNK, "chunk")     \
	X(OPEN, "open")       \
	X(ROLL, "roll")       \
	X(BLOB, "blob")
enum store_tree_id {
#define X(name, text) STORE_TREE_##name,
	STORE_TREES(X)
#undef X
		STORE_TREE_COUNT
};
const char *store_tree_name(enum store_tree_id tree);

struct store_file;

/* Creates the file, mode 0600; refuses an existing one. For the writer. */
int store_file_create(struct store_file **file, const char *path, struct error *error);
/* Opens for reading. */
int store_file_open(struct store_file **file, const char *path, struct error *error);
void store_file_close(struct store_file *file);

MDB_env *store_file_env(const struct store_file *file);
const char *store_file_path(const struct store_file *file);
/* The frames of an archived store, else NULL. */
struct store_archive_pages *store_file_packed(const struct store_file *file);
bool store_file_is_replaced(const struct store_file *file); /* another file has taken its name */
uint64_t store_file_bytes(const struct store_file *file);   /* current size on disk */
/* Enlarges the writer's map, between transactions. */
int store_file_grow(struct store_file *file, struct error *error);
/* Copies the last commit with full pages to `path`: writes a temporary file and renames it. LMDB does not
 * check the pages it copies: only for files that we wrote. */
int store_file_copy(const struct store_file *file, const char *path, struct error *error);
/* For the writer: `fill` writes a new file with a map and pages of these sizes; the new file gets this
 * file's owner and mode, is synced and then renamed over it, without a lock file. False: it failed (for
 * example, the disk has too little space), and nothing has changed. */
bool store_file_replace(struct store_file *file, uint64_t map_bytes, uint32_t page_bytes,
	int (*fill)(struct store_file *by, void *own, struct error *error), void *own);
/* For the writer, between commits: gives up snapshots that readers have held for that long and that cost
 * many pages (stale_readers.h). Returns how many. */
unsigned store_file_give_up(struct store_file *file, uint64_t patience_ns);
/* ERROR_IO: the operation `doing` failed with an LMDB code. */
int store_file_failed(const struct store_file *file, const char *doing, int code, struct error *error);

/* One snapshot of the file. Read pages through `pages`; they stay until the next renew or end. */
struct store_snapshot {
	struct store_file *file;
	MDB_txn *txn;
	void *map;
	size_t map_bytes;
	bool is_scattered; /* (store_snapshot_expect_scattered()) */
	struct store_pages pages;
	uint64_t *known; /* store_pages.known */
	size_t known_words;
	struct store_tree trees[STORE_TREE_COUNT];
	bool is_dense;	  /* texts, contexts and symbols are compressed (zstd_block.h) */
	bool is_bundled;  /* trees hold leaf blocks (leaf_block.h) */
	bool has_columns; /* streams are stored column by column (stream_block.h) */
};

/* An all-zero snapshot with `file` set is ready for renew, which moves it to the newest commit. */
int store_snapshot_renew(struct store_snapshot *snapshot, struct error *error);
/* Announces scattered reads: a missing page is then read alone, without the disk's readahead of up to
 * megabytes. Holds until the next call. */
void store_snapshot_expect_scattered(struct store_snapshot *snapshot, bool is_scattered);
/* True when that byte of its pages is in memory, or when this is unknown. */
bool store_snapshot_holds(const struct store_snapshot *snapshot, const uint8_t *byte);
void store_snapshot_end(struct store_snapshot *snapshot);

#endif
