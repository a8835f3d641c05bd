/* SPDX-License-Identifier: Apache-2.0 */
/* imbalance.c - see imbalance.h: maps the window's sums of each stream to keys. */
#include "blame/idle/imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/sum/window.h"

struct imbalance_key {
	struct store_hash text;
	uint64_t is_gpu;
};

/* A row while it grows: `here_ns` is of the stream that is being read. */
struct sum {
	uint64_t here_ns;
	double squares;
	uint32_t seen;
	bool is_gpu;
};

struct imbalance_work {
	struct run *run;
	const struct select *select;
	enum row_key_by by;
	struct arena *arena;
	struct key_ids keys;
	struct imbalance_row *rows;
	struct sum *sums;
	uint32_t capacity;
	struct store_bytes key; /* scratch */
	uint32_t streams[2];	/* CPU, GPU */
};

static bool rows_widen(struct imbalance_work *work)
{
	uint32_t capacity = work->capacity ? 2 * work->capacity : 256;

	if (!array_resize(&work->rows, capacity, sizeof(*work->rows)) ||
		!array_resize(&work->sums, capacity, sizeof(*work->sums)))
		return false;
	work->capacity = capacity;
	return true;
}

static bool add_cell(struct imbalance_work *work, const struct window_time *cell, bool is_gpu)
{
	struct imbalance_key key = {.is_gpu = is_gpu};
	uint32_t row;
	bool is_new;

	work->key.size = 0;
	if (!row_key_put(&work->key, work->run, cell->context, work->by, select_depth(work->select)))
		return false;
	key.text = store_hash128(work->key.data, work->key.size);
	row = key_ids_put(&work->keys, &key, &is_new);
	if (row == KEY_IDS_NONE || (row >= work->capacity && !rows_widen(work)))
		return false;
	if (is_new) {
		work->sums[row] = (struct sum){.is_gpu = is_gpu};
		work->rows[row] = (struct imbalance_row){
			.key = arena_copy(work->arena, (const char *)work->key.data, work->key.size)};
	}
	work->sums[row].here_ns += cell->time_ns;
	return work->rows[row].key != NULL;
}

/* The stream is read: what it did is one value of each row. */
static void close_stream(struct imbalance_work *work, uint32_t stream)
{
	for (uint32_t i = 0; i < work->keys.count; i++) {
		struct imbalance_row *row = &work->rows[i];
		struct sum *sum = &work->sums[i];

		if (!sum->here_ns)
			continue;
		if (!sum->seen || sum->here_ns < row->min_ns)
			row->min_ns = sum->here_ns;
		if (sum->here_ns > row->max_ns) {
			row->max_ns = sum->here_ns;
			row->busiest = stream;
		}
		row->total_ns += sum->here_ns;
		sum->squares += (double)sum->here_ns * (double)sum->here_ns;
		sum->seen++;
		sum->here_ns = 0;
	}
}

static int add_stream(
	struct imbalance_work *work, struct window *window, uint32_t stream, struct error *error)
{
	bool is_gpu = run_stream(work->run, stream)->s.kind == STORE_STREAM_GPU;
	size_t count;
	const struct window_time *cells;
	int result = window_add_time(
		window, stream, select_begin_ns(work->select), select_end_ns(work->select), error);

	if (result)
		return result;
	cells = window_times(window, &count);
	for (size_t i = 0; i < count; i++)
		if (extent_state_is_busy(cells[i].state) && cells[i].context &&
			select_wants_context(work->select, cells[i].context) &&
			!add_cell(work, &cells[i], is_gpu))
			return error_memory(error);
	work->streams[is_gpu]++;
	close_stream(work, stream);
	return 0;
}

static int row_compare(const void *left, const void *right)
{
	const struct imbalance_row *a = left, *b = right;
	double loss_a = (double)a->max_ns - a->mean_ns, loss_b = (double)b->max_ns - b->mean_ns;

	if (loss_a != loss_b)
		return loss_a > loss_b ? -1 : 1;
	return strcmp(a->key, b->key);
}

static int finish(struct imbalance_work *work, struct imbalance *balance, struct error *error)
{
	uint32_t count = work->keys.count;

	balance->count = count;
	balance->rows = arena_calloc(work->arena, count + 1, sizeof(*balance->rows));
	if (!balance->rows)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		struct imbalance_row *row = &balance->rows[i];
		const struct sum *sum = &work->sums[i];
		double variance;

		*row = work->rows[i];
		row->streams = work->streams[sum->is_gpu];
		if (sum->seen < row->streams)
			row->min_ns = 0;
		row->mean_ns = (double)row->total_ns / row->streams;
		variance = sum->squares / row->streams - row->mean_ns * row->mean_ns;
		row->sd_ns = variance > 0 ? sqrt(variance) : 0;
		row->cv = row->mean_ns > 0 ? row->sd_ns / row->mean_ns : 0;
	}
	qsort(balance->rows, count, sizeof(*balance->rows), row_compare);
	return 0;
}

int imbalance_make(struct imbalance *balance, struct run *run, const struct select *select,
	const uint32_t *streams, uint32_t count, enum row_key_by by, struct arena *arena, struct error *error)
{
	struct imbalance_work work = {.run = run, .select = select, .by = by, .arena = arena};
	int result = 0;

	key_ids_init(&work.keys, sizeof(struct imbalance_key));
	for (uint32_t i = 0; i < count && !result; i++) {
		struct window *window;

		result = window_new(&window, run, error);
		if (!result)
			result = add_stream(&work, window, streams[i], error);
		window_free(window);
	}
	if (!result)
		result = finish(&work, balance, error);
	key_ids_fini(&work.keys);
	store_bytes_fini(&work.key);
	free(work.rows);
	free(work.sums);
	return result;
}
