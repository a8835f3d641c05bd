/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c - see operations.h: reads the launches of all threads and the operations of the selected
 * queues, counts operations by kernel and kind, and puts what needs sorting into lists (operations_sum.c).
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "timeline/run/row_key.h"
#include "timeline/scan/scan.h"
#include "timeline/stats/operations_internal.h"

#define REACH_NS UINT64_C(1000000000) /* launches are sought so far before the window */

struct operations_key {
	struct store_hash text;
	uint64_t op;
};

struct operations_process {
	int64_t rank;
	uint32_t store, host, pid, generation;
};

/* ---- launches ---- */

static int take_launches(struct operations_work *work, const struct batch *batch, struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < batch->count && !result; i++) {
		const struct operations_launch launch = {batch->link[i], batch->end_ns[i], work->process};

		if (batch->what[i] == STORE_OP_LAUNCH && launch.link)
			result = external_sort_put(work->launches, &launch, error);
	}
	return result;
}

/* ---- operations ---- */

/* A kernel's name is the innermost function of its path. */
static const char *key_of(const struct operations_work *work, const struct batch *batch, size_t i, char *kind,
	size_t kind_bytes)
{
	size_t size;
	const char *attributes;

	if (batch->what[i] == STORE_OP_KERNEL) {
		uint32_t function = row_key_of(work->run, batch->context[i], UINT32_MAX).function;

		return function == UINT32_MAX ? "" : run_function(work->run, function)->name;
	}
	attributes = batch_attributes(work->run, batch, i, &size);
	return attribute_get(attributes, size, "kind", kind, kind_bytes) ? kind : "";
}

static struct operations_row *row_of(
	struct operations_work *work, uint32_t op, const char *key, uint32_t *number)
{
	struct operations_key row = {store_hash128(key, strlen(key)), op};
	bool is_new;

	*number = key_ids_put(&work->keys, &row, &is_new);
	if (*number == KEY_IDS_NONE ||
		!array_widen((void **)&work->rows, &work->row_capacity, *number, sizeof(*work->rows)))
		return NULL;
	if (is_new)
		work->rows[*number] =
			(struct operations_row){.op = op, .key = arena_copy(work->arena, key, strlen(key))};
	return work->rows[*number].key ? &work->rows[*number] : NULL;
}

/* What overlaps on one queue is one stretch of work. Its records come in order. What takes no time at all is
 * none: its end would come before its begin, and of less than no queue nothing is counted. */
static int put_stretch(struct operations_work *work, struct error *error)
{
	const struct change begin = {work->begin_ns, 1}, end = {work->end_ns, -1};
	int result;

	if (work->begin_ns >= work->end_ns)
		return 0;
	result = external_sort_put(work->at_work, &begin, error);
	return result ? result : external_sort_put(work->at_work, &end, error);
}

static int unite(struct operations_work *work, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	int result = 0;

	if (!work->end_ns || begin_ns > work->end_ns) {
		result = put_stretch(work, error);
		work->begin_ns = begin_ns;
		work->end_ns = 0;
	}
	work->end_ns = end_ns > work->end_ns ? end_ns : work->end_ns;
	return result;
}

static int take_operation(
	struct operations_work *work, const struct batch *batch, size_t i, struct error *error)
{
	char kind[32];
	const char *key = key_of(work, batch, i, kind, sizeof(kind));
	uint64_t begin_ns = batch->begin_ns[i], end_ns = batch->end_ns[i];
	struct took took = {.time_ns = end_ns - begin_ns};
	struct operations_row *row = row_of(work, batch->what[i], key, &took.row);
	const struct operation operation = {batch->link[i], begin_ns, end_ns, work->process, took.row};
	int result;

	if (!row)
		return error_memory(error);
	row->count++;
	row->total_ns += took.time_ns;
	row->bytes += batch->bytes[i];
	result = external_sort_put(work->operations, &operation, error);
	if (!result)
		result = external_sort_put(work->durations, &took, error);
	return result ? result : unite(work, begin_ns, end_ns, error);
}

static int take_operations(struct operations_work *work, const struct batch *batch, struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < batch->count && !result; i++)
		if (!store_op_is_state(batch->what[i]) && batch->what[i] != STORE_OP_RANGE &&
			batch->end_ns[i] - batch->begin_ns[i] >= select_min_ns(work->select) &&
			select_wants_op(work->select, batch->what[i]) &&
			select_wants_context(work->select, batch->context[i]))
			result = take_operation(work, batch, i, error);
	return result;
}

static bool find_process(struct operations_work *work, uint32_t stream)
{
	const struct run_stream *r = run_stream(work->run, stream);
	struct operations_process key;

	memset(&key, 0, sizeof(key)); /* it is a key: no stray bytes */
	key.rank = r->s.rank;
	key.store = r->store;
	key.host = r->s.host;
	key.pid = r->s.pid;
	key.generation = r->s.generation;
	work->process = key_ids_put(&work->processes, &key, NULL);
	return work->process != KEY_IDS_NONE;
}

static int read_stream(struct operations_work *work, uint32_t stream, uint64_t begin_ns, unsigned flags,
	int (*take)(struct operations_work *work, const struct batch *batch, struct error *error),
	struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int result = scan_open(&scan, work->run, stream, STORE_SPANS, begin_ns, select_end_ns(work->select),
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_REST, flags, error);

	if (result)
		return result;
	if (!find_process(work, stream))
		result = error_memory(error);
	while (!result && (count = scan_next(scan, &batch, error)) != 0)
		result = count < 0 ? (int)count : take(work, batch, error);
	scan_close(scan);
	return result;
}

static int read_all(struct operations_work *work, struct operations *operations, struct error *error)
{
	uint64_t begin_ns = select_begin_ns(work->select);
	uint32_t count;
	const uint32_t *streams = select_streams(work->select, &count);
	int result = 0;

	for (uint32_t i = 0; i < run_stream_count(work->run) && !result; i++)
		if (run_stream(work->run, i)->s.kind == STORE_STREAM_CPU)
			result = read_stream(work, i, begin_ns > REACH_NS ? begin_ns - REACH_NS : 0, 0,
				take_launches, error);
	for (uint32_t i = 0; i < count && !result; i++) {
		if (run_stream(work->run, streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		operations->queues++;
		result = read_stream(work, streams[i], begin_ns, SCAN_CLIP, take_operations, error);
		if (!result)
			result = put_stretch(work, error);
		work->end_ns = 0;
	}
	if (!result && !operations->queues)
		return error_set(error, ERROR_EMPTY,
			"no GPU queue is among the chosen streams; hpct-info --streams lists them");
	return result;
}

int operations_count(struct operations *operations, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	struct operations_work work = {.run = run, .select = select, .arena = arena};
	int result;

	*operations = (struct operations){0};
	key_ids_init(&work.keys, sizeof(struct operations_key));
	key_ids_init(&work.processes, sizeof(struct operations_process));
	result = operations_lists_new(&work, error);
	if (!result)
		result = read_all(&work, operations, error);
	if (!result)
		result = operations_sum(&work, operations, error);
	key_ids_fini(&work.keys);
	key_ids_fini(&work.processes);
	operations_lists_free(&work);
	free(work.rows);
	return result;
}
