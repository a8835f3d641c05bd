/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - the sums of a window: growing arrays with an index by key, and the times among them: from
 * extents, by walking them, or from rollups. window_weight.c handles weights.
 */
#include "timeline/sum/window.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/intern_table.h"
#include "timeline/sum/all_streams_sum.h"
#include "timeline/sum/parallel_sum.h"
#include "timeline/sum/window_internal.h"

/* ---- rows ---- */

uint32_t window_rows_add(struct window_rows *rows, const void *row)
{
	if (rows->count >= UINT32_MAX / 2 ||
		!array_widen(&rows->at, &rows->capacity, rows->count, rows->row_bytes))
		return 0;
	memcpy((uint8_t *)rows->at + rows->count * rows->row_bytes, row, rows->row_bytes);
	return (uint32_t)++rows->count;
}

bool window_index_widen(struct window_index *index, uint32_t count)
{
	/* Mostly all that there will be: what is not touched of it costs nothing. */
	uint32_t *places = calloc(count, sizeof *places);

	if (!places)
		return false;
	if (index->count)
		memcpy(places, index->places, index->count * sizeof *places);
	free(index->places);
	index->places = places;
	index->count = count;
	return true;
}

static struct window_time *time_at(const struct window *window, uint32_t place)
{
	return (struct window_time *)window->times.at + (place - 1);
}

static uint64_t hash_of(const struct window_time *time)
{
	return intern_table_hash(intern_table_hash(time->context, time->op), time->state);
}

static uint64_t time_hash(const void *window, uint32_t number)
{
	return hash_of(time_at(window, number + 1));
}

static bool time_equal(const void *window, uint32_t number, const void *key)
{
	const struct window_time *a = time_at(window, number + 1), *b = key;

	return a->context == b->context && a->op == b->op && a->state == b->state;
}

/* The row of a key other than work between samples, made if new; NULL: no memory. */
static struct window_time *time_row(struct window *window, const struct window_time *key)
{
	uint32_t *slot;

	if (!hash_index_reserve(&window->others, window->other_count, time_hash, window))
		return NULL;
	slot = hash_index_slot(&window->others, hash_of(key), time_equal, window, key);
	if (!*slot) {
		*slot = window_rows_add(&window->times, key);
		window->other_count += *slot != 0;
	}
	return *slot ? time_at(window, *slot) : NULL;
}

/* Makes the row of a context's work between samples; NULL: no memory. */
static struct window_time *new_work(struct window *window, uint32_t context)
{
	const struct window_time key = {.context = context, .op = STORE_OP_NONE, .state = EXTENT_WORK};
	uint32_t place;

	if (!window_index_reach(&window->columns, window->run))
		return NULL;
	place = window_rows_add(&window->times, &key);
	if (!place)
		return NULL;
	window->columns.places[context] = place;
	return time_at(window, place);
}

static struct window_time *work_row(struct window *window, uint32_t context)
{
	uint32_t place = window_index_at(&window->columns, context);

	return place ? time_at(window, place) : new_work(window, context);
}

/* ---- a window ---- */

int window_new(struct window **window, struct run *run, struct error *error)
{
	*window = calloc(1, sizeof **window);
	if (!*window)
		return error_memory(error);
	(*window)->run = run;
	(*window)->times.row_bytes = sizeof(struct window_time);
	(*window)->weights.row_bytes = sizeof(struct window_weight);
	return 0;
}

void window_free(struct window *window)
{
	if (!window)
		return;
	free(window->times.at);
	free(window->others.slots);
	free(window->columns.places);
	free(window->weights.at);
	for (uint32_t i = 0; i < window->metric_count; i++)
		free(window->metrics[i].places);
	free(window->metrics);
	free(window);
}

int window_put_time(struct window *window, const struct window_time *time, struct error *error)
{
	struct window_time key = {.context = time->context, .op = time->op, .state = time->state};
	bool is_work = key.state == EXTENT_WORK && key.op == STORE_OP_NONE;
	struct window_time *row = is_work ? work_row(window, key.context) : time_row(window, &key);

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

/* Those whose rows are there: where the first is not. Nothing but what it adds to changes meanwhile, which
 * the compiler cannot know. */
static uint32_t add_known(struct window *window, const struct store_sum_columns *columns,
	const uint32_t *run_ids, uint32_t from)
{
	struct window_time *rows = window->times.at;
	const uint32_t *places = window->columns.places, *contexts = columns->contexts;
	const uint64_t *samples = columns->samples, *times_ns = columns->times_ns;
	const uint32_t count = columns->count;
	uint32_t i = from;

	for (; i < count; i++) {
		uint32_t context = contexts[i], place = places[run_ids ? run_ids[context] : context];

		if (!place)
			break;
		rows[place - 1].time_ns += times_ns[i];
		rows[place - 1].records += samples[i];
	}
	return i;
}

/* Rollups bring thousands at a time. Ids were checked by the reader, and the run holds as many. */
static int take_columns(
	void *own, const struct store_sum_columns *columns, const uint32_t *run_ids, struct error *error)
{
	struct window *window = own;
	uint32_t i = 0;

	if (!window_index_reach(&window->columns, window->run))
		return error_memory(error);
	while ((i = add_known(own, columns, run_ids, i)) < columns->count)
		if (!new_work(own, run_ids ? run_ids[columns->contexts[i]] : columns->contexts[i]))
			return error_memory(error);
	return 0;
}

static size_t add_known_rows(struct window *window, const struct state_sum_rows *from, size_t i)
{
	struct window_time *rows = window->times.at;
	const uint32_t *places = window->columns.places, *contexts = from->context, *run_ids = from->contexts;
	const uint64_t *begin_ns = from->begin_ns;
	const size_t count = from->count;

	for (; i + 1 < count; i++) {
		uint32_t context = contexts[i], place = places[run_ids ? run_ids[context] : context];

		if (!place)
			break;
		rows[place - 1].time_ns += begin_ns[i + 1] - begin_ns[i];
		rows[place - 1].records++;
	}
	return i;
}

/* Each until the next one; the last one is given apart. */
static int take_rows(void *own, const struct state_sum_rows *rows, struct error *error)
{
	struct window *window = own;
	size_t i = 0;

	if (!window_index_reach(&window->columns, window->run))
		return error_memory(error);
	while ((i = add_known_rows(own, rows, i)) + 1 < rows->count)
		if (!new_work(own, rows->contexts ? rows->contexts[rows->context[i]] : rows->context[i]))
			return error_memory(error);
	return 0;
}

static int take_piece(void *own, const struct extent *extent, struct error *error)
{
	return take_sum(own, extent, extent->end_ns - extent->begin_ns, extent->is_record_begin, error);
}

int window_add_time(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct state_sum_sink sink = {.own = window,
		.piece = take_piece,
		.sum = take_sum,
		.columns = take_columns,
		.rows = take_rows};

	return state_sum(window->run, stream, begin_ns, end_ns, 63, &sink, error);
}

static int share_time(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	(void)own;
	return window_add_time(window, stream, begin_ns, end_ns, error);
}

/* Who asks what buckets do not tell. */
struct asking {
	struct window *window;
	const uint32_t *streams;
	uint32_t count, gap_count;
	const struct all_streams_gap *gaps;
};

static int share_gaps(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	const struct asking *asking = own;
	const unsigned store = run_stream(window->run, stream)->store;
	int code = 0;

	(void)begin_ns;
	(void)end_ns;
	for (uint32_t i = 0; i < asking->gap_count && !code; i++)
		if (asking->gaps[i].store == store)
			code = window_add_time(
				window, stream, asking->gaps[i].begin_ns, asking->gaps[i].end_ns, error);
	return code;
}

static int ask_gaps(void *own, const struct all_streams_gap *gaps, uint32_t count, struct error *error)
{
	struct asking *asking = own;

	asking->gaps = gaps;
	asking->gap_count = count;
	return parallel_sum_streams(asking->window, asking->window->run, asking->streams, asking->count, 0, 0,
		share_gaps, asking, error);
}

int window_add_times(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct state_sum_sink sink = {.own = window,
		.piece = take_piece,
		.sum = take_sum,
		.columns = take_columns,
		.rows = take_rows};
	struct asking asking = {.window = window, .streams = streams, .count = count};
	const struct all_streams_asker asker = {&asking, ask_gaps};
	int code = all_streams_sum(window->run, streams, count, begin_ns, end_ns, &sink, &asker, error);

	if (code)
		return code < 0 ? code : 0;
	return parallel_sum_streams(
		window, window->run, streams, count, begin_ns, end_ns, share_time, NULL, error);
}

const struct window_time *window_times(const struct window *window, size_t *count)
{
	*count = window->times.count;
	return window->times.at;
}
