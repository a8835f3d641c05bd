/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_weight.c - the weights of a window: samples, and counters' values, out of what rollups have summed
 * already and the rows between them.
 */
#include <stdlib.h>
#include <string.h>

#include "store/rollup.h"
#include "timeline/scan.h"
#include "timeline/share.h"
#include "timeline/table.h"
#include "timeline/window_parts.h"

static uint64_t weight_hash(const void *row)
{
	const struct window_weight *weight = row;

	return table_hash(weight->context, weight->metric);
}

static bool weight_same(const void *x, const void *y)
{
	const struct window_weight *a = x, *b = y;

	return a->context == b->context && a->metric == b->metric;
}

const struct window_kind window_weight_kind = {sizeof(struct window_weight), weight_hash, weight_same};

static struct window_weight *weight_row(struct window *window, uint32_t context, uint32_t metric)
{
	struct window_weight key = {.context = context, .metric = metric};

	return window_row(&window->weights, &key);
}

static void add_weight(struct window *window, struct window_weight *row, uint64_t weight)
{
	row->weight += weight;
	window->has_wrapped |= row->weight < weight;
}

static int refuse_wrapped(const struct window *window, struct error *error)
{
	if (!window->has_wrapped)
		return 0;
	return error_set(error, ERROR_USAGE,
		"weights are more than 64 bits hold together in this window: choose fewer --streams, or a "
		"part "
		"of it with --time");
}

int window_put_weight(struct window *window, const struct window_weight *weight, struct error *error)
{
	struct window_weight *row = weight_row(window, weight->context, weight->metric);

	if (!row)
		return error_memory(error);
	row->samples += weight->samples;
	add_weight(window, row, weight->weight);
	row->real += weight->real;
	return refuse_wrapped(window, error);
}

static void add_sample(struct window *window, struct window_weight *row, uint64_t amount, bool is_real)
{
	double real;

	row->samples++;
	if (is_real) {
		memcpy(&real, &amount, sizeof real);
		row->real += real;
	} else {
		add_weight(window, row, amount);
	}
}

/* Values without a context are gauges: they add up to nothing. */
static bool adds_up(enum store_track track, uint32_t context)
{
	return track != STORE_VALUES || context != 0;
}

static int scan_track(struct window *window, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int code = scan_open(&scan, window->run, stream, track, begin_ns, end_ns,
		STORE_AMOUNT | STORE_CONTEXT | STORE_WHAT, 0, error);

	if (code)
		return code;
	while ((count = scan_next(scan, &batch, error)) > 0 && !code)
		for (size_t i = 0; i < batch->count && !code; i++) {
			struct window_weight *row;

			if (!adds_up(track, batch->context[i]))
				continue;
			row = weight_row(window, batch->context[i], batch->what[i]);
			if (row)
				add_sample(window, row, batch->amount[i],
					run_metric_is_real(window->run, batch->what[i]));
			else
				code = error_memory(error);
		}
	scan_close(scan);
	return count < 0 ? (int)count : code;
}

/* ---- weights from rollups ---- */

static struct window_places *places_new(struct window *window, const struct run_part *part, uint32_t metric)
{
	struct window_places *places =
		reallocarray(window->places, window->place_count + 1, sizeof *window->places);

	if (!places)
		return NULL;
	window->places = places;
	places += window->place_count;
	*places = (struct window_places){part, metric, part->context_count, NULL};
	places->rows = calloc((size_t)part->context_count + 1, sizeof *places->rows);
	if (!places->rows)
		return NULL;
	window->place_count++;
	return places;
}

/* The last one first: what follows is mostly of the same. */
static struct window_places *places_of(struct window *window, const struct run_part *part, uint32_t metric)
{
	for (size_t i = window->place_count; i-- > 0;)
		if (window->places[i].part == part && window->places[i].metric == metric &&
			window->places[i].count == part->context_count)
			return &window->places[i];
	return places_new(window, part, metric);
}

/* The row of a context of the store; NULL when memory is out. */
static struct window_weight *place_row(
	struct window *window, const struct window_places *places, uint32_t context)
{
	const struct run_part *part = places->part;
	struct window_weight *row;

	if (places->rows[context])
		return (struct window_weight *)window->weights.rows + (places->rows[context] - 1);
	row = weight_row(
		window, part->contexts ? part->contexts[context] : context, part->metrics[places->metric]);
	if (row)
		places->rows[context] = (uint32_t)(row - (struct window_weight *)window->weights.rows) + 1;
	return row;
}

/* Ids were checked by the reader, and the run holds as many of each. */
static bool add_sums(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	const struct window_places *places = NULL;

	for (size_t i = 0; i < from->count; i++) {
		const struct store_sum *sum = &from->sums[i];
		struct window_weight *row;

		if (!adds_up(track, sum->context))
			continue;
		if (!places || places->metric != sum->metric)
			places = places_of(window, part, sum->metric);
		row = places ? place_row(window, places, sum->context) : NULL;
		if (!row)
			return false;
		row->samples += sum->samples;
		add_weight(window, row, sum->weight);
	}
	return true;
}

static bool add_rows(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	const struct store_batch *batch = from->batch;
	const struct window_places *places = NULL;
	bool is_real = false;

	for (size_t i = from->from; i < from->to; i++) {
		struct window_weight *row;

		if (!adds_up(track, batch->context[i]))
			continue;
		if (!places || places->metric != batch->what[i]) {
			places = places_of(window, part, batch->what[i]);
			is_real = run_metric_is_real(window->run, part->metrics[batch->what[i]]);
		}
		row = places ? place_row(window, places, batch->context[i]) : NULL;
		if (!row)
			return false;
		add_sample(window, row, batch->amount[i], is_real);
	}
	return true;
}

static bool add_part(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	return from->sums ? add_sums(window, part, track, from) : add_rows(window, part, track, from);
}

/* Then a rollup may have wrapped; where records were dropped it is all there is. */
static bool has_wide_sums(const struct run_part *part)
{
	return store_reader_meta(part->reader, STORE_META_WIDE) != NULL;
}

static int add_track(struct window *window, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct run_stream *r = run_stream(window->run, stream);
	const struct run_part *part = &window->run->parts[r->store];
	struct store_rollup_part from;
	struct store_rollup *rollup;
	int code;

	if (window->run->options.no_rollups || (has_wide_sums(part) && !r->s.thinned_ns)) {
		code = scan_track(window, stream, track, begin_ns, end_ns, error);
		return code ? code : refuse_wrapped(window, error);
	}
	code = store_rollup_open(&rollup, part->reader, r->id_in_store, track,
		run_part_store_time(part, begin_ns), run_part_store_time(part, end_ns), error);
	if (code)
		return code;
	while ((code = store_rollup_next(rollup, &from, error)) == 1)
		if (!add_part(window, part, track, &from)) {
			code = error_memory(error);
			break;
		}
	store_rollup_close(rollup);
	return code ? code : refuse_wrapped(window, error);
}

int window_add_weight(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	return add_track(window, stream, STORE_SAMPLES, begin_ns, end_ns, error);
}

/* The totals of all stores: 1; 0: one has none, and nothing was added. */
static int add_totals(struct window *window, struct error *error)
{
	struct store_rollup_part from;
	int code = 1;

	for (unsigned i = 0; i < window->run->part_count && code == 1; i++)
		code = has_wide_sums(&window->run->parts[i])
			       ? 0
			       : store_rollup_total(window->run->parts[i].reader, &from, error);
	for (unsigned i = 0; i < window->run->part_count && code == 1; i++) {
		code = store_rollup_total(window->run->parts[i].reader, &from, error);
		if (code == 1 && !add_part(window, &window->run->parts[i], STORE_SAMPLES, &from))
			code = error_memory(error);
	}
	return code == 1 && window->has_wrapped ? refuse_wrapped(window, error) : code;
}

static int share_weight(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	(void)own;
	return window_add_weight(window, stream, begin_ns, end_ns, error);
}

static int share_values(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	(void)own;
	if (!run_stream(window->run, stream)->s.count[STORE_VALUES])
		return 0;
	return add_track(window, stream, STORE_VALUES, begin_ns, end_ns, error);
}

int window_add_weights(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	int code = 0;

	if (begin_ns == 0 && end_ns == STORE_OPEN_NS && count == run_stream_count(window->run) &&
		!window->run->options.no_rollups)
		code = add_totals(window, error);
	if (code)
		return code < 0 ? code : 0;
	return share_streams(
		window, window->run, streams, count, begin_ns, end_ns, share_weight, NULL, error);
}

int window_add_values(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	for (uint32_t i = 0; i < count; i++)
		if (run_stream(window->run, streams[i])->s.count[STORE_VALUES])
			return share_streams(window, window->run, streams, count, begin_ns, end_ns,
				share_values, NULL, error);
	return 0;
}

int window_check_weights(struct window *window, struct error *error)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);
	struct window_weight *sums;
	uint32_t metrics = 0;

	for (size_t i = 0; i < count; i++)
		metrics = weights[i].metric >= metrics ? weights[i].metric + 1 : metrics;
	sums = calloc((size_t)metrics + 1, sizeof *sums);
	if (!sums)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		add_weight(window, &sums[weights[i].metric], weights[i].weight);
	free(sums);
	return refuse_wrapped(window, error);
}

const struct window_weight *window_weights(const struct window *window, size_t *count)
{
	*count = window->weights.count;
	return (const struct window_weight *)window->weights.rows;
}
