/* SPDX-License-Identifier: Apache-2.0 */
/* pending_rollups.c - see pending_rollups.h. */
#include "store/rollup/pending_rollups.h"

#include <errno.h>

void store_pending_rollups_add(
	struct store_bytes *made, const struct store_key_rollup *key, struct store_bytes *value)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	uint32_t size;

	store_key_rollup_put(bytes, key);
	store_bytes_seal(value, bytes, sizeof bytes);
	size = (uint32_t)value->size;
	made->failed |= value->failed;
	store_bytes_put(made, bytes, sizeof bytes);
	store_bytes_put(made, &size, sizeof size);
	store_bytes_put(made, value->data, size);
}

void store_pending_rollups_tear(struct store_bytes *made, uint64_t torn_ns)
{
	/* Where memory was out the last one is not whole, and none will be put. */
	for (size_t at = 0; at < made->size && !made->failed;) {
		struct store_key_rollup key;
		uint32_t length = store_load32(made->data + at + STORE_KEY_ROLL_BYTES);
		size_t size = STORE_KEY_ROLL_BYTES + sizeof length + length;

		if (store_key_rollup_get(&key, made->data + at, STORE_KEY_ROLL_BYTES) &&
			key.begin_ns + ((uint64_t)1 << key.shift) > torn_ns) {
			memmove(made->data + at, made->data + at + size, made->size - at - size);
			made->size -= size;
			continue;
		}
		at += size;
	}
}

int store_pending_rollups_put(const struct store_bytes *made, MDB_txn *txn, MDB_dbi rolls)
{
	int rc = made->failed ? ENOMEM : 0;

	for (size_t at = 0; at < made->size && !rc;) {
		uint8_t *bytes = made->data + at;
		MDB_val key = {STORE_KEY_ROLL_BYTES, bytes};
		MDB_val value = {store_load32(bytes + STORE_KEY_ROLL_BYTES),
			bytes + STORE_KEY_ROLL_BYTES + sizeof(uint32_t)};

		rc = mdb_put(txn, rolls, &key, &value, 0);
		at += STORE_KEY_ROLL_BYTES + sizeof(uint32_t) + value.mv_size;
	}
	return rc;
}
