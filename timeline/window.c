/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - the sums of a window, kept by key in arrays that grow, with an index of their places, and the
 * times among them: extents, by walking them or by what rollups have summed already. Weights are
 * window_weight.c's.
 */
#include "timeline/window.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/crowd_sum.h"
#include "timeline/share.h"
#include "timeline/table.h"
#include "timeline/window_parts.h"

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

static const struct window_kind time_kind = {sizeof(struct window_time), time_hash, time_same};
/* The slot of a key, or the free one where it belongs. */
static uint32_t *slot_of(const struct window_sums *sums, const void *key)
{
	size_t mask = sums->room * 2 - 1, i = sums->kind->hash(key) & mask;

	while (sums->slots[i] &&
		!sums->kind->same(sums->rows + (sums->slots[i] - 1) * sums->kind->row_bytes, key))
		i = (i + 1) & mask;
	return &sums->slots[i];
}

static bool widen(struct window_sums *sums)
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

void *window_row(struct window_sums *sums, const void *key)
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
	(*window)->weights.kind = &window_weight_kind;
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
	struct window_time *row = window_row(&window->times, &key);

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
	uint32_t count, *wider;

	if (context < window->work_count)
		return true;
	count = run_context_count(window->run);
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
static inline struct window_time *work_row(struct window *window, uint32_t context)
{
	const struct window_time key = {.context = context, .op = STORE_OP_NONE, .state = EXTENT_WORK};
	struct window_time *row;

	if (__builtin_expect(context < window->work_count && window->works[context], true))
		return (struct window_time *)window->times.rows + (window->works[context] - 1);
	if (!reach_works(window, context))
		return NULL;
	row = window_row(&window->times, &key);
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

/* Each until the next one; the last one is given apart. */
static int take_rows(void *own, const struct line_rows *rows, struct error *error)
{
	for (size_t i = 0; i + 1 < rows->count; i++) {
		uint32_t context = rows->context[i];
		struct window_time *row = work_row(own, rows->contexts ? rows->contexts[context] : context);

		if (!row)
			return error_memory(error);
		row->time_ns += rows->begin_ns[i + 1] - rows->begin_ns[i];
		row->records++;
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
		.own = window, .piece = take_piece, .sum = take_sum, .works = take_works, .rows = take_rows};

	return line_sum(window->run, stream, begin_ns, end_ns, 63, &sink, error);
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
	const struct crowd_gap *gaps;
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

static int ask_gaps(void *own, const struct crowd_gap *gaps, uint32_t count, struct error *error)
{
	struct asking *asking = own;

	asking->gaps = gaps;
	asking->gap_count = count;
	return share_streams(asking->window, asking->window->run, asking->streams, asking->count, 0, 0,
		share_gaps, asking, error);
}

int window_add_times(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct line_sink sink = {
		.own = window, .piece = take_piece, .sum = take_sum, .works = take_works, .rows = take_rows};
	struct asking asking = {.window = window, .streams = streams, .count = count};
	const struct crowd_asker asker = {&asking, ask_gaps};
	int code = crowd_sum(window->run, streams, count, begin_ns, end_ns, &sink, &asker, error);

	if (code)
		return code < 0 ? code : 0;
	return share_streams(window, window->run, streams, count, begin_ns, end_ns, share_time, NULL, error);
}

const struct window_time *window_times(const struct window *window, size_t *count)
{
	*count = window->times.count;
	return (const struct window_time *)window->times.rows;
}
