/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest.c - builders: where a record goes, when a chunk is closed, how bucket sizes follow the rate.
 * Which bytes come of it is chunk_write.c's affair, what a commit is writer.c's.
 */
#include "store/ingest.h"

#include <errno.h>
#include <stdlib.h>

#include "store/reader.h"
#include "store/table.h"

#define SHIFT_FIRST 30u
#define SHIFT_MIN 10u
#define SHIFT_MAX 62u	     /* of the base; a span as long as time itself takes 63 */
#define TARGET_RECORDS 9216u /* at most, as the rate foretells: so half of it at least */
#define BUILDERS_MAX 128u
#define BUILDERS_PER_SHIFT 4u /* random times soon have a base of 2^62: these are all its buckets */
#define BUILDER_FIRST 16u
#define RATE_RECORDS 64u    /* fewer say little about the rate */
#define STEP_BLIND 3	    /* how far the shift may go on so little */
#define PUSHED_OUT_FEW 512u /* pushed out with fewer, a bucket was too small */
#define PARK_RECORDS 2048u  /* fuller ones are closed instead of parked */
#define IDLE_TICKS 2u
#define RAW_BYTES_MAX ((size_t)256 << 20)

struct builder {
	struct store_key_chunk key;
	bool is_stored; /* the file has an earlier state under the key */
	bool is_unsorted;
	uint32_t count, capacity;
	uint32_t fresh; /* records since the last commit */
	uint64_t min_ns, max_ns;
	uint64_t used;		      /* tick of the last record */
	uint64_t order;		      /* of opening and use, for choosing whom to push out */
	struct store_record *records; /* NULL: parked */
};

struct store_track_state {
	uint32_t stream;
	uint8_t track;
	uint8_t base_shift;
	uint8_t count, capacity;
	bool is_active;
	uint64_t order;
	struct builder *builders;
};

/* ---- memory ---- */

static void records_free(struct store_ingest *ingest, struct builder *builder)
{
	if (!builder->records)
		return;
	ingest->raw_bytes -= builder->capacity * sizeof *builder->records;
	if (builder->capacity == STORE_CHUNK_RECORDS_MAX && !ingest->spare)
		ingest->spare = builder->records;
	else
		free(builder->records);
	builder->records = NULL;
	builder->capacity = 0;
}

static bool records_reserve(struct store_ingest *ingest, struct builder *builder, uint32_t count)
{
	uint32_t capacity = builder->capacity ? builder->capacity : BUILDER_FIRST;
	struct store_record *grown;

	if (count <= builder->capacity)
		return true;
	while (capacity < count)
		capacity *= 2;
	if (capacity > STORE_CHUNK_RECORDS_MAX)
		capacity = STORE_CHUNK_RECORDS_MAX;
	if (capacity == STORE_CHUNK_RECORDS_MAX && ingest->spare) {
		grown = ingest->spare;
		ingest->spare = NULL;
		if (builder->records)
			memcpy(grown, builder->records, builder->count * sizeof *grown);
		free(builder->records);
	} else {
		grown = realloc(builder->records, capacity * sizeof *grown);
	}
	if (!grown) {
		ingest->failed = true;
		return false;
	}
	ingest->raw_bytes += (capacity - builder->capacity) * sizeof *grown;
	builder->records = grown;
	builder->capacity = capacity;
	return true;
}

static void track_free(struct store_track_state *track)
{
	if (!track)
		return;
	for (unsigned i = 0; i < track->count; i++)
		free(track->builders[i].records);
	free(track->builders);
	free(track);
}

void store_ingest_fini(struct store_ingest *ingest)
{
	for (size_t i = 0; i < ingest->track_count; i++)
		track_free(ingest->tracks[i]);
	free(ingest->tracks);
	free(ingest->active);
	free(ingest->closed);
	free(ingest->spare);
	store_bytes_fini(&ingest->closed_bytes);
	store_bytes_fini(&ingest->scratch);
	store_chunk_coder_fini(&ingest->coder);
	*ingest = (struct store_ingest){0};
}

static bool tracks_reserve(struct store_ingest *ingest, size_t wanted)
{
	size_t count = ingest->track_count ? ingest->track_count : 64;
	struct store_track_state **tracks;

	while (count <= wanted)
		count *= 2;
	tracks = realloc(ingest->tracks, count * sizeof *tracks);
	if (!tracks)
		return false;
	memset(tracks + ingest->track_count, 0, (count - ingest->track_count) * sizeof *tracks);
	ingest->tracks = tracks;
	ingest->track_count = count;
	return true;
}

static struct store_track_state *track_of(
	struct store_ingest *ingest, uint32_t stream, enum store_track track)
{
	size_t at = (size_t)stream * STORE_TRACK_COUNT + track;
	struct store_track_state *state;

	if (at >= ingest->track_count && !tracks_reserve(ingest, at))
		return NULL;
	state = ingest->tracks[at];
	if (state)
		return state;
	state = calloc(1, sizeof *state);
	if (!state)
		return NULL;
	state->stream = stream;
	state->track = (uint8_t)track;
	state->base_shift = SHIFT_FIRST;
	ingest->tracks[at] = state;
	return state;
}

static bool activate(struct store_ingest *ingest, struct store_track_state *track)
{
	struct store_track_state **entry;

	if (track->is_active)
		return true;
	entry = store_table_add(
		(void **)&ingest->active, &ingest->active_count, &ingest->active_capacity, sizeof *entry);
	if (!entry)
		return false;
	*entry = track;
	track->is_active = true;
	return true;
}

/* ---- order within a chunk ---- */

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

/* Spans come in the order of their ends, so most are a few places off: insertion, until that gets dear. */
static void sort_records(struct builder *builder)
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

static void encode(struct store_ingest *ingest, struct builder *builder, struct store_bytes *out)
{
	if (builder->is_unsorted)
		sort_records(builder);
	store_chunk_encode(&ingest->coder, &builder->key, builder->records, builder->count, out);
	ingest->failed |= out->failed;
}

/* ---- closing ---- */

static void builder_remove(
	struct store_ingest *ingest, struct store_track_state *track, struct builder *builder)
{
	records_free(ingest, builder);
	*builder = track->builders[--track->count];
}

/* The chunk takes no more records: what the file does not have yet waits, encoded, for the next commit. */
static void builder_close(
	struct store_ingest *ingest, struct store_track_state *track, struct builder *builder)
{
	struct store_closed_chunk *closed;

	if (builder->fresh) {
		closed = store_table_add((void **)&ingest->closed, &ingest->closed_count,
			&ingest->closed_capacity, sizeof *closed);
		if (closed) {
			*closed = (struct store_closed_chunk){.key = builder->key,
				.is_stored = builder->is_stored,
				.at = ingest->closed_bytes.size};
			encode(ingest, builder, &ingest->closed_bytes);
			closed->size = ingest->closed_bytes.size - closed->at;
		}
		ingest->failed |= !closed;
		ingest->fresh_bytes -= builder->fresh * sizeof *builder->records;
	}
	builder_remove(ingest, track, builder);
}

/* ---- bucket sizes ---- */

/* The largest shift whose bucket holds no more than the target at `count` records in `covered_ns`. */
static unsigned shift_for_rate(uint32_t count, uint64_t covered_ns)
{
	long double bucket_ns = (long double)(covered_ns ? covered_ns : 1) * TARGET_RECORDS / count;
	unsigned shift = SHIFT_MIN;

	while (shift < SHIFT_MAX && (long double)((uint64_t)2 << shift) <= bucket_ns)
		shift++;
	return shift;
}

static unsigned clamp_step(unsigned shift, unsigned from, int most)
{
	if ((int)shift > (int)from + most)
		return from + (unsigned)most;
	if ((int)shift < (int)from - most)
		return (int)from - most < (int)SHIFT_MIN ? SHIFT_MIN : from - (unsigned)most;
	return shift;
}

/* A record leaves the base bucket where the last ones went: what was the rate there? */
static void adapt_to_next(struct store_track_state *track, const struct store_record *record)
{
	const struct builder *last = NULL;
	uint64_t covered;
	unsigned shift;

	for (unsigned i = 0; i < track->count; i++)
		if (track->builders[i].key.shift == track->base_shift &&
			(!last || track->builders[i].order > last->order))
			last = &track->builders[i];
	if (!last || !last->count || (record->begin_ns <= last->max_ns && last->count >= PUSHED_OUT_FEW))
		return;
	covered = record->begin_ns > last->min_ns ? record->begin_ns - last->min_ns
						  : last->max_ns - record->begin_ns;
	shift = shift_for_rate(last->count, covered);
	if (last->count < RATE_RECORDS)
		shift = clamp_step(shift, track->base_shift, STEP_BLIND);
	track->base_shift = (uint8_t)(shift > SHIFT_MAX ? SHIFT_MAX : shift);
}

/* A base bucket is full before its time is over: smaller ones from here. */
static void adapt_to_full(struct store_track_state *track, const struct builder *full)
{
	unsigned shift = shift_for_rate(full->count, full->max_ns - full->min_ns);

	if (full->key.shift != track->base_shift || shift >= track->base_shift)
		return;
	track->base_shift = (uint8_t)shift;
}

/* ---- where a record goes ---- */

static unsigned shift_of(const struct store_track_state *track, const struct store_record *record)
{
	uint64_t duration = record->end_ns - record->begin_ns;
	unsigned shift = duration > 1 ? 64 - (unsigned)__builtin_clzll(duration - 1) : 0;

	if (shift > STORE_SHIFT_MAX)
		shift = STORE_SHIFT_MAX;
	return shift > track->base_shift ? shift : track->base_shift;
}

static struct builder *builder_find(struct store_track_state *track, const struct store_record *record)
{
	unsigned shift = shift_of(track, record);
	uint64_t bucket = store_bucket_of(record->begin_ns, shift);

	for (unsigned i = 0; i < track->count; i++)
		if (track->builders[i].key.shift == shift && track->builders[i].key.bucket_ns == bucket)
			return &track->builders[i];
	return NULL;
}

/* Makes room for one more builder of that shift. */
static void push_out(struct store_ingest *ingest, struct store_track_state *track, unsigned shift)
{
	struct builder *oldest = NULL;
	unsigned same = 0;

	for (unsigned i = 0; i < track->count; i++)
		same += track->builders[i].key.shift == shift;
	if (same < BUILDERS_PER_SHIFT && track->count < BUILDERS_MAX)
		return;
	for (unsigned i = 0; i < track->count; i++) {
		struct builder *builder = &track->builders[i];

		if (same >= BUILDERS_PER_SHIFT && builder->key.shift != shift)
			continue;
		if (!oldest || builder->order < oldest->order)
			oldest = builder;
	}
	builder_close(ingest, track, oldest);
}

static bool builders_reserve(struct store_track_state *track)
{
	unsigned capacity = track->capacity ? track->capacity * 2u : 2;
	struct builder *grown;

	if (track->count < track->capacity)
		return true;
	grown = realloc(track->builders, capacity * sizeof *grown);
	if (!grown)
		return false;
	track->builders = grown;
	track->capacity = (uint8_t)capacity;
	return true;
}

static struct builder *builder_open(
	struct store_ingest *ingest, struct store_track_state *track, const struct store_record *record)
{
	struct builder *builder;
	unsigned shift;

	if (shift_of(track, record) == track->base_shift)
		adapt_to_next(track, record);
	builder = builder_find(track, record);
	if (builder)
		return builder;
	shift = shift_of(track, record);
	push_out(ingest, track, shift);
	if (!builders_reserve(track)) {
		ingest->failed = true;
		return NULL;
	}
	builder = &track->builders[track->count++];
	*builder = (struct builder){.key = {.bucket_ns = store_bucket_of(record->begin_ns, shift),
					    .stream = track->stream,
					    .track = track->track,
					    .shift = (uint8_t)shift},
		.min_ns = record->begin_ns,
		.max_ns = record->begin_ns};
	return builder;
}

/* ---- parked builders ---- */

static bool take_batch(struct store_ingest *ingest, struct builder *builder, const struct store_batch *batch)
{
	uint32_t count = builder->count;

	if (batch->count != count)
		return false;
	builder->count = 0;
	if (!records_reserve(ingest, builder, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		builder->records[i] = store_batch_record(batch, i);
	builder->count = count;
	return true;
}

static bool fetch_chunk(struct store_ingest *ingest, struct builder *builder, MDB_txn *txn)
{
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	MDB_val key = {sizeof bytes, bytes}, value;
	struct store_chunk chunk;
	struct store_batch batch;
	bool is_there;

	store_key_chunk_put(bytes, &builder->key);
	store_batch_init(&batch);
	is_there = mdb_get(txn, ingest->chunks, &key, &value) == 0 &&
		   store_chunk_peek(&chunk, (struct store_slice){value.mv_data, value.mv_size}) &&
		   store_chunk_decode(&chunk, STORE_ALL, &batch, NULL) == 0 &&
		   take_batch(ingest, builder, &batch);
	store_batch_fini(&batch);
	return is_there;
}

/* Brings a parked builder's records back; if that fails, it goes on as a new chunk beside the stored one. */
static void builder_unpark(struct store_ingest *ingest, struct builder *builder)
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
	builder->count = 0;
}

static void builder_park(
	struct store_ingest *ingest, struct store_track_state *track, struct builder *builder)
{
	if (builder->count >= PARK_RECORDS)
		builder_remove(ingest, track, builder);
	else
		records_free(ingest, builder);
}

/* ---- appending ---- */

static struct builder *builder_for(
	struct store_ingest *ingest, struct store_track_state *track, const struct store_record *record)
{
	struct builder *builder = builder_find(track, record);

	if (builder && builder->count == STORE_CHUNK_RECORDS_MAX) {
		adapt_to_full(track, builder);
		builder_close(ingest, track, builder);
		builder = builder_find(track, record);
	}
	if (!builder)
		builder = builder_open(ingest, track, record);
	if (builder && builder->count && !builder->records)
		builder_unpark(ingest, builder);
	return builder;
}

static bool is_clean(const struct store_record *record, enum store_track track)
{
	if (record->begin_ns == UINT64_MAX || record->end_ns < record->begin_ns)
		return false;
	return track == STORE_SPANS ? record->end_ns != STORE_OPEN_NS : record->end_ns == record->begin_ns;
}

/* What cannot be is bent to the nearest that can: the caller's slip must not make a store that nobody reads.
 */
static struct store_record cleaned(struct store_record record, enum store_track track)
{
	if (record.begin_ns == UINT64_MAX)
		record.begin_ns--;
	if (record.end_ns == STORE_OPEN_NS)
		record.end_ns--;
	if (track != STORE_SPANS || record.end_ns < record.begin_ns)
		record.end_ns = record.begin_ns;
	return record;
}

/* How many of the records, from the first, this builder takes. */
static uint32_t run_length(const struct store_track_state *track, const struct builder *builder,
	const struct store_record *records, size_t count)
{
	const uint64_t width_mask = ~(uint64_t)0 << builder->key.shift;
	uint32_t room = STORE_CHUNK_RECORDS_MAX - builder->count, length = 1;

	if (count < room)
		room = (uint32_t)count;
	for (; length < room; length++) {
		const struct store_record *record = &records[length];

		if ((record->begin_ns & width_mask) != builder->key.bucket_ns ||
			!is_clean(record, track->track))
			break;
		if (track->track == STORE_SPANS && shift_of(track, record) != builder->key.shift)
			break;
	}
	return length;
}

static bool builder_add(struct store_ingest *ingest, struct builder *builder,
	const struct store_record *records, uint32_t count)
{
	struct store_record *to;

	if (!records_reserve(ingest, builder, builder->count + count))
		return false;
	to = builder->records + builder->count;
	memcpy(to, records, count * sizeof *to);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t begin = to[i].begin_ns;

		if (builder->count + i > 0 && begin <= to[(ptrdiff_t)i - 1].begin_ns &&
			store_record_compare(&to[(ptrdiff_t)i - 1], &to[i]) > 0)
			builder->is_unsorted = true;
		builder->min_ns = begin < builder->min_ns ? begin : builder->min_ns;
		builder->max_ns = begin > builder->max_ns ? begin : builder->max_ns;
	}
	builder->count += count;
	builder->fresh += count;
	ingest->fresh_bytes += count * sizeof *to;
	return true;
}

static uint32_t append_run(struct store_ingest *ingest, struct store_track_state *track,
	const struct store_record *records, size_t count, uint64_t *shifts)
{
	struct store_record slow;
	struct builder *builder;
	uint32_t length = 1;

	if (!is_clean(records, track->track)) {
		slow = cleaned(*records, track->track);
		records = &slow;
		count = 1;
	}
	builder = builder_for(ingest, track, records);
	if (!builder)
		return 0;
	if (count > 1)
		length = run_length(track, builder, records, count);
	builder->used = ingest->tick;
	builder->order = ++track->order;
	*shifts |= (uint64_t)1 << builder->key.shift;
	return builder_add(ingest, builder, records, length) ? length : 0;
}

bool store_ingest_append(struct store_ingest *ingest, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count, uint64_t *shifts)
{
	struct store_track_state *state = track_of(ingest, stream, track);

	if (!state || !activate(ingest, state)) {
		ingest->failed = true;
		return false;
	}
	while (count) {
		uint32_t length = append_run(ingest, state, records, count, shifts);

		if (!length)
			return false;
		records += length;
		count -= length;
	}
	return true;
}

/* ---- committing ---- */

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
	int rc = is_stored ? 0 : next_sequence(cursor, chunk);

	if (rc)
		return rc;
	store_key_chunk_put(key_bytes, chunk);
	return mdb_put(mdb_cursor_txn(cursor), ingest->chunks, &key, &value, 0);
}

static int put_builders(struct store_ingest *ingest, struct store_track_state *track, MDB_cursor *cursor)
{
	int rc = 0;

	for (unsigned i = 0; i < track->count && !rc; i++) {
		struct builder *builder = &track->builders[i];

		if (!builder->fresh)
			continue;
		ingest->scratch.size = 0;
		encode(ingest, builder, &ingest->scratch);
		if (ingest->failed)
			return ENOMEM;
		rc = put_chunk(ingest, cursor, &builder->key, builder->is_stored, ingest->scratch.data,
			ingest->scratch.size);
	}
	return rc;
}

int store_ingest_put(struct store_ingest *ingest, MDB_txn *txn)
{
	MDB_cursor *cursor;
	int rc;

	if (!ingest->closed_count && !ingest->active_count)
		return 0;
	rc = mdb_cursor_open(txn, ingest->chunks, &cursor);
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

/* False: nothing of the track is in memory any more. */
static bool settle_track(struct store_ingest *ingest, struct store_track_state *track)
{
	bool has_records = false;

	for (unsigned i = track->count; i-- > 0;) {
		struct builder *builder = &track->builders[i];

		builder->is_stored |= builder->fresh != 0;
		builder->fresh = 0;
		if (builder->records &&
			(ingest->tick - builder->used >= IDLE_TICKS || ingest->raw_bytes > RAW_BYTES_MAX))
			builder_park(ingest, track, builder);
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

		track->is_active = settle_track(ingest, track);
		if (track->is_active)
			ingest->active[kept++] = track;
	}
	ingest->active_count = kept;
}

size_t store_ingest_pending_bytes(const struct store_ingest *ingest)
{
	return ingest->closed_bytes.size + ingest->fresh_bytes;
}
