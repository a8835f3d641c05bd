/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - sums a window: extents by walking them, weights by what rollups have summed already. Sums are
 * kept by key in arrays that grow, with an index of their places.
 */
#include "timeline/window.h"

#include <stdlib.h>
#include <string.h>

#include "store/rollup.h"
#include "timeline/crowd_sum.h"
#include "timeline/run_parts.h"
#include "timeline/scan.h"
#include "timeline/share.h"
#include "timeline/table.h"

/* What rows of a kind are told apart by. */
struct kind {
	size_t row_bytes;
	uint64_t (*hash)(const void *row);
	bool (*same)(const void *a, const void *b);
};

/* Rows of one kind in an array, and where each key stands in it. */
struct sums {
	const struct kind *kind;
	uint8_t *rows;
	size_t count, room;
	uint32_t *slots; /* place + 1, 0: free; twice as many as room */
};

/* Where the weights of a store's contexts stand, for one metric: rollups bring thousands at a time. */
struct places {
	const struct run_part *part;
	uint32_t metric; /* of the store */
	uint32_t count;
	uint32_t *rows; /* [context of the store] place + 1 */
};

struct window {
	struct run *run;
	struct sums times, weights;
	uint32_t *works; /* [run context] place + 1 of its work between samples */
	uint32_t work_count;
	struct places *places;
	size_t place_count;
};

static uint64_t time_hash(const void *row)
{
	const struct window_time *time = row;

	return table_hash(table_hash(time->context, time->op), time->state);
}

static bool time_same(const void *x, const void *y)
{
	const struct window_time *a = x, *b = y;

	return a->context == b->context && a->op == b->op && a->state == b->state;
}

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

static const struct kind time_kind = {sizeof(struct window_time), time_hash, time_same};
static const struct kind weight_kind = {sizeof(struct window_weight), weight_hash, weight_same};

/* The slot of a key, or the free one where it belongs. */
static uint32_t *slot_of(const struct sums *sums, const void *key)
{
	size_t mask = sums->room * 2 - 1, i = sums->kind->hash(key) & mask;

	while (sums->slots[i] &&
		!sums->kind->same(sums->rows + (sums->slots[i] - 1) * sums->kind->row_bytes, key))
		i = (i + 1) & mask;
	return &sums->slots[i];
}

static bool widen(struct sums *sums)
{
	size_t room = sums->room ? sums->room * 2 : 64;
	uint8_t *rows = room < UINT32_MAX ? realloc(sums->rows, room * sums->kind->row_bytes) : NULL;
	uint32_t *slots;

	if (!rows)
		return false;
	sums->rows = rows;
	slots = calloc(room * 2, sizeof *slots);
	if (!slots)
		return false;
	free(sums->slots);
	sums->slots = slots;
	sums->room = room;
	for (size_t i = 0; i < sums->count; i++)
		*slot_of(sums, rows + i * sums->kind->row_bytes) = (uint32_t)i + 1;
	return true;
}

/* The row of a key, made from it when it is new; NULL when memory is out. */
static void *row_of(struct sums *sums, const void *key)
{
	uint32_t *slot;

	if (sums->count == sums->room && !widen(sums))
		return NULL;
	slot = slot_of(sums, key);
	if (!*slot) {
		memcpy(sums->rows + sums->count * sums->kind->row_bytes, key, sums->kind->row_bytes);
		*slot = (uint32_t)++sums->count;
	}
	return sums->rows + (*slot - 1) * sums->kind->row_bytes;
}

int window_new(struct window **window, struct run *run, struct error *error)
{
	*window = calloc(1, sizeof **window);
	if (!*window)
		return error_memory(error);
	(*window)->run = run;
	(*window)->times.kind = &time_kind;
	(*window)->weights.kind = &weight_kind;
	return 0;
}

void window_free(struct window *window)
{
	if (!window)
		return;
	free(window->times.rows);
	free(window->times.slots);
	free(window->works);
	free(window->weights.rows);
	free(window->weights.slots);
	for (size_t i = 0; i < window->place_count; i++)
		free(window->places[i].rows);
	free(window->places);
	free(window);
}

int window_put_time(struct window *window, const struct window_time *time, struct error *error)
{
	struct window_time key = {.context = time->context, .op = time->op, .state = time->state};
	struct window_time *row = row_of(&window->times, &key);

	if (!row)
		return error_memory(error);
	row->time_ns += time->time_ns;
	row->records += time->records;
	return 0;
}

static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	const struct window_time time = {.context = key->context,
		.op = key->op,
		.state = key->state,
		.records = records,
		.time_ns = time_ns};

	return window_put_time(own, &time, error);
}

static bool reach_works(struct window *window, uint32_t context)
{
	uint32_t count = run_context_count(window->run);
	uint32_t *wider;

	if (context < window->work_count)
		return true;
	count = count > context ? count : context + 1;
	wider = reallocarray(window->works, count, sizeof *wider);
	if (!wider)
		return false;
	memset(wider + window->work_count, 0, (count - window->work_count) * sizeof *wider);
	window->works = wider;
	window->work_count = count;
	return true;
}

/* The row of a context's work between samples; NULL when memory is out. */
static struct window_time *work_row(struct window *window, uint32_t context)
{
	const struct window_time key = {.context = context, .op = STORE_OP_NONE, .state = EXTENT_WORK};
	struct window_time *row;

	if (!reach_works(window, context))
		return NULL;
	if (window->works[context])
		return (struct window_time *)window->times.rows + (window->works[context] - 1);
	row = row_of(&window->times, &key);
	if (row)
		window->works[context] = (uint32_t)(row - (struct window_time *)window->times.rows) + 1;
	return row;
}

/* Rollups bring thousands at a time. */
static int take_works(
	void *own, const struct store_works *works, const uint32_t *contexts, struct error *error)
{
	for (uint32_t i = 0; i < works->count; i++) {
		uint32_t context = works->contexts[i];
		struct window_time *row = work_row(own, contexts ? contexts[context] : context);

		if (!row)
			return error_memory(error);
		row->time_ns += works->times_ns[i];
		row->records += works->samples[i];
	}
	return 0;
}

static int take_piece(void *own, const struct extent *extent, struct error *error)
{
	return take_sum(own, extent, extent->end_ns - extent->begin_ns, extent->is_record_begin, error);
}

int window_add_time(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct line_sink sink = {
		.own = window, .piece = take_piece, .sum = take_sum, .works = take_works};

	return line_sum(window->run, stream, begin_ns, end_ns, 63, &sink, error);
}

static struct window_weight *weight_row(struct window *window, uint32_t context, uint32_t metric)
{
	struct window_weight key = {.context = context, .metric = metric};

	return row_of(&window->weights, &key);
}

int window_put_weight(struct window *window, const struct window_weight *weight, struct error *error)
{
	struct window_weight *row = weight_row(window, weight->context, weight->metric);

	if (!row)
		return error_memory(error);
	row->samples += weight->samples;
	row->weight += weight->weight;
	row->real += weight->real;
	return 0;
}

static void add_sample(struct window_weight *row, uint64_t amount, bool is_real)
{
	double real;

	row->samples++;
	if (is_real) {
		memcpy(&real, &amount, sizeof real);
		row->real += real;
	} else {
		row->weight += amount;
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
				add_sample(row, batch->amount[i],
					run_metric_is_real(window->run, batch->what[i]));
			else
				code = error_memory(error);
		}
	scan_close(scan);
	return count < 0 ? (int)count : code;
}

/* ---- weights from rollups ---- */

static struct places *places_new(struct window *window, const struct run_part *part, uint32_t metric)
{
	struct places *places = reallocarray(window->places, window->place_count + 1, sizeof *window->places);

	if (!places)
		return NULL;
	window->places = places;
	places += window->place_count;
	*places = (struct places){part, metric, part->context_count, NULL};
	places->rows = calloc((size_t)part->context_count + 1, sizeof *places->rows);
	if (!places->rows)
		return NULL;
	window->place_count++;
	return places;
}

/* The last one first: what follows is mostly of the same. */
static struct places *places_of(struct window *window, const struct run_part *part, uint32_t metric)
{
	for (size_t i = window->place_count; i-- > 0;)
		if (window->places[i].part == part && window->places[i].metric == metric &&
			window->places[i].count == part->context_count)
			return &window->places[i];
	return places_new(window, part, metric);
}

/* The row of a context of the store; NULL when memory is out. */
static struct window_weight *place_row(struct window *window, const struct places *places, uint32_t context)
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
	const struct places *places = NULL;

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
		row->weight += sum->weight;
	}
	return true;
}

static bool add_rows(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	const struct store_batch *batch = from->batch;
	const struct places *places = NULL;
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
		add_sample(row, batch->amount[i], is_real);
	}
	return true;
}

static bool add_part(struct window *window, const struct run_part *part, enum store_track track,
	const struct store_rollup_part *from)
{
	return from->sums ? add_sums(window, part, track, from) : add_rows(window, part, track, from);
}

static int add_track(struct window *window, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct run_stream *r = run_stream(window->run, stream);
	const struct run_part *part = &window->run->parts[r->store];
	struct store_rollup_part from;
	struct store_rollup *rollup;
	int code;

	if (window->run->options.no_rollups)
		return scan_track(window, stream, track, begin_ns, end_ns, error);
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
	return code;
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
		code = store_rollup_total(window->run->parts[i].reader, &from, error);
	for (unsigned i = 0; i < window->run->part_count && code == 1; i++) {
		code = store_rollup_total(window->run->parts[i].reader, &from, error);
		if (code == 1 && !add_part(window, &window->run->parts[i], STORE_SAMPLES, &from))
			code = error_memory(error);
	}
	return code;
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

static int share_time(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	(void)own;
	return window_add_time(window, stream, begin_ns, end_ns, error);
}

int window_add_times(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct line_sink sink = {
		.own = window, .piece = take_piece, .sum = take_sum, .works = take_works};
	int code = crowd_sum(window->run, streams, count, begin_ns, end_ns, &sink, error);

	if (code)
		return code < 0 ? code : 0;
	return share_streams(window, window->run, streams, count, begin_ns, end_ns, share_time, NULL, error);
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

const struct window_time *window_times(const struct window *window, size_t *count)
{
	*count = window->times.count;
	return (const struct window_time *)window->times.rows;
}

const struct window_weight *window_weights(const struct window *window, size_t *count)
{
	*count = window->weights.count;
	return (const struct window_weight *)window->weights.rows;
}
