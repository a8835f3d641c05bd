/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - a store's values, put in order into a fresh LMDB file: no page of it is free, its leaves are
 * full, its trees lie one behind the other. LMDB's own compacting copy leaves leaves as they are, and trusts
 * the pages it reads.
 *
 *   while recording    | meta | trees, chunks and what the commits before left free, mixed |
 *   rewritten          | meta | meta tree | texts | ... | chunks | rollups |
 */
#ifndef STORE_COMPACT_H
#define STORE_COMPACT_H

#include "store/file/file.h"

/* A store of so much in use is always rewritten when its writer ends; a larger one, up to so much, where that
 * spares a tenth of the file. */
#define STORE_COMPACT_ALWAYS_BYTES (UINT64_C(64) << 20)
#define STORE_COMPACT_MOST_BYTES (UINT64_C(1) << 30)

/* How: put the fact STORE_META_SETTLED, and what is dense (zstd_block.h); leave out rollups that are not
 * worth their room (rollup_prune.h): not where they are the record, in flight recordings. */
#define STORE_COMPACT_SETTLED 1u
#define STORE_COMPACT_DROPS_ROLLS 2u

/* All values of the snapshot into `to`, which is empty and whose map is twice as large as they. The caller
 * syncs. ERROR_RUN: a page is damaged; ERROR_IO: `to` cannot be written. */
int store_compact(
	const struct store_snapshot *from, struct store_file *to, unsigned how, struct error *error);

/* The writer's last step: the store takes its own place, settled (file_replace.c). Readers that have it open
 * keep the old file, which holds the same. False: nothing has changed, and what the last commit put is in the
 * file, but perhaps not on the disk. */
bool store_compact_in_place(struct store_file *file, bool drops_rolls);

#endif
