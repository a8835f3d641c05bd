/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest_put.c - puts chunks into a transaction, each under the next free sequence of its bucket, and
 * updates the builders after its success.
 */
#include <errno.h>

#include "store/ingest/builder.h"

#define IDLE_TICKS 2u /* commits without a record, until a builder is parked */
#define HELD_BYTES_MAX ((size_t)256 << 20)
#define WORTH_BYTES 7u /* of full chunks, for each record of others: twice what a record takes */

/* The first sequence that the bucket has not used; EOVERFLOW when it has used all. */
static int next_sequence(MDB_cursor *cursor, struct store_key_chunk *chunk)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val key = {sizeof bytes, bytes}, value;
	struct store_key_chunk last;
	int rc;

	chunk->sequence = UINT16_MAX;
	store_key_chunk_put(bytes, chunk);
	chunk->sequence = 0;
	rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	if (rc == 0 && key.mv_size == sizeof bytes && memcmp(key.mv_data, bytes, sizeof bytes) == 0)
		return EOVERFLOW;
	rc = mdb_cursor_get(cursor, &key, &value, rc == 0 ? MDB_PREV : MDB_LAST);
	if (rc == MDB_NOTFOUND)
		return 0;
	if (rc == 0 && store_key_chunk_get(&last, key.mv_data, key.mv_size) &&
		memcmp(key.mv_data, bytes, sizeof bytes - sizeof last.sequence) == 0)
		chunk->sequence = (uint16_t)(last.sequence + 1);
	return rc;
}

/* A key is given in each transaction anew until one has succeeded. */
static int put_chunk(struct store_ingest *ingest, MDB_cursor *cursor, struct store_key_chunk *chunk,
	bool is_stored, void *bytes, size_t size)
{
	uint8_t key_bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val key = {sizeof key_bytes, key_bytes}, value = {size, bytes};
	struct store_track_state *track =
		ingest->tracks[(size_t)chunk->stream * STORE_TRACK_COUNT + chunk->track];
	int rc = is_stored ? 0 : next_sequence(cursor, chunk);

	if (!rc)
		rc = store_rollup_tear(
			&track->front, mdb_cursor_txn(cursor), ingest->dbi[STORE_TREE_ROLL], chunk);
	if (rc)
		return rc;
	store_key_chunk_put(key_bytes, chunk);
	return mdb_put(mdb_cursor_txn(cursor), ingest->dbi[STORE_TREE_CHUNK], &key, &value, 0);
}

static int put_builders(struct store_ingest *ingest, struct store_track_state *track, MDB_cursor *cursor)
{
	int rc = 0;

	for (unsigned i = 0; i < track->count && !rc; i++) {
		struct store_builder *builder = &track->builders[i];

		if (!builder->fresh)
			continue;
		ingest->scratch.size = 0;
		store_builder_encode(ingest, builder, &ingest->scratch);
		if (ingest->failed)
			return ENOMEM;
		rc = put_chunk(ingest, cursor, &builder->key, builder->is_stored, ingest->scratch.data,
			ingest->scratch.size);
	}
	return rc;
}

static int put_chunks(struct store_ingest *ingest, MDB_txn *txn)
{
	MDB_cursor *cursor;
	int rc;

	if (!ingest->closed_count && !ingest->active_count)
		return 0;
	rc = mdb_cursor_open(txn, ingest->dbi[STORE_TREE_CHUNK], &cursor);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < ingest->closed_count && !rc; i++) {
		struct store_closed_chunk *closed = &ingest->closed[i];

		rc = put_chunk(ingest, cursor, &closed->key, closed->is_stored,
			ingest->closed_bytes.data + closed->at, closed->size);
	}
	for (uint32_t i = 0; i < ingest->active_count && !rc; i++)
		rc = put_builders(ingest, ingest->active[i], cursor);
	mdb_cursor_close(cursor);
	return rc;
}

/* Values that a flight recording drops are gone: no rollup speaks for them. */
static bool is_rolled(const struct store_ingest *ingest, uint8_t track)
{
	return track == STORE_SAMPLES ||
	       (track == STORE_VALUES && !ingest->shift_most && ingest->rolls.metrics);
}

static int put_rolls(struct store_ingest *ingest, MDB_txn *txn, bool is_end)
{
	size_t count = is_end ? ingest->track_count : ingest->active_count;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		const struct store_track_state *track = is_end ? ingest->tracks[i] : ingest->active[i];

		if (track && is_rolled(ingest, track->track))
			rc = store_rollup_put(&ingest->rolls, &track->front, track->stream, track->track, txn,
				ingest->dbi, is_end);
	}
	return rc;
}

/* Nothing more comes: values are kept by metric. */
static void close_values(struct store_ingest *ingest)
{
	for (uint32_t i = 0; i < ingest->active_count; i++) {
		struct store_track_state *track = ingest->active[i];

		while (track->track == STORE_VALUES && track->count)
			store_builder_close(ingest, track, &track->builders[track->count - 1]);
	}
}

int store_ingest_put(struct store_ingest *ingest, MDB_txn *txn, bool is_end)
{
	int rc;

	if (is_end)
		close_values(ingest);
	rc = ingest->failed ? ENOMEM : put_chunks(ingest, txn);

	return rc ? rc : put_rolls(ingest, txn, is_end);
}

/* False: nothing of the track is in memory any more. */
static bool settle_track(struct store_ingest *ingest, struct store_track_state *track)
{
	const size_t held_bytes = ingest->raw_bytes + store_chunk_parked_pool_bytes(&ingest->pool);
	bool has_records = false;

	for (unsigned i = track->count; i-- > 0;) {
		struct store_builder *builder = &track->builders[i];

		builder->is_stored |= builder->fresh != 0;
		builder->fresh = 0;
		store_builder_stand(ingest, builder);
		if (builder->records &&
			(ingest->tick - builder->used >= IDLE_TICKS || held_bytes > HELD_BYTES_MAX))
			store_builder_park(ingest, track, builder);
		else
			has_records |= builder->records != NULL;
	}
	return has_records;
}

void store_ingest_committed(struct store_ingest *ingest)
{
	uint32_t kept = 0;

	ingest->tick++;
	ingest->closed_count = 0;
	ingest->closed_bytes.size = 0;
	ingest->fresh_bytes = 0;
	for (uint32_t i = 0; i < ingest->active_count; i++) {
		struct store_track_state *track = ingest->active[i];

		store_rollup_front_committed(&track->front);
		track->is_active = settle_track(ingest, track);
		if (track->is_active)
			ingest->active[kept++] = track;
	}
	ingest->active_count = kept;
	store_chunk_parked_pool_settle(&ingest->pool);
}

size_t store_ingest_pending_bytes(const struct store_ingest *ingest)
{
	return ingest->closed_bytes.size + ingest->fresh_bytes;
}

/* Each commit with new records writes an open chunk again as a whole, and keeps it in memory: so a commit is
 * early only when full chunks outweigh the open ones that it would write again. */
bool store_ingest_is_laden(const struct store_ingest *ingest, size_t least_bytes)
{
	return ingest->closed_bytes.size >= least_bytes &&
	       ingest->closed_bytes.size >= ingest->likely_records * WORTH_BYTES;
}
