/* SPDX-License-Identifier: Apache-2.0 */
/* operations.c - see operations.h: what is asked of all operations of the window is sorted, beside memory
 * where that is bounded (spill.h): launches and operations by link, and of each operation its durations and
 * changes.
 */
#include "timeline/operations.h"

#include <stdlib.h>
#include <string.h>

#include "store/attribute.h"
#include "store/hash.h"
#include "timeline/numbering.h"
#include "timeline/place.h"
#include "timeline/scan.h"
#include "timeline/spill.h"

#define REACH_NS UINT64_C(1000000000) /* launches are sought so far before the window */
#define UNKNOWN_NS UINT64_MAX

struct operation {
	uint64_t link, begin_ns, end_ns;
	uint32_t store, row;
};

struct launch {
	uint64_t link, end_ns;
	uint32_t store;
};

/* How long an operation took, or waited. */
struct took {
	uint64_t time_ns;
	uint32_t row;
};

struct change {
	uint64_t time_ns;
	int step;
};

struct work {
	struct run *run;
	const struct select *select;
	struct arena *arena;
	struct spill *launches, *operations;
	struct spill *durations, *at_work; /* struct took; struct change: of the queues, united */
	struct spill *delays, *queued;
	uint64_t begin_ns, end_ns; /* of the queue at hand: what it does now; end 0: nothing yet */
	struct numbering keys;
	struct operations_row *rows;
	size_t row_room;
};

struct row_key {
	struct store_hash text;
	uint64_t op;
};

static bool widen(void **list, size_t *room, size_t count, size_t size)
{
	size_t wider = *room ? 2 * *room : 256;
	void *grown;

	if (count < *room)
		return true;
	grown = realloc(*list, wider * size);
	if (!grown)
		return false;
	*list = grown;
	*room = wider;
	return true;
}

/* ---- launches ---- */

/* Of the memory that a question may take, each list's; 0: any. Four are there at once, and what sorts one. */
static uint64_t spill_share(const struct run *run)
{
	uint64_t share = run_mem_bytes(run, 6, UINT64_MAX);

	return share == UINT64_MAX ? 0 : share;
}

static int launch_compare(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	if (a->store != b->store)
		return a->store < b->store ? -1 : 1;
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static int operation_compare(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	if (a->store != b->store)
		return a->store < b->store ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static int take_launches(struct work *work, const struct batch *batch, struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < batch->count && !result; i++) {
		const struct launch launch = {
			batch->link[i], batch->end_ns[i], run_stream(work->run, batch->stream)->store};

		if (batch->what[i] == STORE_OP_LAUNCH && launch.link)
			result = spill_put(work->launches, &launch, error);
	}
	return result;
}

/* ---- operations ---- */

/* A kernel's name is the innermost function of its path. */
static const char *key_of(
	const struct work *work, const struct batch *batch, size_t i, char *kind, size_t kind_bytes)
{
	size_t size;
	const char *attributes;

	if (batch->what[i] == STORE_OP_KERNEL) {
		uint32_t function = place_of(work->run, batch->context[i], UINT32_MAX).function;

		return function == UINT32_MAX ? "" : run_function(work->run, function)->name;
	}
	attributes = batch_attributes(work->run, batch, i, &size);
	return attribute_get(attributes, size, "kind", kind, kind_bytes) ? kind : "";
}

static struct operations_row *row_of(struct work *work, uint32_t op, const char *key, uint32_t *number)
{
	struct row_key row = {store_hash128(key, strlen(key)), op};
	bool is_new;

	*number = numbering_put(&work->keys, &row, &is_new);
	if (*number == NUMBERING_NONE ||
		!widen((void **)&work->rows, &work->row_room, *number, sizeof(*work->rows)))
		return NULL;
	if (is_new)
		work->rows[*number] =
			(struct operations_row){.op = op, .key = arena_copy(work->arena, key, strlen(key))};
	return work->rows[*number].key ? &work->rows[*number] : NULL;
}

/* What overlaps on one queue is one stretch of work. Its records come in order. What takes no time at all is
 * none: its end would come before its begin, and of less than no queue nothing is counted. */
static int put_stretch(struct work *work, struct error *error)
{
	const struct change begin = {work->begin_ns, 1}, end = {work->end_ns, -1};
	int result;

	if (work->begin_ns >= work->end_ns)
		return 0;
	result = spill_put(work->at_work, &begin, error);
	return result ? result : spill_put(work->at_work, &end, error);
}

static int unite(struct work *work, uint64_t begin_ns, uint64_t end_ns, struct error *error)
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

static int take_operation(struct work *work, const struct batch *batch, size_t i, struct error *error)
{
	char kind[32];
	const char *key = key_of(work, batch, i, kind, sizeof(kind));
	uint64_t begin_ns = batch->begin_ns[i], end_ns = batch->end_ns[i];
	struct took took = {.time_ns = end_ns - begin_ns};
	struct operations_row *row = row_of(work, batch->what[i], key, &took.row);
	const struct operation operation = {
		batch->link[i], begin_ns, end_ns, run_stream(work->run, batch->stream)->store, took.row};
	int result;

	if (!row)
		return error_memory(error);
	row->count++;
	row->total_ns += took.time_ns;
	row->bytes += batch->bytes[i];
	result = spill_put(work->operations, &operation, error);
	if (!result)
		result = spill_put(work->durations, &took, error);
	return result ? result : unite(work, begin_ns, end_ns, error);
}

static int take_operations(struct work *work, const struct batch *batch, struct error *error)
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

static int read_stream(struct work *work, uint32_t stream, uint64_t begin_ns, unsigned flags,
	int (*take)(struct work *work, const struct batch *batch, struct error *error), struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int result = scan_open(&scan, work->run, stream, STORE_SPANS, begin_ns, select_end_ns(work->select),
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_REST, flags, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) != 0)
		result = count < 0 ? (int)count : take(work, batch, error);
	scan_close(scan);
	return result;
}

static int read_all(struct work *work, struct operations *operations, struct error *error)
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

/* ---- the answers ---- */

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

/* The number of the least of which at least this part of all is not above it. */
static size_t quantile(uint64_t count, unsigned percent)
{
	return (count * percent + 99) / 100 - 1;
}

/* Of all durations, or delays, each row's quantiles. */
static int rows_fill(struct work *work, struct spill *times, bool are_delays, struct error *error)
{
	const struct took *took;
	uint32_t row = UINT32_MAX;
	uint64_t at = 0;
	int code = 0, result = spill_rewind(times, error);

	while (!result && (took = spill_next(times, &code, error))) {
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

static int at_work_sum(struct work *work, struct operations *operations, struct error *error)
{
	uint64_t now_ns = select_begin_ns(work->select);
	const struct change *change;
	uint32_t busy = 0;
	int code = 0, result = spill_rewind(work->at_work, error);

	while (!result && (change = spill_next(work->at_work, &code, error))) {
		operations->at_work_ns[busy] += change->time_ns - now_ns;
		now_ns = change->time_ns;
		busy += (uint32_t)change->step;
	}
	if (select_end_ns(work->select) > now_ns)
		operations->at_work_ns[busy] += select_end_ns(work->select) - now_ns;
	return result ? result : code;
}

static int queued_count(struct work *work, struct operations *operations, struct error *error)
{
	const struct change *change;
	uint64_t queued = 0;
	int code = 0, result = spill_rewind(work->queued, error);

	while (!result && (change = spill_next(work->queued, &code, error))) {
		queued += (uint64_t)change->step;
		/* Of one moment the ends come first: what takes no time at all goes below none. */
		if ((int64_t)queued > (int64_t)operations->queued_max)
			operations->queued_max = queued;
	}
	return result ? result : code;
}

/* Some begin while the launching call still runs. UNKNOWN_NS: it has none. */
static int put_queued(
	struct work *work, const struct operation *operation, uint64_t launched_ns, struct error *error)
{
	const struct took delay = {
		operation->begin_ns > launched_ns ? operation->begin_ns - launched_ns : 0, operation->row};
	const struct change begin = {launched_ns < operation->begin_ns ? launched_ns : operation->begin_ns,
				    1},
			    end = {operation->end_ns, -1};
	int result = spill_put(work->queued, &begin, error);

	if (!result)
		result = spill_put(work->queued, &end, error);
	if (result || launched_ns == UNKNOWN_NS)
		return result;
	work->rows[operation->row].launched++;
	return spill_put(work->delays, &delay, error);
}

/* Operations and launches side by side, both by link. */
static int join(struct work *work, struct error *error)
{
	const struct operation *next;
	const struct launch *launch = NULL;
	struct launch at = {0};
	int code = 0, result = spill_rewind(work->launches, error);

	if (!result)
		result = spill_rewind(work->operations, error);
	if (!result)
		launch = spill_next(work->launches, &result, error);
	while (!result && (next = spill_next(work->operations, &code, error))) {
		const struct operation operation = *next;

		while (launch && !result &&
			(launch->store < operation.store ||
				(launch->store == operation.store && launch->link < operation.link)))
			launch = spill_next(work->launches, &result, error);
		if (launch)
			at = *launch;
		if (!result)
			result = put_queued(work, &operation,
				launch && at.store == operation.store && at.link == operation.link
					? at.end_ns
					: UNKNOWN_NS,
				error);
	}
	return result ? result : code;
}

static void forget(struct spill **spill)
{
	spill_free(*spill);
	*spill = NULL;
}

/* Each list goes when it has answered. */
static int sum_up(struct work *work, struct operations *operations, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = rows_fill(work, work->durations, false, error);

	forget(&work->durations);
	if (!result)
		result = at_work_sum(work, operations, error);
	forget(&work->at_work);
	if (!result)
		result = spill_new(&work->delays, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = spill_new(&work->queued, sizeof(struct change), change_compare, mem_bytes, error);
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

static int answer(struct work *work, struct operations *operations, struct error *error)
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

static int work_begin(struct work *work, struct error *error)
{
	uint64_t mem_bytes = spill_share(work->run);
	int result = spill_new(&work->launches, sizeof(struct launch), launch_compare, mem_bytes, error);

	if (!result)
		result = spill_new(
			&work->operations, sizeof(struct operation), operation_compare, mem_bytes, error);
	if (!result)
		result = spill_new(&work->durations, sizeof(struct took), took_compare, mem_bytes, error);
	if (!result)
		result = spill_new(&work->at_work, sizeof(struct change), change_compare, mem_bytes, error);
	return result;
}

int operations_count(struct operations *operations, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	struct work work = {.run = run, .select = select, .arena = arena};
	int result;

	*operations = (struct operations){0};
	numbering_init(&work.keys, sizeof(struct row_key));
	result = work_begin(&work, error);
	if (!result)
		result = read_all(&work, operations, error);
	if (!result)
		result = answer(&work, operations, error);
	numbering_fini(&work.keys);
	spill_free(work.launches);
	spill_free(work.operations);
	spill_free(work.durations);
	spill_free(work.at_work);
	spill_free(work.delays);
	spill_free(work.queued);
	free(work.rows);
	return result;
}
