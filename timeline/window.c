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

/* Sums of one kind: an array and where each key stands in it. */
struct sums {
	void *rows;
	size_t count, room;
	uint32_t *slots; /* place + 1, 0: free */
	size_t slot_count;
};

struct window {
	struct run *run;
	struct sums times, weights;
};

static uint64_t time_hash(const struct window_time *row)
{
	return table_hash(table_hash(row->context, row->op), row->state);
}

static uint64_t weight_hash(const struct window_weight *row)
{
	return table_hash(row->context, row->metric);
}

/* Slots for twice the rows there will be; false when memory is out. */
static bool sums_widen(struct sums *sums, size_t row_bytes)
{
	size_t room = sums->room ? sums->room * 2 : 64;
	void *rows = room < UINT32_MAX ? realloc(sums->rows, room * row_bytes) : NULL;
	uint32_t *slots;

	if (!rows)
		return false;
	sums->rows = rows;
	slots = calloc(room * 2, sizeof *slots);
	if (!slots)
		return false;
	free(sums->slots);
	sums->slots = slots;
	sums->slot_count = room * 2;
	sums->room = room;
	return true;
}

static void slot_put(struct sums *sums, uint64_t hash, size_t place)
{
	size_t i = hash & (sums->slot_count - 1);

	while (sums->slots[i])
		i = (i + 1) & (sums->slot_count - 1);
	sums->slots[i] = (uint32_t)place + 1;
}

static struct window_time *time_row(struct sums *sums, const struct window_time *key)
{
	struct window_time *rows = sums->rows;
	uint64_t hash = time_hash(key);

	for (size_t i = hash & (sums->slot_count - 1); sums->slot_count && sums->slots[i];
		i = (i + 1) & (sums->slot_count - 1)) {
		struct window_time *row = &rows[sums->slots[i] - 1];

		if (row->context == key->context && row->op == key->op && row->state == key->state)
			return row;
	}
	if (sums->count == sums->room) {
		if (!sums_widen(sums, sizeof *rows))
			return NULL;
		rows = sums->rows;
		for (size_t i = 0; i < sums->count; i++)
			slot_put(sums, time_hash(&rows[i]), i);
	}
	slot_put(sums, hash, sums->count);
	rows[sums->count] = *key;
	return &rows[sums->count++];
}

static struct window_weight *weight_row(struct sums *sums, const struct window_weight *key)
{
	struct window_weight *rows = sums->rows;
	uint64_t hash = weight_hash(key);

	for (size_t i = hash & (sums->slot_count - 1); sums->slot_count && sums->slots[i];
		i = (i + 1) & (sums->slot_count - 1)) {
		struct window_weight *row = &rows[sums->slots[i] - 1];

		if (row->context == key->context && row->metric == key->metric)
			return row;
	}
	if (sums->count == sums->room) {
		if (!sums_widen(sums, sizeof *rows))
			return NULL;
		rows = sums->rows;
		for (size_t i = 0; i < sums->count; i++)
			slot_put(sums, weight_hash(&rows[i]), i);
	}
	slot_put(sums, hash, sums->count);
	rows[sums->count] = *key;
	return &rows[sums->count++];
}

int window_new(struct window **window, struct run *run, struct error *error)
{
	*window = calloc(1, sizeof **window);
	if (!*window)
		return error_memory(error);
	(*window)->run = run;
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
	struct window_time *row = time_row(&window->times, &key);

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
		struct window_weight *row = weight_row(&window->weights, &key);

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
	return window->times.rows;
}

const struct window_weight *window_weights(const struct window *window, size_t *count)
{
	*count = window->weights.count;
	return window->weights.rows;
}
