/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append_block.h - packs small entries with consecutive ids (texts, contexts, modules, metrics) into values
 * of just under one page; as single values LMDB would waste half of the space. Key: the first id. A commit
 * rewrites the last block with the new entries appended.
 *
 *   key | first id u32 BE |   value | seal u32 | entry | entry | ... |
 */
#ifndef STORE_APPEND_BLOCK_H
#define STORE_APPEND_BLOCK_H

#include <lmdb.h>

#include "store/base/bytes.h"
#include "store/file/file.h"

/* How much of one table is in the file. Only committed() changes `tail` and `stored`. */
struct store_append_block {
	uint32_t tail, stored;		 /* first id of the last block; number of ids */
	uint32_t next_tail, next_stored; /* the same after the current transaction */
};

typedef void store_append_block_put_entry(const void *table, uint32_t id, struct store_bytes *out);
/* Reads entry `id`, which may be known already; negative: no memory. Damage sets input->bad. */
typedef int store_append_block_get_entry(void *table, uint32_t id, struct store_input *input);

/* Writes ids [stored, count); `rewrite`: all of them. Returns LMDB's code. */
int store_append_block_put(struct store_append_block *pack, MDB_txn *txn, MDB_dbi dbi, const void *table,
	uint32_t count, bool rewrite, store_append_block_put_entry *put_entry, struct store_bytes *scratch);
void store_append_block_committed(struct store_append_block *pack);

/* Reads from block `*tail` on (0: all); sets *tail to the last block's first id and *count to the number of
 * ids. */
int store_append_block_get(const struct store_snapshot *snapshot, enum store_tree_id tree, uint32_t *tail,
	uint32_t *count, void *table, store_append_block_get_entry *get_entry, struct error *error);

#endif
