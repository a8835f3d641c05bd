/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale_readers.h - readers that sleep, as the writer sees them. While a reader looks at a moment, LMDB gives
 * out no page that was freed since: every commit then costs new pages, for as long as the reader stops at a
 * key, in a pager or under Ctrl-Z. So a moment is kept for a while and for some waste of pages, and then
 * given up.
 *
 *   reader's slot in the lock file   | transaction | process, thread |
 *   given up:                        |     -1      |                 |     as its own mdb_txn_reset() does
 *
 * The reader finds out behind its next read (tree.h: is_held), says so, and may renew.
 */
#ifndef STORE_STALE_READERS_H
#define STORE_STALE_READERS_H

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All-zero is ready: `slots` is the lock file's map, NULL: no moment can be given up. */
struct store_stale_readers {
	uint8_t *slots;
	size_t slot_bytes;
	uint64_t oldest;   /* the transaction of the reader that is behind most ... */
	uint64_t since_ns; /* ... and since when it is known */
};

/* To be called between commits, now and then: gives up the moments of readers that are STORE_MOMENT_COMMITS
 * commits behind for `patience_ns` if the pages that wait for them are more than a quarter of the file, and
 * more than a few. How many were given up. */
unsigned store_stale_readers_give_up(struct store_stale_readers *slow, MDB_env *env, uint64_t patience_ns);

/* Pages that were freed, of all pages; as of the last commit. False: it cannot be told. */
bool store_stale_readers_count_pages(MDB_env *env, uint64_t *freed, uint64_t *pages, uint64_t *page_bytes);

/* Does a reader of the process that opened the environment still hold the moment of that transaction? */
bool store_stale_readers_is_held(MDB_env *env, pid_t owner, uint64_t transaction);

#endif
