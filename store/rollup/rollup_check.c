/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_check.c - compares every rollup of samples and of values with the records it sums.
 */
#include "store/rollup/rollup_internal.h"
#include "store/rollup/series.h"

struct check {
	struct store_reader *reader;
	struct store_rollup_source source;
	struct store_context_sums made, total;
	struct store_series_set series, part; /* of values */
};

static void add_all(struct store_context_sums *to, const struct store_context_sums *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		store_context_sums_add(to, &from->entries[i]);
}

static bool is_same(struct store_context_sums *a, struct store_context_sums *b)
{
	struct store_bytes bytes[2] = {{0}, {0}};
	bool same;

	store_context_sums_put(a, &bytes[0]);
	store_context_sums_put(b, &bytes[1]);
	same = !bytes[0].failed && !bytes[1].failed && bytes[0].size == bytes[1].size &&
	       memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0;
	store_bytes_fini(&bytes[0]);
	store_bytes_fini(&bytes[1]);
	return same;
}

/* A chunk's own sums, and its records' share of the total. */
static int check_chunk(struct check *check, const struct store_key_chunk *key,
	const struct store_chunk *chunk, struct error *error)
{
	struct store_reader *reader = check->reader;
	int rc;

	store_context_sums_clear(&check->made);
	rc = store_chunk_sum_rows(chunk, &reader->batch, &check->made, error);
	if (rc)
		return rc;
	if (key->track == STORE_SAMPLES)
		add_all(&check->total, &check->made);
	store_context_sums_clear(&reader->sums);
	rc = store_chunk_sums(chunk, &reader->batch, &reader->sums, error);
	if (rc == 1 && !is_same(&check->made, &reader->sums))
		return store_reader_damaged(reader, "a chunk's sums", error);
	return rc < 0 ? rc : 0;
}

static int check_chunks(struct check *check, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_tree_cursor cursor;
	struct store_key_chunk key;
	struct store_chunk chunk;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		rc = store_reader_chunk(reader, &cursor, &key, &chunk, error);
		if (!rc && key.track != STORE_SPANS)
			rc = check_chunk(check, &key, &chunk, error);
		if (rc)
			return rc;
	}
	return rc;
}

/* Series of a rollup; those made before 7.0 have none: 0. */
static int read_series(struct check *check, const struct store_key_rollup *key, struct store_slice value,
	struct store_series_set *to, struct error *error)
{
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	struct store_input input, series;

	store_key_rollup_put(bytes, key);
	input = store_input_sealed(value, bytes, sizeof bytes);
	if (!store_series_take(&input, &series))
		return 0;
	store_series_set_clear(to);
	store_series_set_get(to, &series, &check->reader->metrics, UINT32_MAX);
	if (to->failed)
		return error_memory(error);
	return series.bad || series.at != series.end
		       ? store_reader_damaged(check->reader, "a rollup of values", error)
		       : 1;
}

static int add_series(struct check *check, const struct store_rollup_walk_part *part, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_chunk chunk;
	int rc;

	if (part->is_roll) {
		rc = read_series(check, &part->roll, part->value, &check->part, error);
	} else {
		rc = store_reader_chunk_of(reader, &part->key, part->bytes, &chunk, error);
		rc = rc ? rc
			: store_chunk_decode(
				  &chunk, STORE_BEGIN | STORE_AMOUNT | STORE_WHAT, &reader->batch, error);
		store_series_set_clear(&check->part);
		if (!rc)
			store_series_set_add(
				&check->part, &reader->metrics, &reader->batch, 0, reader->batch.count);
		rc = rc ? rc : 1;
	}
	if (rc == 1)
		store_series_set_join(&check->series, &check->part);
	return rc < 0 ? rc : 0;
}

/* True: the rollup's series are those of its parts, or it has none. */
static bool has_same_series(const struct check *check)
{
	struct store_bytes bytes[2] = {{0}, {0}};
	bool same;

	store_series_set_put(&check->series, &bytes[0]);
	store_series_set_put(&check->part, &bytes[1]);
	same = !bytes[0].failed && !bytes[1].failed && bytes[0].size == bytes[1].size &&
	       memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0;
	store_bytes_fini(&bytes[0]);
	store_bytes_fini(&bytes[1]);
	return same;
}

static int check_series(struct check *check, const struct store_key_rollup *key, struct store_slice value,
	struct error *error)
{
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	int rc = read_series(check, key, value, &check->part, error);

	if (rc <= 0)
		return rc;
	store_series_set_clear(&check->series);
	store_rollup_walk_init_inner(&walk, &check->source, key);
	while ((rc = store_rollup_walk_next(&walk, &part, error)) == 1) {
		rc = add_series(check, &part, error);
		if (rc)
			return rc;
	}
	rc = rc ? rc : read_series(check, key, value, &check->part, error);
	if (rc == 1)
		rc = has_same_series(check) ? 0
					    : store_reader_damaged(check->reader,
						      "a rollup that is not what its values are", error);
	return rc;
}

static int add_part(struct check *check, const struct store_rollup_walk_part *part, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_chunk chunk;
	int rc;

	if (part->is_roll) {
		rc = store_rollup_read(
			reader, &part->roll, part->value, STORE_ROLLUP_WEIGHTS | STORE_ROLLUP_TIMES, error);
	} else {
		rc = store_reader_chunk_of(reader, &part->key, part->bytes, &chunk, error);
		store_context_sums_clear(&reader->sums);
		rc = rc ? rc : store_chunk_sums(&chunk, &reader->batch, &reader->sums, error);
		if (rc == 0 && !store_chunk_is_contextless(&chunk))
			rc = store_chunk_sum_rows(&chunk, &reader->batch, &reader->sums, error);
	}
	if (rc >= 0)
		store_context_sums_join(&check->made, &reader->sums);
	return rc < 0 ? rc : 0;
}

/* From the smallest up, each is what it consists of: so all are what the chunks hold. */
static int check_rollup(struct check *check, const struct store_key_rollup *key, struct store_slice value,
	struct error *error)
{
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	int rc;

	store_context_sums_clear(&check->made);
	store_rollup_walk_init_inner(&walk, &check->source, key);
	while ((rc = store_rollup_walk_next(&walk, &part, error)) == 1) {
		rc = add_part(check, &part, error);
		if (rc)
			return rc;
	}
	rc = rc ? rc
		: store_rollup_read(
			  check->reader, key, value, STORE_ROLLUP_WEIGHTS | STORE_ROLLUP_TIMES, error);
	if (rc)
		return rc;
	/* A joined rollup of dropped records has the same sums, but may lack sample times. So may rollups
	 * made before 2.0 from chunks without sums. */
	if (key->begin_ns < store_reader_at(check->reader, key->stream)->thinned_ns ||
		!check->reader->sums.line.is_plain)
		check->made.line = check->reader->sums.line = (struct store_sum_row){0};
	if (!is_same(&check->made, &check->reader->sums))
		return store_reader_damaged(
			check->reader, "a rollup that is not what its chunks hold", error);
	return key->kind == STORE_VALUES ? check_series(check, key, value, error) : 0;
}

/* Nothing is left that the sums of dropped samples could be held to but how many there were: each chunk,
 * there or not, is in one part of the track. */
static int check_thinned(struct check *check, uint32_t stream, struct error *error)
{
	const struct store_stream *s = store_reader_at(check->reader, stream);
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	uint64_t samples = 0;
	int rc;

	store_context_sums_clear(&check->made);
	store_rollup_walk_init(
		&walk, &check->source, stream, STORE_SAMPLES, 0, STORE_OPEN_NS, s->shifts[STORE_SAMPLES]);
	while ((rc = store_rollup_walk_next(&walk, &part, error)) == 1) {
		rc = add_part(check, &part, error);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < check->made.count; i++)
		samples += check->made.entries[i].samples;
	if (rc == 0 && samples != s->count[STORE_SAMPLES])
		rc = store_reader_damaged(check->reader, "the sums of samples that were dropped", error);
	return rc;
}

static int check_rollups(struct check *check, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_tree_cursor cursor;
	struct store_key_rollup key;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		if (!store_key_rollup_get(&key, cursor.key.bytes, cursor.key.size))
			return store_reader_damaged(reader, "a rollup's key", error);
		if (!store_is_sealed(cursor.key, cursor.value))
			return store_reader_damaged(reader, "a rollup", error);
		if (key.stream == STORE_ROLLUP_ALL || (key.kind != STORE_SAMPLES && key.kind != STORE_VALUES))
			continue;
		if (key.stream >= reader->stream_count)
			return store_reader_damaged(reader, "a rollup of no stream", error);
		/* What it sums up was dropped: it is the record (check_thinned()). */
		if (store_rollup_last(key.begin_ns, key.shift) <
			store_reader_at(reader, key.stream)->thinned_ns)
			continue;
		rc = check_rollup(check, &key, cursor.value, error);
		if (rc)
			return rc;
	}
	return rc;
}

/* Then chunks alone do not make the total. */
static bool is_thinned(const struct store_reader *reader)
{
	for (uint32_t stream = 0; stream < reader->stream_count; stream++)
		if (store_reader_at(reader, stream)->dropped[STORE_SAMPLES])
			return true;
	return false;
}

int store_rollup_check(struct store_reader *reader, struct error *error)
{
	struct check check = {.reader = reader, .source = {.own = reader, .seek = store_rollup_seek}};
	int rc = check_chunks(&check, error);

	rc = rc ? rc : check_rollups(&check, error);
	for (uint32_t stream = 0; stream < reader->stream_count && !rc; stream++)
		if (store_reader_at(reader, stream)->dropped[STORE_SAMPLES])
			rc = check_thinned(&check, stream, error);
	if (!rc && !is_thinned(reader)) {
		rc = store_rollup_read_total(reader, error);
		if (rc == 1)
			rc = is_same(&check.total, &reader->sums)
				     ? 0
				     : store_reader_damaged(reader, "the total", error);
	}
	store_context_sums_fini(&check.made);
	store_context_sums_fini(&check.total);
	store_series_set_fini(&check.series);
	store_series_set_fini(&check.part);
	return rc;
}
