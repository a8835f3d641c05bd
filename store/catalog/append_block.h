/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append_block.h - small things with consecutive ids (texts, contexts, modules, metrics), packed into values
 * of just under one page, since LMDB wastes half of what lies between. Key: the first id. A commit puts the
 * last block again with what was added behind it.
 *
 *   key | first id u32 BE |   value | seal u32 | entry | entry | ... |
 */
#ifndef STORE_APPEND_BLOCK_H
#define STORE_APPEND_BLOCK_H

#include <lmdb.h>

#include "store/base/bytes.h"
#include "store/file/file.h"

/* What the file has of one table. `tail` and `stored` change only by committed(). */
struct store_append_block {
	uint32_t tail, stored;		 /* first id of the last block; number of ids */
	uint32_t next_tail, next_stored; /* in the transaction at hand */
};

typedef void store_append_block_put_entry(const void *table, uint32_t id, struct store_bytes *out);
/* Reads entry `id`, which may be known already; negative: memory is out. Damage is input->bad. */
typedef int store_append_block_get_entry(void *table, uint32_t id, struct store_input *input);

/* Puts ids [stored, count); LMDB's code. `rewrite`: all of them. */
int store_append_block_put(struct store_append_block *pack, MDB_txn *txn, MDB_dbi dbi, const void *table,
	uint32_t count, bool rewrite, store_append_block_put_entry *put_entry, struct store_bytes *scratch);
void store_append_block_committed(struct store_append_block *pack);

/* Reads from block `*tail` on (0: all); sets *tail to the last block's first id, *count to the number of ids.
 */
int store_append_block_get(const struct store_snapshot *snapshot, enum store_tree_id tree, uint32_t *tail,
	uint32_t *count, void *table, store_append_block_get_entry *get_entry, struct error *error);

#endif
