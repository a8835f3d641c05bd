/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.c - see retention.h: samples and the rollups that stand for them, spans and values, one stream
 * after the other.
 */
#include "store/write/retention.h"

#include <errno.h>
#include <stdlib.h>

#include "store/ingest/builder.h"
#include "store/read/reader.h"
#include "store/rollup/rollup_walk.h"
#include "store/states/state_rollup.h"

#define UNITS 8u	     /* buckets in what is kept, at least */
#define SHIFT_LEAST 12u	     /* of a bucket */
#define THIN_SHIFT_WHOLE 62u /* of the largest rollups */

struct retention_pending {
	uint64_t dropped[STORE_TRACK_COUNT];
	uint64_t thinned_ns; /* of the stream, before this transaction */
	uint64_t joined_ns;  /* end of the last rollup that replaces dropped samples */
};

/* One pass over a track. */
struct retention_pass {
	struct store_retention *retention;
	struct store_ingest *ingest;
	const struct store_metrics *metrics;
	MDB_txn *txn;
	MDB_cursor *cursor;
	MDB_val value; /* of the current chunk */
	uint32_t stream;
	enum store_track track;
};

#define AGES 4u /* times what is kept, until rollups are joined for the first time */

/* ---- the keys of a track ---- */

static void retention_step(struct store_key_chunk *key)
{
	if (key->sequence < UINT16_MAX) {
		key->sequence++;
		return;
	}
	key->sequence = 0;
	if (key->shift) {
		key->shift--;
		return;
	}
	key->bucket_ns++;
	key->shift = STORE_SHIFT_MAX;
}

/* The chunk at or after the key, and its value; MDB_NOTFOUND: the track has no more that begin before the
 * time. */
static int retention_find_chunk(struct retention_pass *pass, struct store_key_chunk *key, uint64_t end_ns)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val found = {sizeof bytes, bytes};
	int rc;

	store_key_chunk_put(bytes, key);
	rc = mdb_cursor_get(pass->cursor, &found, &pass->value, MDB_SET_RANGE);
	if (rc)
		return rc;
	if (!store_key_chunk_get(key, found.mv_data, found.mv_size))
		return MDB_CORRUPTED;
	return key->stream == pass->stream && key->track == pass->track && key->bucket_ns < end_ns
		       ? 0
		       : MDB_NOTFOUND;
}

/* Reads the current chunk's header; or deletes the chunk. */
static bool retention_peek(const struct retention_pass *pass, struct store_chunk *chunk)
{
	return store_chunk_peek(chunk, (struct store_slice){pass->value.mv_data, pass->value.mv_size});
}

/* The lowest key of the track from that time on; the next higher key. */
static struct store_key_chunk retention_first_key(const struct retention_pass *pass, uint64_t from_ns)
{
	return (struct store_key_chunk){.bucket_ns = from_ns,
		.stream = pass->stream,
		.track = (uint8_t)pass->track,
		.shift = STORE_SHIFT_MAX};
}

static void retention_count_dropped(struct retention_pass *pass, uint64_t count)
{
	pass->retention->pending[pass->stream].dropped[pass->track] += count;
}

static int retention_drop_chunk(struct retention_pass *pass)
{
	struct store_chunk chunk;

	if (!retention_peek(pass, &chunk))
		return MDB_CORRUPTED;
	retention_count_dropped(pass, chunk.count);
	return mdb_cursor_del(pass->cursor, 0);
}

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
	if (store_rollup_last(block->begin_ns, block->shift) >=
		pass->retention->pending[pass->stream].joined_ns)
		pass->retention->pending[pass->stream].joined_ns =
			store_rollup_last(block->begin_ns, block->shift) + 1;
	rc = store_rollup_put_made(&ingest->rolls, block, pass->txn, ingest->dbi);
	rc = rc ? rc : delete_chunks(pass, block);
	return rc ? rc : delete_inner(pass, block);
}

/* Makes rollups of the stream's samples. */
static int retention_samples(struct retention_pass *pass)
{
	struct store_key_chunk key = retention_first_key(pass, 0);
	int rc;

	while ((rc = retention_find_chunk(pass, &key, pass->retention->wanted_ns)) == 0) {
		unsigned shift = (key.shift + STORE_ROLLUP_STEP - 1) / STORE_ROLLUP_STEP * STORE_ROLLUP_STEP;
		struct store_key_rollup block = {.stream = pass->stream, .kind = STORE_SAMPLES};
		uint64_t last_ns;

		block.shift = (uint8_t)(shift > pass->retention->shift ? shift : pass->retention->shift);
		block.begin_ns = store_bucket_of(key.bucket_ns, block.shift);
		last_ns = store_rollup_last(block.begin_ns, block.shift);
		if (block.shift > THIN_SHIFT_WHOLE || last_ns >= pass->retention->wanted_ns) {
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
static uint64_t join_until(const struct store_retention *retention, unsigned shift)
{
	unsigned grown = shift > retention->shift ? shift - retention->shift : 0;
	uint64_t age_ns = retention->keep_ns * AGES;

	if (grown >= 64 || age_ns << grown >> grown != age_ns || age_ns << grown > retention->wanted_ns)
		return 0;
	return retention->wanted_ns - (age_ns << grown);
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

	while ((rc = find_roll(pass, &key, kind)) == 0 && key.begin_ns < pass->retention->wanted_ns) {
		struct store_key_rollup block = key;

		block.shift = (uint8_t)(key.shift + step);
		block.begin_ns = block.shift <= shift_most ? store_bucket_of(key.begin_ns, block.shift) : 0;
		if (block.shift <= shift_most && store_rollup_last(block.begin_ns, block.shift) <
							 join_until(pass->retention, key.shift)) {
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

/* Joins the stream's old rollups into larger ones. */
static int retention_join(struct retention_pass *pass)
{
	int rc;

	pass->track = STORE_SAMPLES;
	rc = join_rolls(pass, STORE_SAMPLES, STORE_ROLLUP_STEP, THIN_SHIFT_WHOLE);
	return rc ? rc
		  : join_rolls(pass, STORE_ROLLUP_STATES, STORE_STATE_ROLLUP_STEP,
			    STORE_STATE_ROLLUP_STEP * (STORE_STATE_ROLLUP_SIZES - 1));
}

void store_retention_fini(struct store_retention *retention)
{
	free(retention->pending);
	*retention = (struct store_retention){0};
}

void store_retention_ask(struct store_retention *retention, uint64_t now_ns, uint64_t keep_ns)
{
	uint64_t until_ns;

	if (!retention->shift) {
		retention->shift = SHIFT_LEAST;
		while (retention->shift + STORE_ROLLUP_STEP < THIN_SHIFT_WHOLE &&
			(uint64_t)UNITS << (retention->shift + STORE_ROLLUP_STEP) <= keep_ns)
			retention->shift += STORE_ROLLUP_STEP;
	}
	retention->keep_ns = keep_ns;
	until_ns = now_ns > keep_ns ? store_bucket_of(now_ns - keep_ns, retention->shift) : 0;
	if (until_ns > retention->wanted_ns)
		retention->wanted_ns = until_ns;
}

/* True for records about the stream, not about its work. */
static bool is_kept(uint32_t op)
{
	return op == STORE_OP_MONITORED || op == STORE_OP_UNMONITORED || op == STORE_OP_LOST ||
	       op == STORE_OP_MARK || op == STORE_OP_THINNED;
}

bool store_retention_is_late(
	const struct store_retention *retention, enum store_track track, const struct store_record *record)
{
	if (track == STORE_SPANS)
		return record->end_ns < retention->until_ns && !is_kept(record->what);
	return record->begin_ns < retention->until_ns;
}

/* ---- spans and values ---- */

static int put_left(struct retention_pass *pass, const struct store_key_chunk *key,
	const struct store_record *left, unsigned count)
{
	struct store_ingest *ingest = pass->ingest;
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val mdb_key = {sizeof bytes, bytes}, value;

	ingest->scratch.size = 0;
	store_chunk_encode(&ingest->coder, key, left, count, &ingest->scratch);
	if (ingest->scratch.failed)
		return ENOMEM;
	store_key_chunk_put(bytes, key);
	value = (MDB_val){ingest->scratch.size, ingest->scratch.data};
	return mdb_put(pass->txn, ingest->dbi[STORE_TREE_CHUNK], &mdb_key, &value, 0);
}

static int retention_spans_of(
	struct retention_pass *pass, const struct store_key_chunk *key, const struct store_batch *batch)
{
	struct store_record *left = malloc(batch->count * sizeof *left);
	unsigned count = 0;
	int rc = 0;

	if (!left)
		return ENOMEM;
	for (size_t i = 0; i < batch->count; i++)
		if (is_kept(batch->what[i]))
			left[count++] = store_batch_record(batch, i);
	if (!count) {
		rc = retention_drop_chunk(pass);
	} else if (count < batch->count) {
		retention_count_dropped(pass, batch->count - count);
		rc = put_left(pass, key, left, count);
	}
	free(left);
	return rc;
}

static int retention_chunk(struct retention_pass *pass, const struct store_key_chunk *key)
{
	struct store_chunk chunk;
	struct store_batch batch;
	int rc;

	if (!retention_peek(pass, &chunk))
		return MDB_CORRUPTED;
	if (store_rollup_last(key->bucket_ns, key->shift) >= pass->retention->wanted_ns ||
		chunk.end_ns >= pass->retention->wanted_ns)
		return 0;
	if (pass->track == STORE_VALUES)
		return retention_drop_chunk(pass);
	store_batch_init(&batch);
	rc = store_chunk_decode(&chunk, STORE_ALL, &batch, NULL);
	rc = rc ? rc == -ERROR_IO ? ENOMEM : MDB_CORRUPTED : retention_spans_of(pass, key, &batch);
	store_batch_fini(&batch);
	return rc;
}

static int retention_chunks(struct retention_pass *pass)
{
	struct store_key_chunk key = retention_first_key(pass, 0);
	int rc;

	while ((rc = retention_find_chunk(pass, &key, pass->retention->wanted_ns)) == 0) {
		rc = retention_chunk(pass, &key);
		if (rc)
			return rc;
		retention_step(&key);
	}
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* ---- all streams ---- */

/* What a transaction that failed has noted is not so. */
static void take_back(struct store_retention *retention, struct store_stream *streams)
{
	for (uint32_t stream = 0; stream < retention->pending_count; stream++) {
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			streams[stream].dropped[track] -= retention->pending[stream].dropped[track];
		streams[stream].thinned_ns = retention->pending[stream].thinned_ns;
	}
	free(retention->pending);
	retention->pending = NULL;
	retention->pending_count = 0;
}

static void note(struct store_retention *retention, struct store_stream *stream,
	const struct retention_pending *pending)
{
	bool is_thinned = false;

	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		stream->dropped[track] += pending->dropped[track];
		is_thinned |= pending->dropped[track] != 0;
	}
	if (is_thinned)
		stream->thinned_ns = retention->wanted_ns;
	if (pending->joined_ns > stream->thinned_ns)
		stream->thinned_ns = pending->joined_ns;
}

static bool has_records(const struct store_stream *stream, unsigned track)
{
	return stream->count[track] > stream->dropped[track];
}

int store_retention_put(struct store_retention *retention, struct store_ingest *ingest,
	struct store_stream *streams, uint32_t stream_count, const struct store_metrics *metrics,
	MDB_txn *txn)
{
	struct retention_pass pass = {
		.retention = retention, .ingest = ingest, .metrics = metrics, .txn = txn};
	int rc;

	take_back(retention, streams);
	if (!store_retention_is_due(retention) || !stream_count)
		return 0;
	retention->pending = calloc(stream_count, sizeof *retention->pending);
	if (!retention->pending)
		return ENOMEM;
	retention->pending_count = stream_count;
	for (uint32_t stream = 0; stream < stream_count; stream++)
		retention->pending[stream].thinned_ns = streams[stream].thinned_ns;
	rc = mdb_cursor_open(txn, ingest->dbi[STORE_TREE_CHUNK], &pass.cursor);
	if (rc)
		return rc;
	for (uint32_t stream = 0; stream < stream_count && !rc; stream++) {
		pass.stream = stream;
		for (unsigned track = 0; track < STORE_TRACK_COUNT && !rc; track++) {
			pass.track = (enum store_track)track;
			if (has_records(&streams[stream], track))
				rc = track == STORE_SAMPLES ? retention_samples(&pass)
							    : retention_chunks(&pass);
		}
		rc = rc ? rc : retention_join(&pass);
	}
	mdb_cursor_close(pass.cursor);
	/* Noted whatever happened: the next attempt takes back as much. */
	for (uint32_t stream = 0; stream < stream_count; stream++)
		note(retention, &streams[stream], &retention->pending[stream]);
	return rc;
}

static void forget_builders(
	const struct store_retention *retention, struct store_ingest *ingest, struct store_track_state *track)
{
	for (unsigned i = track->count; i-- > 0;) {
		struct store_builder *builder = &track->builders[i];

		if (store_rollup_last(builder->key.bucket_ns, builder->key.shift) < retention->until_ns)
			store_builder_remove(ingest, track, builder);
	}
}

void store_retention_committed(struct store_retention *retention, struct store_ingest *ingest)
{
	if (!store_retention_is_due(retention))
		return;
	free(retention->pending);
	retention->pending = NULL;
	retention->pending_count = 0;
	retention->until_ns = retention->wanted_ns;
	for (size_t i = 0; i < ingest->track_count; i++)
		if (ingest->tracks[i])
			forget_builders(retention, ingest, ingest->tracks[i]);
}
