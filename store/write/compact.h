/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - copies a store's values in key order into a fresh LMDB file: no page is free, leaves are full,
 * trees follow one another. LMDB's own compacting copy keeps leaves as they are, and trusts the pages it
 * reads.
 *
 *   while recording    | meta | trees, chunks and pages freed by earlier commits, mixed |
 *   compacted          | meta | meta tree | texts | ... | chunks | rollups |
 */
#ifndef STORE_COMPACT_H
#define STORE_COMPACT_H

#include "store/file/file.h"

/* A store with at most ALWAYS_BYTES in use is always compacted when its writer ends; a larger one, up to
 * MOST_BYTES, if that saves a tenth of the file. */
#define STORE_COMPACT_ALWAYS_BYTES (UINT64_C(64) << 20)
#define STORE_COMPACT_MOST_BYTES (UINT64_C(1) << 30)

/* Flags: write the fact STORE_META_SETTLED and compress (zstd_block.h); leave out rollups that are not worth
 * their space (rollup_prune.h): not in flight recordings, where rollups replace records. */
#define STORE_COMPACT_SETTLED 1u
#define STORE_COMPACT_DROPS_ROLLS 2u

/* Copies all values of the snapshot into `to`, which is empty and has a map twice their size. The caller
 * syncs. ERROR_RUN: a page is damaged; ERROR_IO: `to` cannot be written. */
int store_compact(
	const struct store_snapshot *from, struct store_file *to, unsigned how, struct error *error);

/* The writer's last step: replaces the store by its compacted copy (file_replace.c). Readers that have it
 * open keep the old file, which holds the same. False: nothing has changed; the last commit is in the file,
 * but perhaps not on the disk. */
bool store_compact_in_place(struct store_file *file, bool drops_rolls);

#endif
