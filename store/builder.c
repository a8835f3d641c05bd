/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - memory, order, closing and parking of the chunks that still take records.
 */
#include "store/builder.h"

#include <stdlib.h>

#include "store/reader.h"
#include "store/table.h"

#define BUILDER_FIRST 16u
#define BUILDER_LARGE 8192u
#define TRUST_BYTES ((size_t)32 << 20)
#define PARK_RECORDS 2048u /* fuller ones are closed instead of parked */

/* ---- memory ---- */

/* Which spares have that size; NULL: none are kept. */
static struct store_spares *spares_of(struct store_ingest *ingest, uint32_t capacity)
{
	if (capacity == STORE_CHUNK_RECORDS_MAX)
		return &ingest->spares[0];
	return capacity == BUILDER_LARGE ? &ingest->spares[1] : NULL;
}

static void records_free(struct store_ingest *ingest, struct store_builder *builder)
{
	struct store_spares *spares = spares_of(ingest, builder->capacity);

	if (!builder->records)
		return;
	ingest->raw_bytes -= builder->capacity * sizeof *builder->records;
	if (spares && spares->count < STORE_SPARES)
		spares->records[spares->count++] = builder->records;
	else
		free(builder->records);
	builder->records = NULL;
	builder->capacity = 0;
}

static struct store_record *records_grow(
	struct store_ingest *ingest, struct store_builder *builder, uint32_t capacity)
{
	struct store_spares *spares = spares_of(ingest, capacity);
	struct store_record *grown;

	if (!spares || !spares->count)
		return realloc(builder->records, capacity * sizeof *grown);
	grown = spares->records[--spares->count];
	if (builder->records)
		memcpy(grown, builder->records, builder->count * sizeof *grown);
	free(builder->records);
	return grown;
}

/* As many as the bucket before had are likely, which spares growing step by step. Where many streams live at
 * once, nobody's memory is taken on trust, but for what a builder that was closed has left. */
static uint32_t first_capacity(struct store_ingest *ingest, const struct store_builder *builder)
{
	uint32_t likely = builder->expected <= BUILDER_LARGE ? BUILDER_LARGE : STORE_CHUNK_RECORDS_MAX;

	if (builder->expected <= BUILDER_LARGE / 2 ||
		(ingest->raw_bytes >= TRUST_BYTES && !spares_of(ingest, likely)->count))
		return BUILDER_FIRST;
	return likely;
}

bool store_builder_reserve(struct store_ingest *ingest, struct store_builder *builder, uint32_t count)
{
	uint32_t capacity = builder->capacity ? builder->capacity : first_capacity(ingest, builder);
	struct store_record *grown;

	if (count <= builder->capacity)
		return true;
	while (capacity < count)
		capacity *= 2;
	if (capacity > STORE_CHUNK_RECORDS_MAX)
		capacity = STORE_CHUNK_RECORDS_MAX;
	grown = records_grow(ingest, builder, capacity);
	if (!grown) {
		ingest->failed = true;
		return false;
	}
	ingest->raw_bytes += (capacity - builder->capacity) * sizeof *grown;
	builder->records = grown;
	builder->capacity = capacity;
	return true;
}

/* ---- order within a chunk ---- */

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

/* Spans come in the order of their ends, so most are a few places off: insertion, until that gets dear. */
static void sort_records(struct store_builder *builder)
{
	struct store_record *records = builder->records;
	uint64_t moves = 0;

	for (uint32_t i = 1; i < builder->count && moves < 16u * (uint64_t)builder->count; i++) {
		struct store_record record = records[i];
		uint32_t at = i;

		while (at > 0 && store_record_compare(&records[at - 1], &record) > 0 &&
			moves < 16u * (uint64_t)builder->count) {
			records[at] = records[at - 1];
			at--;
			moves++;
		}
		records[at] = record;
	}
	if (moves >= 16u * (uint64_t)builder->count)
		qsort(records, builder->count, sizeof *records, compare_records);
	builder->is_unsorted = false;
}

/* What of the records the total does not have, which are those behind the others: before they are sorted. */
static void count_rest(struct store_ingest *ingest, struct store_builder *builder)
{
	if (builder->counted)
		store_total_add(ingest->total, builder->records + builder->counted,
			builder->count - builder->counted);
}

/* Of a chunk that is new to it the total takes the sums. */
static void count_all(struct store_ingest *ingest, struct store_builder *builder)
{
	const struct store_chunk_coder *coder = &ingest->coder;

	if (!builder->counted && coder->summed)
		store_total_add_sums(ingest->total, builder->records->what, coder->entries, coder->summed);
	else if (!builder->counted)
		store_total_add(ingest->total, builder->records, builder->count);
	builder->counted = builder->count;
}

void store_builder_encode(struct store_ingest *ingest, struct store_builder *builder, struct store_bytes *out)
{
	bool is_counted = ingest->total && builder->key.track == STORE_SAMPLES;

	if (is_counted)
		count_rest(ingest, builder);
	if (builder->is_unsorted)
		sort_records(builder);
	store_chunk_encode_surveyed(&ingest->coder, &builder->key, builder->records, builder->count,
		builder->surveyed == builder->count ? &builder->survey : NULL, out);
	ingest->failed |= out->failed;
	if (is_counted && !out->failed)
		count_all(ingest, builder);
}

/* ---- closing ---- */

void store_builder_remove(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	track->expected = builder->count;
	records_free(ingest, builder);
	*builder = track->builders[--track->count];
}

void store_builder_close(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	struct store_closed_chunk *closed;

	if (builder->fresh) {
		closed = store_table_add((void **)&ingest->closed, &ingest->closed_count,
			&ingest->closed_capacity, sizeof *closed);
		if (closed) {
			*closed = (struct store_closed_chunk){.key = builder->key,
				.is_stored = builder->is_stored,
				.at = ingest->closed_bytes.size};
			store_builder_encode(ingest, builder, &ingest->closed_bytes);
			closed->size = ingest->closed_bytes.size - closed->at;
		}
		ingest->failed |= !closed;
		ingest->fresh_bytes -= builder->fresh * sizeof *builder->records;
	}
	store_builder_remove(ingest, track, builder);
}

/* ---- parked builders ---- */

static bool take_batch(
	struct store_ingest *ingest, struct store_builder *builder, const struct store_batch *batch)
{
	uint32_t count = builder->count;

	if (batch->count != count)
		return false;
	builder->count = 0;
	if (!store_builder_reserve(ingest, builder, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		builder->records[i] = store_batch_record(batch, i);
	builder->count = count;
	return true;
}

static bool fetch_chunk(struct store_ingest *ingest, struct store_builder *builder, MDB_txn *txn)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val key = {sizeof bytes, bytes}, value;
	struct store_chunk chunk;
	struct store_batch batch;
	bool is_there;

	store_key_chunk_put(bytes, &builder->key);
	store_batch_init(&batch);
	is_there = mdb_get(txn, ingest->dbi[STORE_TREE_CHUNK], &key, &value) == 0 &&
		   store_chunk_peek(&chunk, (struct store_slice){value.mv_data, value.mv_size}) &&
		   store_chunk_decode(&chunk, STORE_ALL, &batch, NULL) == 0 &&
		   take_batch(ingest, builder, &batch);
	store_batch_fini(&batch);
	return is_there;
}

void store_builder_unpark(struct store_ingest *ingest, struct store_builder *builder)
{
	MDB_txn *txn;
	bool is_there = false;

	if (mdb_txn_begin(ingest->env, NULL, MDB_RDONLY, &txn) == 0) {
		is_there = fetch_chunk(ingest, builder, txn);
		mdb_txn_abort(txn);
	}
	if (is_there)
		return;
	builder->is_stored = false;
	builder->count = builder->counted = 0;
	builder->surveyed = 0;
	builder->survey = (struct store_survey){.end_ns = 0};
}

void store_builder_park(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	if (builder->count >= PARK_RECORDS)
		store_builder_remove(ingest, track, builder);
	else
		records_free(ingest, builder);
}
