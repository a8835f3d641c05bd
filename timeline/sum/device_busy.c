/* SPDX-License-Identifier: Apache-2.0 */
/* device_busy.c - see device_busy.h. */
#include "timeline/sum/device_busy.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/states/device_busy.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"

#define BATCH 64

/* ---- devices ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_devices(const struct run_stream *a, const struct run_stream *b)
{
	int order = compare_numbers(a->store, b->store);

	order = order ? order : compare_numbers(a->s.host, b->s.host);
	order = order ? order : compare_numbers(a->s.pid, b->s.pid);
	order = order ? order : compare_numbers(a->s.generation, b->s.generation);
	return order ? order : compare_numbers(a->s.device, b->s.device);
}

static int compare_queues(const void *x, const void *y, void *own)
{
	const uint32_t *a = x, *b = y;
	int order = compare_devices(run_stream(own, *a), run_stream(own, *b));

	return order ? order : compare_numbers(*a, *b);
}

/* GPU streams by device; the caller frees them. NULL: no memory. */
static uint32_t *list_queues(struct run *run, uint32_t *count)
{
	uint32_t *queues = calloc((size_t)run_stream_count(run) + 1, sizeof *queues);

	*count = 0;
	for (uint32_t i = 0; queues && i < run_stream_count(run); i++)
		if (run_stream(run, i)->s.kind == STORE_STREAM_GPU)
			queues[(*count)++] = i;
	if (queues)
		qsort_r(queues, *count, sizeof *queues, compare_queues, run);
	return queues;
}

int device_busy_each(struct run *run, device_busy_take *take, void *own, struct error *error)
{
	uint32_t count, *queues = list_queues(run, &count), end;
	int code = 0;

	if (!queues)
		return error_memory(error);
	for (uint32_t at = 0; at < count && !code; at = end) {
		for (end = at + 1; end < count; end++)
			if (compare_devices(run_stream(run, queues[at]), run_stream(run, queues[end])))
				break;
		if (end - at > 1)
			code = take(own, queues + at, end - at, error);
	}
	free(queues);
	return code;
}

/* How many queues of that device its store has. */
static uint32_t count_queues(struct run *run, uint32_t queue)
{
	const struct run_stream *of = run_stream(run, queue);
	uint32_t count = 0;

	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct run_stream *r = run_stream(run, i);

		count += r->s.kind == STORE_STREAM_GPU && compare_devices(r, of) == 0;
	}
	return count;
}

int device_busy_open(struct device_busy *busy, struct run *run, const uint32_t *queues, uint32_t count,
	struct error *error)
{
	struct store_device_busy_bucket bucket;
	int code = 0;

	*busy = (struct device_busy){.run = run};
	if (run->options.no_rollups || count < 2)
		return 0;
	busy->store = run_stream(run, queues[0])->store;
	for (uint32_t i = 0; i < count && !code; i++) {
		busy->stream = run_stream(run, queues[i])->id_in_store;
		code = store_device_busy_find(
			run->parts[busy->store].reader, busy->stream, 0, STORE_SHIFT_MAX, &bucket, error);
	}
	busy->is_there = code == 1 && count_queues(run, queues[0]) == count;
	return code < 0 ? code : 0;
}

/* ---- buckets ---- */

static bool add_gap(struct device_busy_gaps *gaps, uint64_t begin_ns, uint64_t end_ns)
{
	struct device_busy_gap *last = gaps->count ? &gaps->items[gaps->count - 1] : NULL;

	if (begin_ns >= end_ns)
		return true;
	if (last && last->end_ns == begin_ns) {
		last->end_ns = end_ns;
		return true;
	}
	last = store_id_table_add(&gaps->items, &gaps->count, &gaps->capacity, sizeof *last);
	if (last)
		*last = (struct device_busy_gap){begin_ns, end_ns};
	return last != NULL;
}

/* The first bucket from `at_ns` on that ends by `end_ns`, in the store's time. 1; 0: none; negative. */
static int next_bucket(const struct device_busy *busy, uint64_t at_ns, uint64_t end_ns,
	struct store_device_busy_bucket *bucket, struct error *error)
{
	struct store_reader *reader = busy->run->parts[busy->store].reader;
	unsigned shift = STORE_SHIFT_MAX;
	int code;

	while ((code = store_device_busy_find(reader, busy->stream, at_ns, shift, bucket, error)) == 1) {
		if (bucket->begin_ns >= end_ns)
			return 0;
		if (end_ns - bucket->begin_ns >= (uint64_t)1 << bucket->shift)
			return 1;
		at_ns = bucket->begin_ns + (bucket->shift == 0);
		shift = bucket->shift ? bucket->shift - 1u : STORE_SHIFT_MAX;
	}
	return code;
}

int device_busy_add(const struct device_busy *busy, uint64_t begin_ns, uint64_t end_ns, uint64_t *busy_ns,
	struct device_busy_gaps *gaps, struct error *error)
{
	const struct run_part *part = &busy->run->parts[busy->store];
	uint64_t at_ns = run_part_store_time(part, begin_ns), until_ns = run_part_store_time(part, end_ns);
	/* Clocks of hosts may differ so much that times are clamped. */
	bool is_bent = begin_ns >= end_ns || until_ns - at_ns != end_ns - begin_ns;
	struct store_device_busy_bucket bucket;
	uint64_t shift_ns = begin_ns - at_ns;
	int code = 0;

	if (!busy->is_there || is_bent)
		return add_gap(gaps, begin_ns, end_ns) ? 0 : error_memory(error);
	while (at_ns < until_ns && (code = next_bucket(busy, at_ns, until_ns, &bucket, error)) == 1) {
		if (!add_gap(gaps, at_ns + shift_ns, bucket.begin_ns + shift_ns))
			return error_memory(error);
		*busy_ns += bucket.busy_ns;
		at_ns = bucket.begin_ns + ((uint64_t)1 << bucket.shift);
	}
	if (code < 0)
		return code;
	return add_gap(gaps, at_ns + shift_ns, end_ns) ? 0 : error_memory(error);
}

/* ---- the sweep ---- */

/* A queue on its way through the window. */
struct queue_cursor {
	struct extent_walk *walk;
	struct extent extents[BATCH];
	long at, count;
};

/* To the next busy piece; count 0: there is none. */
static int cursor_next(struct queue_cursor *cursor, struct error *error)
{
	for (cursor->at++;; cursor->at++) {
		if (cursor->at >= cursor->count) {
			cursor->at = 0;
			cursor->count = extent_next(cursor->walk, cursor->extents, BATCH, error);
		}
		if (cursor->count <= 0)
			return (int)cursor->count;
		if (extent_state_is_busy(cursor->extents[cursor->at].state))
			return 0;
	}
}

static struct queue_cursor *first_of(struct queue_cursor *lanes, uint32_t count)
{
	struct queue_cursor *first = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (lanes[i].count && (!first || lanes[i].extents[lanes[i].at].begin_ns <
							 first->extents[first->at].begin_ns))
			first = &lanes[i];
	return first;
}

static int sweep(struct queue_cursor *lanes, uint32_t count, device_busy_stretch *stretch, void *own,
	struct error *error)
{
	uint64_t begin_ns = 0, end_ns = 0;
	struct queue_cursor *cursor;
	int code = 0;

	while (!code && (cursor = first_of(lanes, count))) {
		const struct extent *extent = &cursor->extents[cursor->at];

		if (extent->begin_ns > end_ns) {
			if (end_ns > begin_ns)
				stretch(own, begin_ns, end_ns);
			begin_ns = extent->begin_ns;
			end_ns = extent->end_ns;
		} else if (extent->end_ns > end_ns) {
			end_ns = extent->end_ns;
		}
		code = cursor_next(cursor, error);
	}
	if (!code && end_ns > begin_ns)
		stretch(own, begin_ns, end_ns);
	return code;
}

int device_busy_sweep(struct run *run, const uint32_t *queues, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, device_busy_stretch *stretch, void *own, struct error *error)
{
	struct queue_cursor *lanes = calloc((size_t)count + 1, sizeof *lanes);
	uint32_t opened = 0;
	int code = 0;

	if (!lanes)
		return error_memory(error);
	for (; opened < count && !code; opened++) {
		code = extent_open(&lanes[opened].walk, run, queues[opened], begin_ns, end_ns, error);
		if (code)
			break;
		code = cursor_next(&lanes[opened], error);
	}
	code = code ? code : sweep(lanes, count, stretch, own, error);
	while (opened-- > 0)
		extent_close(lanes[opened].walk);
	free(lanes);
	return code;
}
