/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - see live.h. */
#include "timeline/stats/live.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/scan.h"
#include "timeline/select/select.h"
#include "timeline/sum/window.h"

#define NO_METRIC UINT32_MAX

struct counts {
	uint32_t allocated, freed; /* metrics; NO_METRIC: the run has none */
};

static int find_counts(struct counts *counts, const struct run *run, struct error *error)
{
	*counts = (struct counts){NO_METRIC, NO_METRIC};
	for (uint32_t m = 0; m < run_metric_count(run); m++) {
		if (!strcmp(run_metric_name(run, m), "MEMLEAK:allocated"))
			counts->allocated = m;
		if (!strcmp(run_metric_name(run, m), "MEMLEAK:freed"))
			counts->freed = m;
	}
	return counts->allocated != NO_METRIC
		       ? 0
		       : error_set(error, ERROR_USAGE,
				 "--metric " LIVE_METRIC
				 ": %s has no counts of memory; record it with -e MEMLEAK",
				 run_path(run));
}

/* ---- at a moment ---- */

void live_folding_init(
	struct live_folding *folding, struct run *run, enum stats_by by, uint32_t depth, struct arena *arena)
{
	*folding = (struct live_folding){.run = run, .arena = arena, .by = by, .depth = depth};
	key_ids_init(&folding->keys, sizeof(struct store_hash));
}

struct live_row *live_row_of(struct live_folding *folding, uint32_t context, uint32_t stream)
{
	const struct window_time piece = {.context = context, .state = EXTENT_WORK};
	struct store_hash hash;
	bool is_state, is_new;
	uint32_t number;

	folding->key.size = 0;
	if (!stats_put_key(
		    &folding->key, &is_state, folding->run, &piece, stream, folding->by, folding->depth))
		return NULL;
	hash = store_hash128(folding->key.data, folding->key.size);
	number = key_ids_put(&folding->keys, &hash, &is_new);
	if (number == KEY_IDS_NONE || !array_reserve_zero(&folding->rows, &folding->room, (size_t)number + 1,
					      sizeof *folding->rows))
		return NULL;
	if (is_new)
		folding->rows[number].key =
			arena_copy(folding->arena, (const char *)folding->key.data, folding->key.size);
	return folding->rows[number].key ? &folding->rows[number] : NULL;
}

static int fold(struct live_folding *folding, const struct window *window, const struct counts *counts,
	const struct select *select, uint32_t stream, struct error *error)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count; i++) {
		bool is_allocated = weights[i].metric == counts->allocated;
		struct live_row *row;

		if ((!is_allocated && weights[i].metric != counts->freed) ||
			!select_wants_context(select, weights[i].context))
			continue;
		row = live_row_of(folding, weights[i].context, stream);
		if (!row)
			return error_memory(error);
		*(is_allocated ? &row->allocated_bytes : &row->freed_bytes) += weights[i].weight;
	}
	return 0;
}

static int compare_rows(const void *x, const void *y)
{
	const struct live_row *a = x, *b = y;

	if (a->live_bytes != b->live_bytes)
		return a->live_bytes > b->live_bytes ? -1 : 1;
	return strcmp(a->key, b->key);
}

static int add_streams(struct live_folding *folding, const struct counts *counts, const struct select *select,
	const uint32_t *streams, uint32_t count, uint64_t at_ns, struct error *error)
{
	struct window *window;
	int rc = window_new(&window, folding->run, error);

	if (rc)
		return rc;
	rc = window_add_values(window, streams, count, 0, at_ns, error);
	rc = rc ? rc : fold(folding, window, counts, select, streams[0], error);
	window_free(window);
	return rc;
}

int live_folding_end(struct live *live, struct live_folding *folding, int rc, struct error *error)
{
	*live = (struct live){.count = rc ? 0 : folding->keys.count};
	live->rows = arena_calloc(folding->arena, live->count + 1, sizeof *live->rows);
	if (!rc && !live->rows)
		rc = error_memory(error);
	for (size_t i = 0; i < live->count && !rc; i++) {
		live->rows[i] = folding->rows[i];
		live->rows[i].live_bytes =
			(int64_t)(folding->rows[i].allocated_bytes - folding->rows[i].freed_bytes);
		live->live_bytes += live->rows[i].live_bytes;
	}
	if (!rc && live->count)
		qsort(live->rows, live->count, sizeof *live->rows, compare_rows);
	key_ids_fini(&folding->keys);
	store_bytes_fini(&folding->key);
	free(folding->rows);
	return rc;
}

int live_compute(struct live *live, struct run *run, const struct select *select, uint64_t at_ns,
	enum stats_by by, struct arena *arena, struct error *error)
{
	struct live_folding folding;
	uint32_t count, step;
	const uint32_t *streams = select_streams(select, &count);
	struct counts counts;
	int rc = find_counts(&counts, run, error);

	live_folding_init(&folding, run, by, select_depth(select), arena);
	step = by == STATS_STREAM ? 1 : count;
	for (uint32_t i = 0; i < count && !rc; i += step)
		rc = add_streams(&folding, &counts, select, streams + i, step, at_ns, error);
	return live_folding_end(live, &folding, rc, error);
}

/* ---- the most ---- */

struct change {
	uint64_t time_ns;
	int64_t bytes;
};

static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int read_changes(struct run *run, uint32_t stream, const struct counts *counts,
	struct change **changes, size_t *count, size_t *room, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long got = 0;
	int rc = scan_open(&scan, run, stream, STORE_VALUES, 0, STORE_OPEN_NS,
		STORE_BEGIN | STORE_AMOUNT | STORE_WHAT, 0, error);

	if (rc)
		return rc;
	while (!rc && (got = scan_next(scan, &batch, error)) > 0)
		for (size_t i = 0; i < batch->count && !rc; i++) {
			bool is_freed = batch->what[i] == counts->freed;

			if (!is_freed && batch->what[i] != counts->allocated)
				continue;
			if (!array_reserve(changes, room, *count + 1, sizeof **changes))
				rc = error_memory(error);
			else
				(*changes)[(*count)++] = (struct change){batch->begin_ns[i],
					is_freed ? -(int64_t)batch->amount[i] : (int64_t)batch->amount[i]};
		}
	scan_close(scan);
	return got < 0 ? (int)got : rc;
}

int live_peak(
	uint64_t *at_ns, int64_t *bytes, struct run *run, const struct select *select, struct error *error)
{
	uint32_t stream_count;
	const uint32_t *streams = select_streams(select, &stream_count);
	struct change *changes = NULL;
	size_t count = 0, room = 0;
	struct counts counts;
	int64_t now = 0;
	int rc = find_counts(&counts, run, error);

	*at_ns = 0;
	*bytes = 0;
	for (uint32_t i = 0; i < stream_count && !rc; i++)
		if (run_stream(run, streams[i])->s.count[STORE_VALUES])
			rc = read_changes(run, streams[i], &counts, &changes, &count, &room, error);
	if (!rc && count)
		qsort(changes, count, sizeof *changes, compare_changes);
	for (size_t i = 0; i < count && !rc; i++) {
		now += changes[i].bytes;
		if (now > *bytes && (i + 1 == count || changes[i + 1].time_ns != changes[i].time_ns)) {
			*bytes = now;
			*at_ns = changes[i].time_ns;
		}
	}
	free(changes);
	return rc;
}
