/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup.c - the readers' side of rollups: turns the parts of a walk over a track into sums.
 */
#include "store/rollup/rollup_internal.h"

#include <stdlib.h>

#include "store/rollup/series.h"

struct store_rollup {
	struct store_reader *reader;
	struct store_rollup_source source;
	struct store_rollup_walk walk;
};

/* ---- where keys come from ---- */

store_tree_fits *store_reader_roll_fits(const struct store_reader *reader, const uint8_t *key)
{
	uint32_t stream;

	store_key_id_get(&stream, key, STORE_KEY_ID_BYTES);
	return stream < reader->stream_count && store_reader_at(reader, stream)->thinned_ns ? store_is_sealed
											    : NULL;
}

int store_rollup_seek(void *own, bool is_roll, const uint8_t *key, size_t key_size, struct store_slice *found,
	struct store_slice *value, struct error *error)
{
	const struct store_reader *reader = own;
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages,
		&reader->snapshot.trees[is_roll ? STORE_TREE_ROLL : STORE_TREE_CHUNK]);
	cursor.fits = is_roll ? store_reader_roll_fits(reader, key) : store_chunk_fits;
	rc = store_tree_seek(&cursor, key, key_size, error);
	*found = cursor.key;
	*value = cursor.value;
	return rc;
}

/* ---- sums ---- */

static bool is_real(const struct store_reader *reader, const struct store_context_sums *sums)
{
	/* Metrics come in groups. */
	for (uint32_t i = 0, last = UINT32_MAX; i < sums->count; i++) {
		if (sums->entries[i].metric == last)
			continue;
		last = sums->entries[i].metric;
		if (reader->metrics.metrics[last].is_real)
			return true;
	}
	return false;
}

int store_rollup_read(struct store_reader *reader, const struct store_key_rollup *roll,
	struct store_slice value, unsigned wanted, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input, series;

	store_key_rollup_put(key, roll);
	input = store_input_sealed(value, key, sizeof key);
	store_series_take(&input, &series);
	store_context_sums_clear(&reader->sums);
	store_context_sums_get(&reader->sums, &input, reader->contexts.count, reader->metrics.count, wanted);
	if (reader->sums.failed)
		return error_memory(error);
	return input.bad ? store_reader_damaged(reader, "a rollup", error) : 0;
}

size_t store_batch_row_at(const struct store_batch *batch, uint64_t time_ns)
{
	size_t from = 0, to = batch->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (batch->begin_ns[middle] < time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int give_rows(struct store_rollup *rollup, const struct store_chunk *chunk,
	struct store_rollup_part *part, struct error *error)
{
	const struct store_rollup_walk *walk = &rollup->walk;
	struct store_batch *batch = &rollup->reader->batch;
	int rc = store_chunk_decode_between(chunk, walk->begin_ns, walk->end_ns,
		STORE_BEGIN | STORE_AMOUNT | STORE_CONTEXT | STORE_WHAT, batch, error);

	if (rc)
		return rc;
	*part = (struct store_rollup_part){.batch = batch,
		.from = store_batch_row_at(batch, walk->begin_ns),
		.to = store_batch_row_at(batch, walk->end_ns)};
	return 1;
}

static int give_sums(const struct store_reader *reader, struct store_rollup_part *part)
{
	*part = (struct store_rollup_part){.sums = reader->sums.entries, .count = reader->sums.count};
	return part->count > 0;
}

/* Columns of one metric, if they add up. */
static bool give_works(const struct store_reader *reader, struct store_rollup_part *part)
{
	const struct store_sum_columns *works = &reader->works;

	*part = (struct store_rollup_part){.works = works};
	return works->count && !reader->metrics.metrics[works->metric].is_real;
}

static int give_chunk(struct store_rollup *rollup, const struct store_rollup_walk_part *from,
	struct store_rollup_part *part, struct error *error)
{
	struct store_reader *reader = rollup->reader;
	struct store_chunk chunk;
	int rc = store_reader_chunk_of(reader, &from->key, from->bytes, &chunk, error);

	if (rc || store_chunk_is_contextless(&chunk))
		return rc;
	if (!from->is_cut) {
		rc = store_chunk_weights(&chunk, &reader->batch, &reader->works, error);
		if (rc < 0 || (rc && give_works(reader, part)))
			return rc;
		store_context_sums_clear(&reader->sums);
		rc = store_chunk_sums(&chunk, &reader->batch, &reader->sums, error);
		if (rc < 0)
			return rc;
		if (rc && !is_real(reader, &reader->sums))
			return give_sums(reader, part);
	}
	return give_rows(rollup, &chunk, part, error);
}

/* Reads one metric as columns: 1; 0: there are several, or one of doubles. */
static int read_works(struct store_reader *reader, const struct store_key_rollup *roll,
	struct store_slice value, struct store_rollup_part *part, struct error *error)
{
	struct store_sum_columns *works = &reader->works;
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input, series;

	store_key_rollup_put(key, roll);
	input = store_input_sealed(value, key, sizeof key);
	store_series_take(&input, &series);
	if (!store_sum_columns_get_weights(works, &input, reader->contexts.count, reader->metrics.count))
		return 0;
	if (works->failed)
		return error_memory(error);
	if (input.bad)
		return store_reader_damaged(reader, "a rollup", error);
	return give_works(reader, part);
}

static int read_roll(struct store_rollup *rollup, const struct store_rollup_walk_part *from,
	struct store_rollup_part *part, struct error *error)
{
	struct store_reader *reader = rollup->reader;
	int rc = read_works(reader, &from->roll, from->value, part, error);

	if (rc)
		return rc;
	rc = store_rollup_read(reader, &from->roll, from->value, STORE_ROLLUP_WEIGHTS, error);
	if (rc)
		return rc;
	if (!is_real(reader, &reader->sums))
		return give_sums(reader, part);
	store_rollup_walk_refuse(&rollup->walk, &from->roll);
	return 0;
}

int store_rollup_next(struct store_rollup *rollup, struct store_rollup_part *part, struct error *error)
{
	struct store_rollup_walk_part from;
	int rc, given = 0;

	while (!given && (rc = store_rollup_walk_next(&rollup->walk, &from, error)) == 1)
		given = from.is_roll ? read_roll(rollup, &from, part, error)
				     : give_chunk(rollup, &from, part, error);
	return given ? given : rc;
}

int store_rollup_open(struct store_rollup **rollup, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct store_rollup *r = calloc(1, sizeof *r);

	*rollup = r;
	if (!r)
		return error_memory(error);
	r->reader = reader;
	r->source = (struct store_rollup_source){.own = reader, .seek = store_rollup_seek};
	store_rollup_walk_init(&r->walk, &r->source, stream, track, begin_ns,
		begin_ns < end_ns ? end_ns : begin_ns,
		begin_ns < end_ns ? store_reader_at(reader, stream)->shifts[track] : 0);
	return 0;
}

void store_rollup_close(struct store_rollup *rollup)
{
	free(rollup);
}

/* ---- the total ---- */

static const struct store_key_rollup total_key = {
	.stream = STORE_ROLLUP_ALL, .kind = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};

/* The writer does not put it at every commit: it is of this one when it has all samples. */
static bool is_whole(const struct store_reader *reader)
{
	uint64_t samples = 0;

	for (uint32_t i = 0; i < reader->sums.count; i++)
		samples += reader->sums.entries[i].samples;
	return samples == store_reader_records(reader, STORE_SAMPLES);
}

int store_rollup_read_total(struct store_reader *reader, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_slice value;
	int rc;

	store_key_rollup_put(key, &total_key);
	rc = store_tree_get(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL], key,
		sizeof key, &value, error);
	if (rc == 1) {
		rc = store_rollup_read(reader, &total_key, value, STORE_ROLLUP_WEIGHTS, error);
		rc = rc ? rc : is_whole(reader);
	}
	return rc;
}

int store_rollup_total(struct store_reader *reader, struct store_rollup_part *part, struct error *error)
{
	int rc = store_rollup_read_total(reader, error);

	if (rc <= 0 || is_real(reader, &reader->sums))
		return rc < 0 ? rc : 0;
	give_sums(reader, part);
	return 1;
}
