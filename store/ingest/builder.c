/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - memory, order, closing and parking of the chunks that still receive records.
 */
#include "store/ingest/builder.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/read/reader.h"

#define BUILDER_FIRST 16u
#define BUILDER_LEAST 64u	    /* records that wait as they came, however many streams there are */
#define RAW_BYTES ((size_t)2 << 20) /* of those of all streams, as long as that leaves each so many */
#define SPARE_BYTES RAW_BYTES
#define SPLIT_LEAST 64u	   /* values of a metric that are worth a chunk of their own */
#define PARK_RECORDS 2048u /* fuller ones are closed instead of parked */
_Static_assert(BUILDER_FIRST << (STORE_SPARE_SIZES - 1) >= STORE_CHUNK_RECORDS_MAX &&
		       BUILDER_FIRST << (STORE_SPARE_SIZES - 2) < STORE_CHUNK_RECORDS_MAX,
	"a list for each size");

/* ---- memory ---- */

struct store_spare {
	struct store_spare *next;
};

void store_spares_fini(struct store_spares *spares)
{
	for (unsigned size = 0; size < STORE_SPARE_SIZES; size++)
		while (spares->lists[size]) {
			struct store_spare *spare = spares->lists[size];

			spares->lists[size] = spare->next;
			free(spare);
		}
	spares->bytes = 0;
}

/* The smallest size that holds so many records. */
static uint32_t capacity_for(uint32_t count)
{
	uint32_t capacity = BUILDER_FIRST;

	while (capacity < count)
		capacity *= 2;
	return capacity < STORE_CHUNK_RECORDS_MAX ? capacity : STORE_CHUNK_RECORDS_MAX;
}

static struct store_spare **spares_of(struct store_spares *spares, uint32_t capacity)
{
	return &spares->lists[31 - __builtin_clz((capacity - 1) / BUILDER_FIRST * 2 + 1)];
}

static void records_free(struct store_ingest *ingest, struct store_record *records, uint32_t capacity)
{
	const size_t bytes = capacity * sizeof *records;
	struct store_spare *spare = (struct store_spare *)records, **list;

	ingest->raw_bytes -= bytes;
	if (!records || ingest->spares.bytes + bytes > SPARE_BYTES) {
		free(records);
		return;
	}
	list = spares_of(&ingest->spares, capacity);
	spare->next = *list;
	*list = spare;
	ingest->spares.bytes += bytes;
}

static struct store_record *records_new(struct store_ingest *ingest, uint32_t capacity)
{
	const size_t bytes = capacity * sizeof(struct store_record);
	struct store_spare **list = spares_of(&ingest->spares, capacity), *spare = *list;

	if (spare) {
		*list = spare->next;
		ingest->spares.bytes -= bytes;
	} else {
		spare = malloc(bytes);
	}
	ingest->raw_bytes += spare ? bytes : 0;
	return (struct store_record *)spare;
}

/* Memory for `capacity` records as they come, which those that wait so are moved to. */
static bool records_move(struct store_ingest *ingest, struct store_builder *builder, uint32_t capacity)
{
	struct store_record *records = records_new(ingest, capacity);

	if (!records)
		return false;
	if (builder->records)
		memcpy(records, builder->records, (builder->count - builder->parked.count) * sizeof *records);
	records_free(ingest, builder->records, builder->capacity);
	builder->records = records;
	builder->capacity = capacity;
	return true;
}

/* How many records of one builder wait as they came: the more streams there are the fewer, that those of all
 * stay in a cache. */
static uint32_t capacity_most(const struct store_ingest *ingest)
{
	const size_t streams = ingest->active_count ? ingest->active_count : 1,
		     each = RAW_BYTES / sizeof(struct store_record) / streams;
	uint32_t most = BUILDER_LEAST;

	if (each >= STORE_CHUNK_RECORDS_MAX)
		return STORE_CHUNK_RECORDS_MAX;
	while (2 * most <= each)
		most *= 2;
	return most;
}

/* Puts by all that waits but the last one, behind which the next one is to be in order. */
static void put_by(struct store_ingest *ingest, struct store_builder *builder, uint32_t most)
{
	const uint32_t last = builder->count - builder->parked.count - 1;
	const uint32_t put = store_chunk_parked_put(&ingest->pool, &builder->parked, builder->records, last);

	memmove(builder->records, builder->records + put, (last + 1 - put) * sizeof *builder->records);
	if (put == last && builder->capacity > most)
		records_move(ingest, builder, most); /* else it stays as large as it is */
}

void store_builder_stand(struct store_ingest *ingest, struct store_builder *builder)
{
	uint32_t likely = builder->count > builder->expected ? builder->count : builder->expected;

	if (!builder->fresh || builder->is_past)
		likely = 0;
	ingest->likely_records += likely - (uint64_t)builder->likely;
	builder->likely = likely;
}

void store_builders_pass(
	struct store_ingest *ingest, struct store_track_state *track, uint64_t bucket_ns, unsigned shift)
{
	for (unsigned i = track->count; i-- > 0;) {
		struct store_builder *builder = &track->builders[i];

		if (builder->key.shift == shift && builder->key.bucket_ns < bucket_ns &&
			track->track == STORE_VALUES) {
			store_builder_close(
				ingest, track, builder); /* by metric, as long as it is in memory */
			continue;
		}
		if (builder->key.shift == shift && builder->key.bucket_ns < bucket_ns) {
			builder->is_past = true;
			store_builder_stand(ingest, builder);
		}
	}
}

uint32_t store_builder_reserve(struct store_ingest *ingest, struct store_builder *builder, uint32_t more)
{
	uint32_t waiting = builder->count - builder->parked.count, most, capacity;

	if (more <= builder->capacity - waiting)
		return more;
	most = capacity_most(ingest);
	if (waiting + more > most && waiting > 1) {
		put_by(ingest, builder, most);
		waiting = builder->count - builder->parked.count;
	}
	if (more > most - 1 && most < STORE_CHUNK_RECORDS_MAX)
		more = most - 1;
	capacity = capacity_for(waiting + more);
	if (!builder->capacity && builder->expected > capacity)
		capacity = capacity_for(builder->expected < most ? builder->expected : most);
	if (capacity > builder->capacity && !records_move(ingest, builder, capacity) &&
		builder->capacity == waiting) {
		ingest->failed = true;
		return 0;
	}
	return more < builder->capacity - waiting ? more : builder->capacity - waiting;
}

void store_builder_added(struct store_ingest *ingest, struct store_builder *builder, uint32_t count)
{
	builder->count += count;
	store_builder_stand(ingest, builder);
}

void store_builder_empty(struct store_ingest *ingest, struct store_builder *builder)
{
	ingest->likely_records -= builder->likely;
	builder->likely = 0;
	store_chunk_parked_clear(&ingest->pool, &builder->parked);
	records_free(ingest, builder->records, builder->capacity);
	builder->records = NULL;
	builder->capacity = 0;
}

/* ---- order within a chunk ---- */

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

/* Spans come in the order of their ends, so most are a few places off: insertion, until that gets dear. */
static void sort_records(struct store_record *records, uint32_t count)
{
	const uint64_t most = 16 * (uint64_t)count;
	uint64_t moves = 0;

	for (uint32_t i = 1; i < count && moves < most; i++) {
		struct store_record record = records[i];
		uint32_t at = i;

		while (at > 0 && store_record_compare(&records[at - 1], &record) > 0 && moves < most) {
			records[at] = records[at - 1];
			at--;
			moves++;
		}
		records[at] = record;
	}
	if (moves >= most)
		qsort(records, count, sizeof *records, compare_records);
}

/* ---- encoding ---- */

/* Room for all of a chunk; NULL: no memory. */
static struct store_record *whole_of(struct store_ingest *ingest)
{
	if (!ingest->whole)
		ingest->whole = malloc(STORE_CHUNK_RECORDS_MAX * sizeof *ingest->whole);
	return ingest->whole;
}

/* All its records side by side, in the order in which they came; NULL: no memory. */
static struct store_record *all_records(struct store_ingest *ingest, const struct store_builder *builder)
{
	const uint32_t put_by = builder->parked.count;

	if (!put_by)
		return builder->records;
	if (!whole_of(ingest))
		return NULL;
	store_chunk_parked_get(&builder->parked, ingest->whole);
	memcpy(ingest->whole + put_by, builder->records, (builder->count - put_by) * sizeof *ingest->whole);
	return ingest->whole;
}

/* What of the records the total does not have, which are those behind the others: before they are sorted. */
static void count_rest(
	struct store_ingest *ingest, const struct store_builder *builder, const struct store_record *records)
{
	if (builder->counted)
		store_run_total_add(
			ingest->total, records + builder->counted, builder->count - builder->counted);
}

/* Of a chunk that is new to it the total takes the sums. */
static void count_all(
	struct store_ingest *ingest, struct store_builder *builder, const struct store_record *records)
{
	const struct store_chunk_coder *coder = &ingest->coder;

	if (!builder->counted && coder->summed)
		store_run_total_add_sums(ingest->total, records->what, coder->entries, coder->summed);
	else if (!builder->counted)
		store_run_total_add(ingest->total, records, builder->count);
	builder->counted = builder->count;
}

void store_builder_encode(struct store_ingest *ingest, struct store_builder *builder, struct store_bytes *out)
{
	bool is_counted = ingest->total && builder->key.track == STORE_SAMPLES;
	struct store_record *records = all_records(ingest, builder);

	if (!records) {
		ingest->failed = true;
		return;
	}
	if (is_counted)
		count_rest(ingest, builder, records);
	if (builder->is_unsorted)
		sort_records(records, builder->count);
	builder->is_unsorted &= records != builder->records;
	store_chunk_encode_surveyed(&ingest->coder, &builder->key, records, builder->count,
		builder->surveyed == builder->count ? &builder->survey : NULL, out);
	ingest->failed |= out->failed;
	if (is_counted && !out->failed)
		count_all(ingest, builder, records);
}

/* ---- closing ---- */

/* Values of several metrics, enough of each: a chunk per metric is smaller, and who asks for one metric reads
 * no other. An open chunk holds all, as it is written again and again. */
static bool is_worth_a_split(const struct store_builder *builder, const struct store_record *records)
{
	uint64_t seen[4] = {0};
	unsigned metrics = 0;

	if (builder->key.track != STORE_VALUES || builder->count < SPLIT_LEAST)
		return false;
	for (uint32_t i = 0; i < builder->count; i++)
		seen[records[i].what >> 6 & 3] |= UINT64_C(1) << (records[i].what & 63);
	for (unsigned i = 0; i < 4; i++)
		metrics += (unsigned)__builtin_popcountll(seen[i]);
	return metrics > 1 && builder->count / metrics >= SPLIT_LEAST;
}

static int compare_metrics(const void *a, const void *b)
{
	const struct store_record *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return store_record_compare(x, y);
}

static struct store_closed_chunk *closed_add(
	struct store_ingest *ingest, const struct store_builder *builder, bool is_stored)
{
	struct store_closed_chunk *closed = store_id_table_add(
		&ingest->closed, &ingest->closed_count, &ingest->closed_capacity, sizeof *closed);

	ingest->failed |= !closed;
	if (closed)
		*closed = (struct store_closed_chunk){
			.key = builder->key, .is_stored = is_stored, .at = ingest->closed_bytes.size};
	return closed;
}

/* The first takes the place of the chunk that the file has, if it has one. False: it stays in one. */
static bool close_split(struct store_ingest *ingest, const struct store_builder *builder)
{
	struct store_record *records = builder->records ? all_records(ingest, builder) : NULL;
	uint32_t next;

	if (!records || !is_worth_a_split(builder, records))
		return false;
	qsort(records, builder->count, sizeof *records, compare_metrics);
	for (uint32_t at = 0; at < builder->count; at = next) {
		struct store_closed_chunk *closed = closed_add(ingest, builder, builder->is_stored && !at);

		for (next = at + 1; next < builder->count && records[next].what == records[at].what;)
			next++;
		if (!closed)
			return true;
		store_chunk_encode(
			&ingest->coder, &builder->key, records + at, next - at, &ingest->closed_bytes);
		ingest->failed |= ingest->closed_bytes.failed;
		closed->size = ingest->closed_bytes.size - closed->at;
	}
	return true;
}

void store_builder_remove(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	track->expected = builder->count;
	store_builder_empty(ingest, builder);
	*builder = track->builders[--track->count];
}

void store_builder_close(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	struct store_closed_chunk *closed;

	if (!close_split(ingest, builder) && builder->fresh) {
		closed = closed_add(ingest, builder, builder->is_stored);
		if (closed) {
			store_builder_encode(ingest, builder, &ingest->closed_bytes);
			closed->size = ingest->closed_bytes.size - closed->at;
		}
	}
	if (builder->fresh) {
		ingest->fresh_bytes -= builder->fresh * sizeof *builder->records;
	}
	store_builder_remove(ingest, track, builder);
}

/* ---- parked builders ---- */

static bool take_batch(
	struct store_ingest *ingest, struct store_builder *builder, const struct store_batch *batch)
{
	const uint32_t count = builder->count;
	struct store_record *all = whole_of(ingest);
	uint32_t put;

	if (batch->count != count || !all)
		return false;
	for (uint32_t i = 0; i < count; i++)
		all[i] = store_batch_record(batch, i);
	put = store_chunk_parked_put(&ingest->pool, &builder->parked, all, count - 1);
	if (!records_move(ingest, builder, capacity_for(count - put))) {
		store_chunk_parked_clear(&ingest->pool, &builder->parked);
		return false;
	}
	memcpy(builder->records, all + put, (count - put) * sizeof *all);
	store_builder_added(ingest, builder, 0);
	return true;
}

static bool fetch_chunk(struct store_ingest *ingest, struct store_builder *builder, MDB_txn *txn)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val key = {sizeof bytes, bytes}, value;
	struct store_chunk chunk;
	struct store_batch *batch = &ingest->parked;

	store_key_chunk_put(bytes, &builder->key);
	return mdb_get(txn, ingest->dbi[STORE_TREE_CHUNK], &key, &value) == 0 &&
	       store_chunk_peek(&chunk, (struct store_slice){value.mv_data, value.mv_size}) &&
	       store_chunk_decode(&chunk, STORE_ALL, batch, NULL) == 0 && take_batch(ingest, builder, batch);
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
	builder->survey = (struct store_chunk_stats){.end_ns = 0};
}

void store_builder_park(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder)
{
	if (builder->count >= PARK_RECORDS)
		store_builder_remove(ingest, track, builder);
	else
		store_builder_empty(ingest, builder);
}
