/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_rollups.h - rollups ready for the next transaction, back to back: | key | size u32 | value | key |
 * ...
 */
#ifndef STORE_PENDING_ROLLUPS_H
#define STORE_PENDING_ROLLUPS_H

#include <lmdb.h>

#include "store/base/bytes.h"
#include "store/key.h"

/* Seals the value written after store_bytes_begin_sealed() and adds it. */
void store_pending_rollups_add(
	struct store_bytes *made, const struct store_key_rollup *key, struct store_bytes *value);
/* Removes those that end after `torn_ns`: their times are in the keys. */
void store_pending_rollups_tear(struct store_bytes *made, uint64_t torn_ns);
/* Writes all: LMDB's code, ENOMEM where one could not be added. */
int store_pending_rollups_put(const struct store_bytes *made, MDB_txn *txn, MDB_dbi rolls);

#endif
