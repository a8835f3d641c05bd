/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention_rolls.c - drops samples of a flight recording: makes the rollup that replaces each bucket before
 * its chunks are dropped, and joins old rollups into larger ones.
 */
#include "store/rollup/rollup_walk.h"
#include "store/states/state_rollup.h"
#include "store/write/retention_internal.h"

#define AGES 4u /* times what is kept, until rollups are joined for the first time */

/* ---- samples ---- */

static int delete_chunks(struct retention_pass *pass, const struct store_key_rollup *block)
{
	struct store_key_chunk key = retention_first_key(pass, block->begin_ns);
	uint64_t last_ns = store_rollup_last(block->begin_ns, block->shift);
	int rc;

	while ((rc = retention_find_chunk(pass, &key, last_ns + 1)) == 0) {
		if (key.shift <= block->shift)
			rc = retention_drop_chunk(pass);
		if (rc)
			return rc;
		retention_step(&key);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Rollups of what is gone would be parts of the one that stays. */
static int delete_inner(struct retention_pass *pass, const struct store_key_rollup *block)
{
	struct store_key_rollup key = *block;
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	uint64_t last_ns = store_rollup_last(block->begin_ns, block->shift);
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(pass->txn, pass->ingest->dbi[STORE_TREE_ROLL], &cursor);

	key.shift--;
	while (!rc) {
		MDB_val found = {sizeof bytes, bytes}, value;

		store_key_rollup_put(bytes, &key);
		rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
		if (!rc && !store_key_rollup_get(&key, found.mv_data, found.mv_size))
			rc = MDB_CORRUPTED;
		if (!rc && (key.stream != block->stream || key.kind != block->kind || key.begin_ns > last_ns))
			rc = MDB_NOTFOUND;
		if (!rc)
			rc = mdb_cursor_del(cursor, 0);
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Doubles do not add up the same in every order: rollups do not speak for them. */
static bool has_real(const struct retention_pass *pass)
{
	const struct store_context_sums *made = &pass->ingest->rolls.made;

	for (uint32_t i = 0; i < made->count; i++)
		if (made->entries[i].metric >= pass->metrics->count ||
			pass->metrics->metrics[made->entries[i].metric].is_real)
			return true;
	return false;
}

static int retention_block(struct retention_pass *pass, const struct store_key_rollup *block)
{
	struct store_ingest *ingest = pass->ingest;
	int rc = store_rollup_make(&ingest->rolls, block, pass->txn, ingest->dbi);

	if (rc || has_real(pass))
		return rc;
	if (store_rollup_last(block->begin_ns, block->shift) >= pass->thin->pending[pass->stream].joined_ns)
		pass->thin->pending[pass->stream].joined_ns =
			store_rollup_last(block->begin_ns, block->shift) + 1;
	rc = store_rollup_put_made(&ingest->rolls, block, pass->txn, ingest->dbi);
	rc = rc ? rc : delete_chunks(pass, block);
	return rc ? rc : delete_inner(pass, block);
}

int retention_samples(struct retention_pass *pass)
{
	struct store_key_chunk key = retention_first_key(pass, 0);
	int rc;

	while ((rc = retention_find_chunk(pass, &key, pass->thin->wanted_ns)) == 0) {
		unsigned shift = (key.shift + STORE_ROLLUP_STEP - 1) / STORE_ROLLUP_STEP * STORE_ROLLUP_STEP;
		struct store_key_rollup block = {.stream = pass->stream, .kind = STORE_SAMPLES};
		uint64_t last_ns;

		block.shift = (uint8_t)(shift > pass->thin->shift ? shift : pass->thin->shift);
		block.begin_ns = store_bucket_of(key.bucket_ns, block.shift);
		last_ns = store_rollup_last(block.begin_ns, block.shift);
		if (block.shift > THIN_SHIFT_WHOLE || last_ns >= pass->thin->wanted_ns) {
			retention_step(&key);
			continue;
		}
		rc = retention_block(pass, &block);
		if (rc)
			return rc;
		key = retention_first_key(pass, last_ns + 1);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* ---- rollups that are old: into larger ones ---- */

/* Before this, rollups of the size are joined. */
static uint64_t join_until(const struct store_retention *thin, unsigned shift)
{
	unsigned grown = shift > thin->shift ? shift - thin->shift : 0;
	uint64_t age_ns = thin->keep_ns * AGES;

	if (grown >= 64 || age_ns << grown >> grown != age_ns || age_ns << grown > thin->wanted_ns)
		return 0;
	return thin->wanted_ns - (age_ns << grown);
}

/* The writer of lines made the larger one, or there is none. */
static int join_lines(struct retention_pass *pass, const struct store_key_rollup *block)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val key = {sizeof bytes, bytes}, value;
	int rc;

	store_key_rollup_put(bytes, block);
	rc = mdb_get(pass->txn, pass->ingest->dbi[STORE_TREE_ROLL], &key, &value);
	return rc ? rc == MDB_NOTFOUND ? 0 : rc : delete_inner(pass, block);
}

static int find_roll(struct retention_pass *pass, struct store_key_rollup *key, uint8_t kind)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val found = {sizeof bytes, bytes}, value;
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(pass->txn, pass->ingest->dbi[STORE_TREE_ROLL], &cursor);

	if (rc)
		return rc;
	store_key_rollup_put(bytes, key);
	rc = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE);
	if (!rc && !store_key_rollup_get(key, found.mv_data, found.mv_size))
		rc = MDB_CORRUPTED;
	if (!rc && (key->stream != pass->stream || key->kind != kind))
		rc = MDB_NOTFOUND;
	mdb_cursor_close(cursor);
	return rc;
}

static int join_rolls(struct retention_pass *pass, uint8_t kind, unsigned step, unsigned shift_most)
{
	struct store_key_rollup key = {.stream = pass->stream, .kind = kind, .shift = STORE_SHIFT_MAX};
	int rc;

	while ((rc = find_roll(pass, &key, kind)) == 0 && key.begin_ns < pass->thin->wanted_ns) {
		struct store_key_rollup block = key;

		block.shift = (uint8_t)(key.shift + step);
		block.begin_ns = block.shift <= shift_most ? store_bucket_of(key.begin_ns, block.shift) : 0;
		if (block.shift <= shift_most &&
			store_rollup_last(block.begin_ns, block.shift) < join_until(pass->thin, key.shift)) {
			rc = kind == STORE_SAMPLES ? retention_block(pass, &block) : join_lines(pass, &block);
			if (rc)
				return rc;
		}
		if (key.shift) {
			key.shift--;
		} else {
			key.begin_ns++;
			key.shift = STORE_SHIFT_MAX;
		}
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int retention_join(struct retention_pass *pass)
{
	int rc;

	pass->track = STORE_SAMPLES;
	rc = join_rolls(pass, STORE_SAMPLES, STORE_ROLLUP_STEP, THIN_SHIFT_WHOLE);
	return rc ? rc
		  : join_rolls(pass, STORE_ROLLUP_STATES, STORE_STATE_ROLLUP_STEP,
			    STORE_STATE_ROLLUP_STEP * (STORE_STATE_ROLLUP_SIZES - 1));
}
