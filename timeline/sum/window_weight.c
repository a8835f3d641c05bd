/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_weight.c - the weights of a window: samples, and counters' values, from rollups and the rows
 * between them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/rollup/rollup.h"
#include "timeline/scan/scan.h"
#include "timeline/sum/parallel_sum.h"
#include "timeline/sum/window_internal.h"

/* ---- rows ---- */

static bool reach_metric(struct window *window, uint32_t metric)
{
	uint32_t count = run_metric_count(window->run);

	count = count > metric ? count : metric + 1;
	if (!array_resize_zero(&window->metrics, window->metric_count, count, sizeof *window->metrics))
		return false;
	window->metric_count = count;
	return true;
}

/* Where the contexts of a metric stand; NULL: no memory. */
static struct window_index *index_of(struct window *window, uint32_t metric)
{
	if (metric >= window->metric_count && !reach_metric(window, metric))
		return NULL;
	return &window->metrics[metric];
}

static struct window_weight *row_at(const struct window *window, uint32_t place)
{
	return (struct window_weight *)window->weights.at + (place - 1);
}

/* Makes the row; NULL without memory, now or earlier (no index). */
static struct window_weight *new_row(
	struct window *window, struct window_index *index, uint32_t context, uint32_t metric)
{
	const struct window_weight key = {.context = context, .metric = metric};
	uint32_t place;

	if (!index || !window_index_reach(index, window->run))
		return NULL;
	place = window_rows_add(&window->weights, &key);
	if (!place)
		return NULL;
	index->places[context] = place;
	return row_at(window, place);
}

static struct window_weight *weight_row(struct window *window, uint32_t context, uint32_t metric)
{
	struct window_index *index = index_of(window, metric);
	uint32_t place = index ? window_index_at(index, context) : 0;

	return place ? row_at(window, place) : new_row(window, index, context, metric);
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

static inline uint32_t run_id_of(const struct run_part *part, uint32_t context)
{
	return part->contexts ? part->contexts[context] : context;
}

/* Ids were checked by the reader, and the run holds as many of each. */
static bool add_sums(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct store_sum *sum = &from->sums[i];
		struct window_weight *row;

		if (!adds_up(track, sum->context))
			continue;
		row = weight_row(window, run_id_of(part, sum->context), part->metrics[sum->metric]);
		if (!row)
			return false;
		row->samples += sum->samples;
		add_weight(window, row, sum->weight);
	}
	return true;
}

/* Those whose rows are there: where the first is not, or has no context that adds up. Nothing but what it
 * adds to changes meanwhile, which the compiler cannot know. */
static uint32_t add_known(struct window *window, const uint32_t *places,
	const struct store_sum_columns *works, const uint32_t *run_ids, uint64_t none, uint32_t from)
{
	struct window_weight *rows = window->weights.at;
	const uint64_t *samples = works->samples, *weights = works->weights;
	const uint32_t *contexts = works->contexts, count = works->count;
	bool has_wrapped = false;
	uint32_t i = from;

	for (; i < count; i++) {
		uint32_t context = contexts[i], place = places[run_ids ? run_ids[context] : context];
		struct window_weight *row;

		if (!place || context == none)
			break;
		row = &rows[place - 1];
		row->samples += samples[i];
		row->weight += weights[i];
		has_wrapped |= row->weight < weights[i];
	}
	window->has_wrapped |= has_wrapped;
	return i;
}

/* As sums, thousands at a time. */
static bool add_columns(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_sum_columns *works)
{
	const uint32_t metric = part->metrics[works->metric];
	const uint64_t none = adds_up(track, 0) ? UINT64_MAX : 0;
	struct window_index *index = index_of(window, metric);
	uint32_t i = 0;

	if (!index || !window_index_reach(index, window->run))
		return false;
	while ((i = add_known(window, index->places, works, part->contexts, none, i)) < works->count)
		if (works->contexts[i] == none)
			i++;
		else if (!new_row(window, index, run_id_of(part, works->contexts[i]), metric))
			return false;
	return true;
}

/* As add_known(): samples of one metric of whole numbers. */
static size_t add_known_rows(struct window *window, const uint32_t *places, const struct store_batch *batch,
	const uint32_t *run_ids, size_t from, size_t to)
{
	struct window_weight *rows = window->weights.at;
	const uint64_t *amounts = batch->amount;
	const uint32_t *contexts = batch->context, *what = batch->what, metric = what[from];
	bool has_wrapped = false;
	size_t i = from;

	for (; i < to; i++) {
		uint32_t context = contexts[i], place = places[run_ids ? run_ids[context] : context];
		struct window_weight *row;

		if (!place || what[i] != metric)
			break;
		row = &rows[place - 1];
		row->samples++;
		row->weight += amounts[i];
		has_wrapped |= row->weight < amounts[i];
	}
	window->has_wrapped |= has_wrapped;
	return i;
}

static bool add_row(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_batch *batch, size_t i)
{
	const uint32_t metric = part->metrics[batch->what[i]];
	struct window_weight *row;

	if (!adds_up(track, batch->context[i]))
		return true;
	row = weight_row(window, run_id_of(part, batch->context[i]), metric);
	if (!row)
		return false;
	add_sample(window, row, batch->amount[i], run_metric_is_real(window->run, metric));
	return true;
}

static bool add_rows(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	const struct store_batch *batch = from->batch;

	for (size_t i = from->from; i < from->to;) {
		const uint32_t metric = part->metrics[batch->what[i]];
		struct window_index *index = index_of(window, metric);

		if (!index || !window_index_reach(index, window->run))
			return false;
		if (track == STORE_SAMPLES && !run_metric_is_real(window->run, metric))
			i = add_known_rows(window, index->places, batch, part->contexts, i, from->to);
		if (i < from->to && !add_row(window, part, track, batch, i++))
			return false;
	}
	return true;
}

static bool add_part(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	if (from->works)
		return add_columns(window, part, track, from->works);
	return from->sums ? add_sums(window, part, track, from) : add_rows(window, part, track, from);
}

/* Then a rollup may have wrapped. */
static bool has_wide_sums(const struct run_part *part)
{
	return store_reader_meta(part->reader, STORE_META_WIDE) != NULL;
}

/* All that the window asks for is there, record by record? Where some were dropped rollups are all there is.
 */
static bool has_records(const struct run_stream *r, enum store_track track, uint64_t begin_ns)
{
	return track != STORE_SAMPLES || !r->s.dropped[track] || begin_ns >= r->s.thinned_ns;
}

static int refuse_dropped(const struct window *window, const struct run_stream *r, struct error *error)
{
	return error_set(error, ERROR_USAGE,
		"weights of this flight recording are more than 64 bits hold together, and records of %s "
		"were "
		"dropped: choose a window after them, --time %" PRIu64 "ns.. or later",
		r->text, r->s.thinned_ns - run_origin_ns(window->run));
}

static int add_track(struct window *window, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct run_stream *r = run_stream(window->run, stream);
	const struct run_part *part = &window->run->parts[r->store];
	struct store_rollup_part from;
	struct store_rollup *rollup;
	int code;

	if (window->run->options.no_rollups || has_wide_sums(part)) {
		if (!window->run->options.no_rollups && !has_records(r, track, begin_ns) &&
			end_ns > r->s.begin_ns)
			return refuse_dropped(window, r, error);
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

	if (begin_ns == 0 && end_ns == STORE_OPEN_NS && count == run_timed_count(window->run) &&
		!window->run->options.no_rollups)
		code = add_totals(window, error);
	if (code)
		return code < 0 ? code : 0;
	return parallel_sum_streams(
		window, window->run, streams, count, begin_ns, end_ns, share_weight, NULL, error);
}

int window_add_values(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	for (uint32_t i = 0; i < count; i++)
		if (run_stream(window->run, streams[i])->s.count[STORE_VALUES])
			return parallel_sum_streams(window, window->run, streams, count, begin_ns, end_ns,
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
	return window->weights.at;
}
