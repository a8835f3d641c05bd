/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c - see operations.h: reads the launches of all threads and the operations of the selected
 * queues, counts operations by kernel and kind, and puts what needs sorting into lists, which are merged at
 * the end.
 */
#include "timeline/stats/operations.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/hash.h"
#include "timeline/base/external_sort.h"
#include "timeline/base/key_ids.h"
#include "timeline/run/row_key.h"
#include "timeline/scan/scan.h"

#define REACH_NS UINT64_C(1000000000) /* launches are sought so far before the window */

struct operation {
	uint64_t link, begin_ns, end_ns;
	uint32_t process, row;
};

/* A process has its own link numbers, if a script made the trace. */
struct operations_launch {
	uint64_t link, end_ns;
	uint32_t process;
};

/* Duration or delay of an operation. */
struct took {
	uint64_t time_ns;
	uint32_t row;
};

struct change {
	uint64_t time_ns;
	int step;
};

struct operations_work {
	struct run *run;
	const struct select *select;
	struct arena *arena;
	struct external_sort *launches, *operations;
	struct external_sort *durations, *at_work; /* struct took; struct change: of the union of each
						      queue */
	struct external_sort *delays, *queued;
	uint64_t begin_ns, end_ns; /* current operation of the current queue; end 0: none yet */
	struct key_ids keys;	   /* of rows */
	struct key_ids processes;
	uint32_t process; /* of the current stream */
	struct operations_row *rows;
	size_t row_capacity;
};

#define UNKNOWN_NS UINT64_MAX

/* ---- lists ---- */

/* Of the memory that a question may take, each list's; 0: any. Four are there at once, and what sorts one. */
static uint64_t spill_share(const struct run *run)
{
	uint64_t share = run_mem_bytes(run, 6, UINT64_MAX);

	return share == UINT64_MAX ? 0 : share;
}

static int launch_compare(const void *left, const void *right)
{
	const struct operations_launch *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static int operation_compare(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static int took_compare(const void *left, const void *right)
{
	const struct took *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int change_compare(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step;
}

/* Makes the empty lists for reading. Free them also after an error. */
static int operations_lists_new(struct operations_work *work, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = external_sort_new(
		&work->launches, sizeof(struct operations_launch), launch_compare, mem_bytes, error);

	if (!result)
		result = external_sort_new(
			&work->operations, sizeof(struct operation), operation_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->durations, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->at_work, sizeof(struct change), change_compare, mem_bytes, error);
	return result;
}

static void operations_lists_free(struct operations_work *work)
{
	external_sort_free(work->launches);
	external_sort_free(work->operations);
	external_sort_free(work->durations);
	external_sort_free(work->at_work);
	external_sort_free(work->delays);
	external_sort_free(work->queued);
}

/* ---- the answers ---- */

/* The number of the least of which at least this part of all is not above it. */
static size_t quantile(uint64_t count, unsigned percent)
{
	return (count * percent + 99) / 100 - 1;
}

/* Of all durations, or delays, each row's quantiles. */
static int rows_fill(
	struct operations_work *work, struct external_sort *times, bool are_delays, struct error *error)
{
	const struct took *took;
	uint32_t row = UINT32_MAX;
	uint64_t at = 0;
	int code = 0, result = external_sort_rewind(times, error);

	while (!result && (took = external_sort_next(times, &code, error))) {
		struct operations_row *of = &work->rows[took->row];
		uint64_t count = are_delays ? of->launched : of->count;

		at = took->row == row ? at + 1 : 0;
		row = took->row;
		if (at == quantile(count, 50))
			*(are_delays ? &of->delay_p50_ns : &of->p50_ns) = took->time_ns;
		if (at == quantile(count, 99))
			*(are_delays ? &of->delay_p99_ns : &of->p99_ns) = took->time_ns;
		if (!are_delays)
			of->max_ns = took->time_ns;
	}
	return result ? result : code;
}

static int at_work_sum(struct operations_work *work, struct operations *operations, struct error *error)
{
	uint64_t now_ns = select_begin_ns(work->select);
	const struct change *change;
	uint32_t busy = 0;
	int code = 0, result = external_sort_rewind(work->at_work, error);

	while (!result && (change = external_sort_next(work->at_work, &code, error))) {
		operations->at_work_ns[busy] += change->time_ns - now_ns;
		now_ns = change->time_ns;
		busy += (uint32_t)change->step;
	}
	if (select_end_ns(work->select) > now_ns)
		operations->at_work_ns[busy] += select_end_ns(work->select) - now_ns;
	return result ? result : code;
}

static int queued_count(struct operations_work *work, struct operations *operations, struct error *error)
{
	const struct change *change;
	uint64_t queued = 0;
	int code = 0, result = external_sort_rewind(work->queued, error);

	while (!result && (change = external_sort_next(work->queued, &code, error))) {
		queued += (uint64_t)change->step;
		/* Of one moment the ends come first: what takes no time at all goes below none. */
		if ((int64_t)queued > (int64_t)operations->queued_max)
			operations->queued_max = queued;
	}
	return result ? result : code;
}

/* Some begin while the launching call still runs. UNKNOWN_NS: it has none. */
static int put_queued(struct operations_work *work, const struct operation *operation, uint64_t launched_ns,
	struct error *error)
{
	const struct took delay = {
		operation->begin_ns > launched_ns ? operation->begin_ns - launched_ns : 0, operation->row};
	const struct change begin = {launched_ns < operation->begin_ns ? launched_ns : operation->begin_ns,
				    1},
			    end = {operation->end_ns, -1};
	int result = external_sort_put(work->queued, &begin, error);

	if (!result)
		result = external_sort_put(work->queued, &end, error);
	if (result || launched_ns == UNKNOWN_NS)
		return result;
	work->rows[operation->row].launched++;
	return external_sort_put(work->delays, &delay, error);
}

/* Operations and launches side by side, both by link. */
static int join(struct operations_work *work, struct error *error)
{
	const struct operation *next;
	const struct operations_launch *launch = NULL;
	struct operations_launch at = {0};
	int code = 0, result = external_sort_rewind(work->launches, error);

	if (!result)
		result = external_sort_rewind(work->operations, error);
	if (!result)
		launch = external_sort_next(work->launches, &result, error);
	while (!result && (next = external_sort_next(work->operations, &code, error))) {
		const struct operation operation = *next;

		while (launch && !result &&
			(launch->process < operation.process ||
				(launch->process == operation.process && launch->link < operation.link)))
			launch = external_sort_next(work->launches, &result, error);
		if (launch)
			at = *launch;
		if (!result)
			result = put_queued(work, &operation,
				launch && at.process == operation.process && at.link == operation.link
					? at.end_ns
					: UNKNOWN_NS,
				error);
	}
	return result ? result : code;
}

static void forget(struct external_sort **spill)
{
	external_sort_free(*spill);
	*spill = NULL;
}

/* Each list goes when it has answered. */
static int sum_up(struct operations_work *work, struct operations *operations, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = rows_fill(work, work->durations, false, error);

	forget(&work->durations);
	if (!result)
		result = at_work_sum(work, operations, error);
	forget(&work->at_work);
	if (!result)
		result =
			external_sort_new(&work->delays, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = external_sort_new(
			&work->queued, sizeof(struct change), change_compare, mem_bytes, error);
	if (!result)
		result = join(work, error);
	forget(&work->operations);
	forget(&work->launches);
	if (!result)
		result = rows_fill(work, work->delays, true, error);
	forget(&work->delays);
	return result ? result : queued_count(work, operations, error);
}

static int row_compare(const void *left, const void *right)
{
	const struct operations_row *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->op != b->op ? (a->op < b->op ? -1 : 1) : strcmp(a->key, b->key);
}

/* After reading: computes the sums from the lists, freeing each, and sorts the rows. ERROR_IO: no memory, or
 * no space for a file. */
static int operations_sum(struct operations_work *work, struct operations *operations, struct error *error)
{
	int result;

	operations->count = work->keys.count;
	operations->rows = arena_calloc(work->arena, operations->count + 1, sizeof(*operations->rows));
	operations->at_work_ns =
		arena_calloc(work->arena, operations->queues + 1, sizeof(*operations->at_work_ns));
	if (!operations->rows || !operations->at_work_ns)
		return error_memory(error);
	result = sum_up(work, operations, error);
	if (!result && operations->count) {
		memcpy(operations->rows, work->rows, operations->count * sizeof(*work->rows));
		qsort(operations->rows, operations->count, sizeof(*operations->rows), row_compare);
	}
	return result;
}

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
		!array_widen(&work->rows, &work->row_capacity, *number, sizeof(*work->rows)))
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
