/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale_readers.h - detects readers that hold an old snapshot. LMDB reuses no page that was freed after a
 * reader's snapshot: every commit then needs new pages, for as long as the reader waits for a key, a pager
 * or after Ctrl-Z. So the writer keeps a snapshot for some time and some waste of pages, and then gives it
 * up.
 *
 *   reader's slot in the lock file   | transaction | process, thread |
 *   given up:                        |     -1      |                 |     like its own mdb_txn_reset()
 *
 * The reader notices after its next read (tree.h: is_held), reports it, and may renew.
 */
#ifndef STORE_STALE_READERS_H
#define STORE_STALE_READERS_H

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All-zero is ready: `slots` is the lock file's map, NULL: no snapshot can be given up. */
struct store_stale_readers {
	uint8_t *slots;
	size_t slot_bytes;
	uint64_t oldest;   /* the transaction of the oldest reader ... */
	uint64_t since_ns; /* ... and when it was first seen */
};

/* Call between commits: gives up snapshots of readers that have been STORE_MOMENT_COMMITS commits behind for
 * `patience_ns`, if the pages that wait for them exceed a quarter of the file and a fixed minimum. Returns
 * how many. */
unsigned store_stale_readers_give_up(struct store_stale_readers *slow, MDB_env *env, uint64_t patience_ns);

/* Counts freed pages and all pages, as of the last commit. False: unknown. */
bool store_stale_readers_count_pages(MDB_env *env, uint64_t *freed, uint64_t *pages, uint64_t *page_bytes);

/* True when a reader of the process that opened the environment still holds that transaction's snapshot. */
bool store_stale_readers_is_held(MDB_env *env, pid_t owner, uint64_t transaction);

#endif
