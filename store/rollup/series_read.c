/* SPDX-License-Identifier: Apache-2.0 */
/* series_read.c - see series_read.h. */
#include "store/rollup/series_read.h"

#include <stdlib.h>

#include "store/rollup/rollup_internal.h"

/* ---- the walk ---- */

/* 1: given as a sum; 0: refused, its parts follow. */
static int give_roll(const struct store_series_query *query, const struct store_rollup_walk_part *part,
	struct store_series_set *set, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input, series;
	int rc;

	if (!query->wants || !query->wants(query->own, part->roll.begin_ns,
				     store_rollup_last(part->roll.begin_ns, part->roll.shift)))
		return 0;
	store_key_rollup_put(key, &part->roll);
	input = store_input_sealed(part->value, key, sizeof key);
	if (!input.bad && !store_series_take(&input, &series)) /* made before 7.0 */
		return 0;
	store_series_set_clear(set);
	if (!input.bad)
		store_series_set_get(set, &series, &query->reader->metrics, query->metric);
	if (set->failed)
		return error_memory(error);
	if (input.bad || series.bad)
		return store_reader_damaged(query->reader, "a rollup of values", error);
	rc = set->count && set->of[0].count ? query->sum(query->own, &set->of[0]) : 0;
	return rc < 0 ? rc : 1;
}

static int give_chunk(const struct store_series_query *query, const struct store_rollup_walk_part *part,
	struct error *error)
{
	struct store_batch *batch = &query->reader->batch;
	struct store_chunk chunk;
	uint32_t metric;
	int rc = store_reader_chunk_of(query->reader, &part->key, part->bytes, &chunk, error);

	if (rc || (store_chunk_has_one(&chunk, &metric) && metric != query->metric))
		return rc;
	rc = store_chunk_decode_between(&chunk, query->begin_ns, query->end_ns,
		STORE_BEGIN | STORE_AMOUNT | STORE_WHAT, batch, error);
	if (rc)
		return rc;
	rc = query->rows(query->own, batch, store_batch_row_at(batch, query->begin_ns),
		store_batch_row_at(batch, query->end_ns));
	return rc < 0 ? rc : 0;
}

int store_series_read(const struct store_series_query *query, struct error *error)
{
	struct store_rollup_source source = {.own = query->reader, .seek = store_rollup_seek};
	struct store_series_set set = {.count = 0};
	struct store_rollup_walk walk;
	struct store_rollup_walk_part part;
	int rc;

	store_rollup_walk_init(&walk, &source, query->stream, STORE_VALUES, query->begin_ns, query->end_ns,
		store_reader_at(query->reader, query->stream)->shifts[STORE_VALUES]);
	while ((rc = store_rollup_walk_next(&walk, &part, error)) == 1) {
		rc = part.is_roll ? give_roll(query, &part, &set, error) : give_chunk(query, &part, error);
		if (part.is_roll && rc == 0)
			store_rollup_walk_refuse(&walk, &part.roll);
		if (rc < 0)
			break;
	}
	store_series_set_fini(&set);
	return rc < 0 ? rc : 0;
}

/* ---- one series ---- */

static bool want(void *own, uint64_t begin_ns, uint64_t last_ns)
{
	(void)own, (void)begin_ns, (void)last_ns;
	return true;
}

static int take_sum(void *own, const struct store_series *series)
{
	store_series_join(own, series);
	return 0;
}

static int take_rows(void *own, const struct store_batch *batch, size_t from, size_t to)
{
	struct store_series *into = own, part = *into;

	part.count = 0;
	part.is_mixed = false;
	part.grown = 0;
	part.sum_low = part.sum_high = 0;
	for (size_t i = from; i < to; i++)
		if (batch->what[i] == into->metric)
			store_series_add(&part, batch->begin_ns[i], batch->amount[i]);
	store_series_join(into, &part);
	return 0;
}

int store_series_of(struct store_reader *reader, uint32_t stream, uint32_t metric, uint64_t begin_ns,
	uint64_t end_ns, struct store_series *into, struct error *error)
{
	struct store_series_query query = {.reader = reader,
		.stream = stream,
		.metric = metric,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.wants = want,
		.sum = take_sum,
		.rows = take_rows,
		.own = into};

	*into = (struct store_series){.metric = metric,
		.kind = reader->metrics.metrics[metric].kind,
		.is_real = reader->metrics.metrics[metric].is_real};
	return begin_ns < end_ns ? store_series_read(&query, error) : 0;
}
