/* SPDX-License-Identifier: Apache-2.0 */
/* made.c - see made.h. */
#include "store/made.h"

#include <errno.h>

void store_made_add(struct store_bytes *made, const struct store_key_roll *key, struct store_bytes *value)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	uint32_t size;

	store_key_roll_put(bytes, key);
	store_bytes_seal(value, bytes, sizeof bytes);
	size = (uint32_t)value->size;
	made->failed |= value->failed;
	store_bytes_put(made, bytes, sizeof bytes);
	store_bytes_put(made, &size, sizeof size);
	store_bytes_put(made, value->data, size);
}

int store_made_put(const struct store_bytes *made, MDB_txn *txn, MDB_dbi rolls)
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
