/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - sums a window by walking its records. Sums are kept by key in arrays that grow, with an index of
 * their places.
 */
#include "timeline/window.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/scan.h"
#include "timeline/table.h"

#define EXTENTS 512

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

struct window {
	struct run *run;
	struct sums times, weights;
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
	free(window->weights.rows);
	free(window->weights.slots);
	free(window);
}

static int add_extent(struct window *window, const struct extent *extent, struct error *error)
{
	struct window_time key = {.context = extent->context, .op = extent->op, .state = extent->state};
	struct window_time *row = row_of(&window->times, &key);

	if (!row)
		return error_memory(error);
	row->time_ns += extent->end_ns - extent->begin_ns;
	row->records += extent->is_record_begin;
	return 0;
}

int window_add_time(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct extent extents[EXTENTS];
	struct extent_walk *walk;
	long count;
	int code = extent_open(&walk, window->run, stream, begin_ns, end_ns, error);

	if (code)
		return code;
	while ((count = extent_next(walk, extents, EXTENTS, error)) > 0)
		for (long i = 0; i < count; i++)
			if ((code = add_extent(window, &extents[i], error)))
				goto close_walk;
	code = (int)count;
close_walk:
	extent_close(walk);
	return code;
}

static int add_batch(struct window *window, const struct batch *batch, struct error *error)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct window_weight key = {.context = batch->context[i], .metric = batch->what[i]};
		struct window_weight *row = row_of(&window->weights, &key);

		if (!row)
			return error_memory(error);
		row->samples++;
		if (run_metric_is_real(window->run, key.metric)) {
			double real;

			memcpy(&real, &batch->amount[i], sizeof real);
			row->real += real;
		} else {
			row->weight += batch->amount[i];
		}
	}
	return 0;
}

int window_add_weight(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int code = scan_open(&scan, window->run, stream, STORE_SAMPLES, begin_ns, end_ns,
		STORE_AMOUNT | STORE_CONTEXT | STORE_WHAT, 0, error);

	if (code)
		return code;
	while ((count = scan_next(scan, &batch, error)) > 0)
		if ((code = add_batch(window, batch, error)))
			break;
	scan_close(scan);
	return count < 0 ? (int)count : code;
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
