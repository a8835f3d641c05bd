/* SPDX-License-Identifier: Apache-2.0 */
/* operations.c - see operations.h: all operations of the window in one list, which is sorted for each answer.
 */
#include "timeline/operations.h"

#include <stdlib.h>
#include <string.h>

#include "store/attribute.h"
#include "store/hash.h"
#include "timeline/numbering.h"
#include "timeline/place.h"
#include "timeline/scan.h"

#define REACH_NS UINT64_C(1000000000) /* launches are sought so far before the window */
#define UNKNOWN_NS UINT64_MAX

struct operation {
	uint64_t begin_ns, end_ns, launched_ns;
	uint32_t row, stream;
};

struct launch {
	uint64_t link, end_ns;
	unsigned store;
};

struct change {
	uint64_t time_ns;
	int step;
};

struct work {
	struct run *run;
	const struct select *select;
	struct arena *arena;
	struct launch *launches;
	size_t launch_count, launch_room;
	struct operation *list;
	size_t count, room;
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

static int launch_compare(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	if (a->store != b->store)
		return a->store < b->store ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static bool take_launches(struct work *work, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->what[i] != STORE_OP_LAUNCH || !batch->link[i])
			continue;
		if (!widen((void **)&work->launches, &work->launch_room, work->launch_count,
			    sizeof(*work->launches)))
			return false;
		work->launches[work->launch_count++] = (struct launch){
			batch->link[i], batch->end_ns[i], run_stream(work->run, batch->stream)->store};
	}
	return true;
}

/* UNKNOWN_NS: it has none. */
static uint64_t launch_end(const struct work *work, unsigned store, uint64_t link)
{
	const struct launch key = {.link = link, .store = store};
	const struct launch *found =
		link && work->launch_count
			? bsearch(&key, work->launches, work->launch_count, sizeof(key), launch_compare)
			: NULL;

	return found ? found->end_ns : UNKNOWN_NS;
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

static bool take_operation(struct work *work, const struct batch *batch, size_t i)
{
	char kind[32];
	const char *key = key_of(work, batch, i, kind, sizeof(kind));
	uint32_t number;
	struct operations_row *row = row_of(work, batch->what[i], key, &number);

	if (!row || !widen((void **)&work->list, &work->room, work->count, sizeof(*work->list)))
		return false;
	row->count++;
	row->total_ns += batch->end_ns[i] - batch->begin_ns[i];
	row->bytes += batch->bytes[i];
	work->list[work->count++] = (struct operation){batch->begin_ns[i], batch->end_ns[i],
		launch_end(work, run_stream(work->run, batch->stream)->store, batch->link[i]), number,
		batch->stream};
	return true;
}

static bool take_operations(struct work *work, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (!store_op_is_state(batch->what[i]) && batch->what[i] != STORE_OP_RANGE &&
			batch->end_ns[i] - batch->begin_ns[i] >= select_min_ns(work->select) &&
			select_wants_op(work->select, batch->what[i]) &&
			select_wants_context(work->select, batch->context[i]) &&
			!take_operation(work, batch, i))
			return false;
	return true;
}

static int read_stream(struct work *work, uint32_t stream, uint64_t begin_ns, unsigned flags,
	bool (*take)(struct work *work, const struct batch *batch), struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int result = scan_open(&scan, work->run, stream, STORE_SPANS, begin_ns, select_end_ns(work->select),
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_REST, flags, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) != 0)
		result = count < 0 ? (int)count : take(work, batch) ? 0 : error_memory(error);
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
	if (work->launch_count)
		qsort(work->launches, work->launch_count, sizeof(*work->launches), launch_compare);
	for (uint32_t i = 0; i < count && !result; i++) {
		if (run_stream(work->run, streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		operations->queues++;
		result = read_stream(work, streams[i], begin_ns, SCAN_CLIP, take_operations, error);
	}
	if (!result && !operations->queues)
		return error_set(error, ERROR_EMPTY,
			"no GPU queue is among the chosen streams; hpct-info --streams lists them");
	return result;
}

/* ---- the answers ---- */

static int number_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The least of which at least this part of all is not above it. */
static uint64_t quantile(const uint64_t *sorted, size_t count, unsigned percent)
{
	return count ? sorted[(count * percent + 99) / 100 - 1] : 0;
}

static int by_row(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	return a->row < b->row ? -1 : a->row > b->row;
}

static void row_fill(struct operations_row *row, const struct operation *list, uint64_t *scratch)
{
	size_t count = 0;

	for (size_t i = 0; i < row->count; i++)
		scratch[i] = list[i].end_ns - list[i].begin_ns;
	qsort(scratch, row->count, sizeof(*scratch), number_compare);
	row->p50_ns = quantile(scratch, row->count, 50);
	row->p99_ns = quantile(scratch, row->count, 99);
	row->max_ns = scratch[row->count - 1];
	/* Some begin while the launching call still runs. */
	for (size_t i = 0; i < row->count; i++)
		if (list[i].launched_ns != UNKNOWN_NS)
			scratch[count++] = list[i].begin_ns > list[i].launched_ns
						   ? list[i].begin_ns - list[i].launched_ns
						   : 0;
	qsort(scratch, count, sizeof(*scratch), number_compare);
	row->launched = count;
	row->delay_p50_ns = quantile(scratch, count, 50);
	row->delay_p99_ns = quantile(scratch, count, 99);
}

static int change_compare(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step;
}

static int by_stream(const void *left, const void *right)
{
	const struct operation *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* What overlaps on one queue is one stretch of work. Gives the number of changes. */
static size_t queues_unite(const struct work *work, struct change *changes)
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++) {
		const struct operation *o = &work->list[i];
		bool goes_on = i && o->stream == o[-1].stream && o->begin_ns <= changes[count - 1].time_ns;

		if (goes_on) {
			if (o->end_ns > changes[count - 1].time_ns)
				changes[count - 1].time_ns = o->end_ns;
			continue;
		}
		changes[count++] = (struct change){o->begin_ns, 1};
		changes[count++] = (struct change){o->end_ns, -1};
	}
	return count;
}

static void at_work_sum(
	const struct work *work, struct operations *operations, struct change *changes, size_t count)
{
	uint64_t now_ns = select_begin_ns(work->select);
	uint32_t busy = 0;

	qsort(changes, count, sizeof(*changes), change_compare);
	for (size_t i = 0; i < count; i++) {
		operations->at_work_ns[busy] += changes[i].time_ns - now_ns;
		now_ns = changes[i].time_ns;
		busy += (uint32_t)changes[i].step;
	}
	if (select_end_ns(work->select) > now_ns)
		operations->at_work_ns[busy] += select_end_ns(work->select) - now_ns;
}

static void queued_count(const struct work *work, struct operations *operations, struct change *changes)
{
	size_t count = 0;
	uint64_t queued = 0;

	for (size_t i = 0; i < work->count; i++) {
		const struct operation *o = &work->list[i];
		uint64_t from_ns = o->launched_ns < o->begin_ns ? o->launched_ns : o->begin_ns;

		changes[count++] = (struct change){from_ns, 1};
		changes[count++] = (struct change){o->end_ns, -1};
	}
	qsort(changes, count, sizeof(*changes), change_compare);
	for (size_t i = 0; i < count; i++) {
		queued += (uint64_t)changes[i].step;
		/* Of one moment the ends come first: what takes no time at all goes below none. */
		if ((int64_t)queued > (int64_t)operations->queued_max)
			operations->queued_max = queued;
	}
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
	struct change *changes = calloc(2 * work->count + 1, sizeof(*changes));
	uint64_t *scratch = calloc(work->count + 1, sizeof(*scratch));
	size_t at = 0;

	operations->count = work->keys.count;
	operations->rows = arena_calloc(work->arena, operations->count + 1, sizeof(*operations->rows));
	operations->at_work_ns =
		arena_calloc(work->arena, operations->queues + 1, sizeof(*operations->at_work_ns));
	if (!changes || !scratch || !operations->rows || !operations->at_work_ns) {
		free(changes);
		free(scratch);
		return error_memory(error);
	}
	if (work->count)
		qsort(work->list, work->count, sizeof(*work->list), by_row);
	for (size_t r = 0; r < operations->count; at += work->rows[r].count, r++)
		row_fill(&work->rows[r], &work->list[at], scratch);
	if (work->count)
		qsort(work->list, work->count, sizeof(*work->list), by_stream);
	at_work_sum(work, operations, changes, queues_unite(work, changes));
	queued_count(work, operations, changes);
	if (operations->count) {
		memcpy(operations->rows, work->rows, operations->count * sizeof(*work->rows));
		qsort(operations->rows, operations->count, sizeof(*operations->rows), row_compare);
	}
	free(changes);
	free(scratch);
	return 0;
}

int operations_count(struct operations *operations, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	struct work work = {.run = run, .select = select, .arena = arena};
	int result;

	*operations = (struct operations){0};
	numbering_init(&work.keys, sizeof(struct row_key));
	result = read_all(&work, operations, error);
	if (!result)
		result = answer(&work, operations, error);
	numbering_fini(&work.keys);
	free(work.launches);
	free(work.list);
	free(work.rows);
	return result;
}
