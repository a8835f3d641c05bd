/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_write.c - makes rollups in a writer's transaction. A pass over the keys of a track's new chunks
 * finds the rollups that are now complete: those of each size that end at or before the next bucket, smaller
 * sizes first, because larger ones are made of them.
 */
#include "store/rollup/rollup_write.h"

#include <errno.h>
#include <stdlib.h>

#include "store/rollup/rollup_walk.h"

#define SIZES (STORE_SHIFT_MAX / STORE_ROLLUP_STEP + 1u) /* [i]: of 2^(2 i) ns */
#define WHOLE_SHIFT (STORE_ROLLUP_STEP * (SIZES - 1u))	 /* of the one for a whole track */
#define PARTS_MIN 3u					 /* a rollup of fewer parts is not worth its page */

void store_rollup_maker_fini(struct store_rollup_maker *maker)
{
	store_context_sums_fini(&maker->made);
	store_context_sums_fini(&maker->part);
	store_series_set_fini(&maker->series);
	store_series_set_fini(&maker->series_part);
	store_bytes_fini(&maker->series_bytes);
	if (maker->batch)
		store_batch_fini(maker->batch);
	free(maker->batch);
	store_bytes_fini(&maker->bytes);
	*maker = (struct store_rollup_maker){0};
}

/* The smallest size whose rollups sum up the chunk. */
static unsigned size_over(const struct store_key_chunk *key)
{
	return key->shift ? (key->shift + STORE_ROLLUP_STEP - 1) / STORE_ROLLUP_STEP : 1;
}

/* ---- putting ---- */

/* | 2 | size | series | */
static void put_series(struct store_rollup_maker *maker)
{
	maker->series_bytes.size = 0;
	store_series_set_put(&maker->series, &maker->series_bytes);
	store_bytes_put(&maker->bytes, &(uint8_t){STORE_SERIES_MARK}, 1);
	store_bytes_put_varint(&maker->bytes, maker->series_bytes.size);
	store_bytes_put(&maker->bytes, maker->series_bytes.data, maker->series_bytes.size);
	maker->bytes.failed |= maker->series_bytes.failed;
}

int store_rollup_put_made(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT])
{
	uint8_t key_bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof key_bytes, key_bytes}, value;

	store_key_rollup_put(key_bytes, key);
	store_bytes_begin_sealed(&maker->bytes);
	if (key->kind == STORE_VALUES)
		put_series(maker);
	store_context_sums_put(&maker->made, &maker->bytes);
	store_bytes_seal(&maker->bytes, key_bytes, sizeof key_bytes);
	if (maker->bytes.failed)
		return ENOMEM;
	value = (MDB_val){maker->bytes.size, maker->bytes.data};
	return mdb_put(txn, dbi[STORE_TREE_ROLL], &mdb_key, &value, 0);
}

/* ---- what is in the transaction ---- */

struct transaction {
	MDB_cursor *chunks, *rolls;
};

static int seek(void *own, bool is_roll, const uint8_t *key, size_t key_size, struct store_slice *found,
	struct store_slice *value, struct error *error)
{
	struct transaction *transaction = own;
	MDB_val mdb_key = {key_size, (void *)key}, mdb_value;
	int rc = mdb_cursor_get(
		is_roll ? transaction->rolls : transaction->chunks, &mdb_key, &mdb_value, MDB_SET_RANGE);

	(void)error;
	if (rc)
		return rc == MDB_NOTFOUND ? 0 : -ERROR_IO;
	*found = (struct store_slice){mdb_key.mv_data, mdb_key.mv_size};
	*value = (struct store_slice){mdb_value.mv_data, mdb_value.mv_size};
	return 1;
}

static int open_cursors(struct transaction *transaction, MDB_txn *txn, const MDB_dbi dbi[STORE_TREE_COUNT])
{
	int rc = mdb_cursor_open(txn, dbi[STORE_TREE_CHUNK], &transaction->chunks);

	if (rc)
		return rc;
	rc = mdb_cursor_open(txn, dbi[STORE_TREE_ROLL], &transaction->rolls);
	if (rc)
		mdb_cursor_close(transaction->chunks);
	return rc;
}

static void close_cursors(struct transaction *transaction)
{
	mdb_cursor_close(transaction->chunks);
	mdb_cursor_close(transaction->rolls);
}

static bool maker_prepare(struct store_rollup_maker *maker)
{
	if (!maker->batch)
		maker->batch = calloc(1, sizeof *maker->batch);
	return maker->batch != NULL;
}

/* ---- making one ---- */

static int add_roll(struct store_rollup_maker *maker, const struct store_rollup_walk_part *part)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input, series;

	store_key_rollup_put(key, &part->roll);
	input = store_input_sealed(part->value, key, sizeof key);
	if (part->roll.kind == STORE_VALUES && store_series_take(&input, &series)) {
		store_series_set_clear(&maker->series_part);
		store_series_set_get(&maker->series_part, &series, maker->metrics, UINT32_MAX);
		store_series_set_join(&maker->series, &maker->series_part);
		input.bad |= series.bad;
	}
	store_context_sums_clear(&maker->part);
	store_context_sums_get(&maker->part, &input, UINT32_MAX, UINT32_MAX,
		1u << STORE_CONTEXT_SUMS_WEIGHT | 1u << STORE_CONTEXT_SUMS_TIME);
	if (input.bad)
		return MDB_CORRUPTED;
	store_context_sums_join(&maker->made, &maker->part);
	return 0;
}

/* Of values, whatever their contexts. */
static int add_series(struct store_rollup_maker *maker, const struct store_chunk *chunk)
{
	int rc = store_chunk_decode(chunk, STORE_BEGIN | STORE_AMOUNT | STORE_WHAT, maker->batch, NULL);

	if (rc)
		return rc;
	store_series_set_clear(&maker->series_part);
	store_series_set_add(&maker->series_part, maker->metrics, maker->batch, 0, maker->batch->count);
	store_series_set_join(&maker->series, &maker->series_part);
	return 0;
}

static int add_chunk(struct store_rollup_maker *maker, const struct store_rollup_walk_part *part)
{
	struct store_batch *batch = maker->batch;
	struct store_chunk chunk;
	int rc;

	if (!store_chunk_peek(&chunk, part->bytes))
		return MDB_CORRUPTED;
	if (part->key.track == STORE_VALUES) {
		rc = add_series(maker, &chunk);
		if (rc < 0)
			return rc == -ERROR_IO ? ENOMEM : MDB_CORRUPTED;
		if (store_chunk_is_contextless(&chunk))
			return 0;
	}
	store_context_sums_clear(&maker->part);
	rc = store_chunk_sums(&chunk, batch, &maker->part, NULL);
	rc = rc ? rc : store_chunk_sum_rows(&chunk, batch, &maker->part, NULL);
	if (rc < 0)
		return rc == -ERROR_IO ? ENOMEM : MDB_CORRUPTED;
	store_context_sums_join(&maker->made, &maker->part);
	return 0;
}

/* Counted before anything is decoded. */
static int count_parts(
	const struct store_rollup_source *source, const struct store_key_rollup *key, unsigned most)
{
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	int rc = 1;
	unsigned count = 0;

	store_rollup_walk_init_inner(&walk, source, key);
	while (count < most && (rc = store_rollup_walk_next(&walk, &part, NULL)) == 1)
		count++;
	return rc < 0 ? rc : (int)count;
}

static int make(struct store_rollup_maker *maker, const struct store_rollup_source *source,
	const struct store_key_rollup *key)
{
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	int rc;

	store_context_sums_clear(&maker->made);
	store_series_set_clear(&maker->series);
	store_rollup_walk_init_inner(&walk, source, key);
	while ((rc = store_rollup_walk_next(&walk, &part, NULL)) == 1) {
		rc = part.is_roll ? add_roll(maker, &part) : add_chunk(maker, &part);
		if (rc)
			return rc;
	}
	if (rc < 0)
		return MDB_CORRUPTED;
	return maker->made.failed || maker->part.failed || maker->series.failed || maker->series_part.failed
		       ? ENOMEM
		       : 0;
}

int store_rollup_make(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT])
{
	struct transaction transaction;
	const struct store_rollup_source source = {.own = &transaction, .seek = seek};
	int rc = maker_prepare(maker) ? open_cursors(&transaction, txn, dbi) : ENOMEM;

	if (rc)
		return rc;
	rc = make(maker, &source, key);
	close_cursors(&transaction);
	return rc;
}

/* ---- which ones ---- */

/* A pass over a track. */
struct pass {
	struct store_rollup_maker *maker;
	struct store_rollup_source source;
	struct transaction transaction;
	MDB_txn *txn;
	const MDB_dbi *dbi;
	const struct store_rollup_front *front;
	uint32_t stream;
	uint8_t track;
	bool is_end;
	struct {
		uint64_t begin_ns;
		bool is_open;  /* contains a chunk of the pass */
		bool is_stale; /* one of its parts has been made since */
	} sizes[SIZES];
};

/* Must the track be gone through from its begin? */
static bool is_again(const struct pass *pass)
{
	return pass->is_end && (pass->front->is_torn || pass->front->was_torn);
}

static bool is_made(struct pass *pass, const struct store_key_rollup *key)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes}, value;

	store_key_rollup_put(bytes, key);
	return is_again(pass) && mdb_get(pass->txn, pass->dbi[STORE_TREE_ROLL], &mdb_key, &value) == 0;
}

/* Of all that hold the whole track only the largest is made: it is what a question about a stream asks for.
 */
static bool is_idle(const struct pass *pass, unsigned shift)
{
	return shift < WHOLE_SHIFT && pass->front->least_ns >> shift == pass->front->front_ns >> shift;
}

static int finish_size(struct pass *pass, unsigned size)
{
	struct store_key_rollup key = {.begin_ns = pass->sizes[size].begin_ns,
		.stream = pass->stream,
		.kind = pass->track,
		.shift = (uint8_t)(size * STORE_ROLLUP_STEP)};
	const bool is_stale = pass->sizes[size].is_stale;
	unsigned least = key.shift == WHOLE_SHIFT ? 2 : PARTS_MIN;
	int parts;

	pass->sizes[size].is_open = pass->sizes[size].is_stale = false;
	if (is_idle(pass, key.shift) || (!is_stale && is_made(pass, &key)))
		return 0;
	parts = count_parts(&pass->source, &key, least);
	if (parts < 0)
		return MDB_CORRUPTED;
	if ((unsigned)parts < least)
		return 0;
	/* A larger one may have been made of other parts: sums of doubles, and whether values are in order,
	 * depend on how they are put together. */
	for (unsigned larger = size + 1; larger < SIZES; larger++)
		pass->sizes[larger].is_stale = true;
	parts = make(pass->maker, &pass->source, &key);
	return parts ? parts : store_rollup_put_made(pass->maker, &key, pass->txn, pass->dbi);
}

/* The track has reached this time: finishes rollups that end by then. */
static int finish_until(struct pass *pass, uint64_t time_ns)
{
	int rc = 0;

	for (unsigned size = 1; size < SIZES && !rc; size++)
		if (pass->sizes[size].is_open &&
			(store_rollup_last(pass->sizes[size].begin_ns, size * STORE_ROLLUP_STEP) < time_ns ||
				time_ns == UINT64_MAX))
			rc = finish_size(pass, size);
	return rc;
}

static void enter(struct pass *pass, const struct store_key_chunk *key)
{
	for (unsigned size = size_over(key); size < SIZES; size++) {
		pass->sizes[size].begin_ns = store_bucket_of(key->bucket_ns, size * STORE_ROLLUP_STEP);
		pass->sizes[size].is_open = true;
	}
}

/* The chunk whose key follows; 0: none of the track. */
static int next_chunk(struct pass *pass, struct store_key_chunk *key)
{
	const uint32_t stream = key->stream;
	const uint8_t track = key->track;
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	struct store_slice found, value;
	int rc;

	store_key_chunk_put(bytes, key);
	rc = seek(&pass->transaction, false, bytes, sizeof bytes, &found, &value, NULL);
	if (rc != 1)
		return rc;
	if (!store_key_chunk_get(key, found.bytes, found.size))
		return -ERROR_RUN;
	return key->stream == stream && key->track == track;
}

static int run_pass(struct pass *pass, uint64_t until_ns)
{
	struct store_key_chunk key = {.bucket_ns = is_again(pass) ? 0 : pass->front->rolled_ns,
		.stream = pass->stream,
		.track = pass->track,
		.shift = STORE_SHIFT_MAX};
	int found, rc = 0;

	while ((found = next_chunk(pass, &key)) == 1 && key.bucket_ns < until_ns) {
		rc = finish_until(pass, key.bucket_ns);
		if (rc)
			return rc;
		enter(pass, &key);
		/* Skips the rest of the bucket: its other sequences are in the same rollups. */
		if (key.sequence < UINT16_MAX) {
			key.sequence = UINT16_MAX;
		} else if (key.shift) {
			key.shift--;
			key.sequence = 0;
		} else {
			key.bucket_ns++;
			key.shift = STORE_SHIFT_MAX;
			key.sequence = 0;
		}
	}
	return found < 0 ? MDB_CORRUPTED : finish_until(pass, until_ns);
}

int store_rollup_put(struct store_rollup_maker *maker, const struct store_rollup_front *front,
	uint32_t stream, enum store_track track, MDB_txn *txn, const MDB_dbi dbi[STORE_TREE_COUNT],
	bool is_end)
{
	struct pass pass = {.maker = maker,
		.txn = txn,
		.dbi = dbi,
		.front = front,
		.stream = stream,
		.track = (uint8_t)track,
		.is_end = is_end};
	int rc;

	if (!front->is_begun || (!is_end && front->front_ns <= front->rolled_ns))
		return 0;
	rc = maker_prepare(maker) ? open_cursors(&pass.transaction, txn, dbi) : ENOMEM;
	if (rc)
		return rc;
	pass.source = (struct store_rollup_source){.own = &pass.transaction, .seek = seek};
	rc = run_pass(&pass, is_end ? UINT64_MAX : front->front_ns);
	close_cursors(&pass.transaction);
	return rc;
}

void store_rollup_front_committed(struct store_rollup_front *front)
{
	if (front->is_begun && front->front_ns > front->rolled_ns)
		front->rolled_ns = front->front_ns;
	front->is_torn |= front->was_torn;
	front->was_torn = false;
}

int store_rollup_tear(
	struct store_rollup_front *front, MDB_txn *txn, MDB_dbi rolls, const struct store_key_chunk *key)
{
	int rc = 0;

	if (key->track == STORE_SPANS || key->bucket_ns >= front->rolled_ns)
		return 0;
	for (unsigned size = size_over(key); size < SIZES && !rc; size++) {
		const unsigned shift = size * STORE_ROLLUP_STEP;
		struct store_key_rollup roll = {.begin_ns = store_bucket_of(key->bucket_ns, shift),
			.stream = key->stream,
			.kind = key->track,
			.shift = (uint8_t)shift};
		uint8_t bytes[STORE_KEY_ROLL_BYTES];
		MDB_val mdb_key = {sizeof bytes, bytes};

		store_key_rollup_put(bytes, &roll);
		rc = mdb_del(txn, rolls, &mdb_key, NULL);
		if (rc == 0)
			front->was_torn = true;
		else if (rc == MDB_NOTFOUND)
			rc = 0;
	}
	return rc;
}
