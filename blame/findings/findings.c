/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - see findings.h: reads each process's spans once. */
#include "blame/findings/findings.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/related.h"
#include "blame/findings/findings_internal.h"
#include "blame/gpu/gpu_pending.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "store/base/hash.h"

#define SMALL_BYTES (64u * 1024u)
/* Part of the window: loading code compiled earlier takes some 50 us, and some time passes before the next
 * kernel in any case. */
#define WINDOW_LEAST 1000

struct case_key {
	uint32_t kind, context;
};

static const struct {
	const char *name;
	uint64_t least;
	bool is_hint; /* its saving is unknown */
	const char *text, *advice;
} kinds[] = {
#define X(name, word, least, is_hint, text, advice) {word, least, is_hint, text, advice},
	FINDINGS(X)
#undef X
};

const char *finding_name(enum finding_kind kind)
{
	return kinds[kind].name;
}

const char *finding_text(enum finding_kind kind)
{
	return kinds[kind].text;
}

const char *finding_advice(enum finding_kind kind)
{
	return kinds[kind].advice;
}

/* ---- cases ---- */

static bool list_widen(struct findings_search *search)
{
	uint32_t capacity = search->capacity ? 2 * search->capacity : 64;

	if (!array_resize(&search->list, capacity, sizeof(*search->list)) ||
		!array_resize(&search->longest_ns, capacity, sizeof(*search->longest_ns)))
		return false;
	search->capacity = capacity;
	return true;
}

bool findings_add(struct findings_search *search, const struct finding *one)
{
	struct case_key key = {one->kind, one->context};
	struct finding *finding;
	uint32_t number;
	bool is_new;

	if (!related_is_reported(search->related, one->stream))
		return true;
	number = key_ids_put(&search->keys, &key, &is_new);
	if (number == KEY_IDS_NONE || (number >= search->capacity && !list_widen(search)))
		return false;
	finding = &search->list[number];
	if (is_new) {
		*finding =
			(struct finding){.kind = one->kind, .context = one->context, .stream = one->stream};
		search->longest_ns[number] = 0;
	}
	finding->stream = one->stream < finding->stream ? one->stream : finding->stream;
	finding->count += one->count;
	finding->time_ns += one->time_ns;
	finding->save_ns += one->save_ns;
	finding->bytes += one->bytes;
	if (one->time_ns > search->longest_ns[number])
		search->longest_ns[number] = one->time_ns;
	return true;
}

static bool add_row(
	struct findings_search *search, enum finding_kind kind, const struct batch *batch, size_t row)
{
	uint64_t time_ns = findings_time(search, batch, row);

	return findings_add(search, &(struct finding){.kind = kind,
					    .context = batch->context[row],
					    .stream = batch->stream,
					    .count = 1,
					    .time_ns = time_ns,
					    .save_ns = time_ns,
					    .bytes = batch->bytes[row]});
}

bool findings_put(struct findings_search *search, const struct finding *finding)
{
	struct case_key key = {
		finding->kind, finding->context ? finding->context : UINT32_MAX - finding->stream};
	uint32_t number;

	if (!related_is_reported(search->related, finding->stream))
		return true;
	number = key_ids_put(&search->keys, &key, NULL);
	if (number == KEY_IDS_NONE || (number >= search->capacity && !list_widen(search)))
		return false;
	search->list[number] = *finding;
	search->longest_ns[number] = finding->time_ns - finding->save_ns;
	return true;
}

/* Memory that a loaded binary contains (its variables) is allocated with it, not by the program. */
static bool is_static(const struct run *run, const struct batch *batch, size_t row)
{
	char kind[8];
	size_t size;
	const char *attributes = batch_attributes(run, batch, row, &size);

	return attribute_get(attributes, size, "kind", kind, sizeof kind) &&
	       (!strcmp(kind, "DST") || !strcmp(kind, "MST"));
}

/* The mark that the recorder puts where a kernel was launched that faulted; the program has marks of its own.
 */
static bool take_fault(struct findings_search *search, const struct batch *batch, size_t row)
{
	char error[64], candidates[24] = "";
	size_t size;
	const char *attributes = batch_attributes(search->run, batch, row, &size);

	if (!attribute_get(attributes, size, "candidates", candidates, sizeof candidates) ||
		!attribute_get(attributes, size, "error", error, sizeof error))
		return true;
	return findings_put(search, &(struct finding){.kind = FINDING_GPU_FAULT,
					    .context = batch->context[row],
					    .stream = batch->stream,
					    .count = 1,
					    .error = arena_printf(search->arena, "%s", error),
					    .candidates = strtoull(candidates, NULL, 10)});
}

static bool take_span(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	switch (batch->what[row]) {
	case STORE_OP_MARK:
		return take_fault(search, batch, row);
	case STORE_OP_COPY:
		return !is_gpu || !batch->bytes[row] || batch->bytes[row] >= SMALL_BYTES ||
		       add_row(search, FINDING_SMALL_COPIES, batch, row);
	case STORE_OP_ALLOC:
	case STORE_OP_FREE:
		return is_static(search->run, batch, row) ||
		       add_row(search, FINDING_REPEATED_ALLOC, batch, row);
	default:
		return true;
	}
}

#define OP(name) (UINT64_C(1) << STORE_OP_##name)
#define CPU_OPS (OP(MARK) | OP(SYNC) | OP(MPI) | OP(ALLOC) | OP(FREE) | OP(COMPILE))
#define GPU_OPS                                                                                  \
	(OP(MARK) | OP(LOST) | OP(UNMONITORED) | OP(COPY) | OP(ALLOC) | OP(FREE) | OP(COMPILE) | \
		OP(KERNEL) | OP(MONITORED))
#define ROWS_AT_ONCE 8

/* Whether any of them may say something: of a thread most are launches, which do not. */
static bool say_something(const uint32_t *what, uint64_t ops)
{
	uint64_t says = 0;

	for (int i = 0; i < ROWS_AT_ONCE; i++)
		says |= ops >> (what[i] & 63);
	return says & 1;
}

/* A span is of the block that it begins in. */
static bool is_within(const struct findings_search *search, const struct batch *batch, size_t row)
{
	return batch->begin_ns[row] < search->block.end_ns &&
	       (batch->begin_ns[row] >= search->block.begin_ns ||
		       (search->block.is_first && batch->end_ns[row] > search->block.begin_ns));
}

static bool take_batch(void *own, const struct batch *batch)
{
	struct findings_search *search = own;
	bool is_gpu = run_stream(search->run, batch->stream)->s.kind == STORE_STREAM_GPU;
	uint64_t ops = is_gpu ? GPU_OPS : CPU_OPS;

	for (size_t row = 0; row < batch->count; row++) {
		while (!(row % ROWS_AT_ONCE) && row + ROWS_AT_ONCE < batch->count &&
			!say_something(batch->what + row, ops))
			row += ROWS_AT_ONCE;
		if (batch->what[row] >= STORE_OP_TEXT || !(ops >> batch->what[row] & 1) ||
			!is_within(search, batch, row))
			continue;
		if (!take_span(search, batch, row, is_gpu) ||
			!findings_sync_take(search, batch, row, is_gpu) ||
			!findings_use_take(search, batch, row, is_gpu))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

/* Keeps work that is still needed, and appends the block's work where no earlier work overlaps it. */
static bool take_work(struct findings_search *search, const struct sweep_span *spans, size_t count)
{
	uint64_t judged_ns = findings_sync_judged(search->sync);
	const struct time_slices *block = &search->block;
	size_t first = 0, kept = 0;
	struct sweep_span *work;

	while (first + 1 < search->work_count && search->work[first].end_ns < judged_ns)
		first++;
	if (first)
		memmove(search->work, search->work + first,
			(search->work_count - first) * sizeof(*search->work));
	search->work_count -= first;
	if (!array_resize(&search->work, search->work_count + count + 1, sizeof(*work)))
		return false;
	work = search->work;
	kept = search->work_count;
	for (size_t i = 0; i < count; i++) {
		struct sweep_span span = spans[i];

		if (!block->is_first && span.begin_ns < block->begin_ns)
			span.begin_ns = block->begin_ns;
		if (!block->is_last && span.end_ns > block->end_ns)
			span.end_ns = block->end_ns;
		if (span.begin_ns >= span.end_ns)
			continue;
		if (kept && span.begin_ns <= work[kept - 1].end_ns)
			work[kept - 1].end_ns = span.end_ns;
		else
			work[kept++] = span;
	}
	search->work_count = kept;
	return true;
}

static int read_slice(struct findings_search *search, const struct process *process, struct error *error)
{
	const struct gpu_pending_reader reader = {
		take_batch, search, STORE_CONTEXT | STORE_BYTES | STORE_ATTRIBUTES};
	struct sweep_span *spans;
	size_t count;
	int result;

	result = gpu_pending_find(&spans, &count, search->run, process, search->block.begin_ns,
		search->block.end_ns, true, &reader, error);
	if (result)
		return result;
	result = take_work(search, spans, count) && findings_sync_judge(search) ? 0 : error_memory(error);
	free(spans);
	return result;
}

static int read_process(struct findings_search *search, const struct process *process, struct error *error)
{
	int result = 0;

	search->use = findings_use_new(process);
	search->sync = findings_sync_new();
	if (!search->use || !search->sync)
		result = error_memory(error);
	search->block =
		time_slices_of(search->run, process, 1, search->question->begin_ns, search->question->end_ns);
	while (!result && time_slices_next(&search->block))
		result = read_slice(search, process, error);
	if (!result && !findings_use_judge(search))
		result = error_memory(error);
	findings_use_free(search->use);
	findings_sync_free(search->sync);
	free(search->work);
	search->work = NULL;
	search->work_count = 0;
	return result ? result : findings_read_devices(search, process, error);
}

/* One case is needed where the place repeats itself; all could go where it is needless; or its case said. */
static uint64_t save_of(const struct findings_search *search, uint32_t number)
{
	const struct finding *finding = &search->list[number];

	if (finding->kind == FINDING_NEEDLESS_SYNC || finding->kind == FINDING_EARLY_SYNC ||
		finding->kind == FINDING_COMPILE || finding->kind == FINDING_REPEATED_COMPILE ||
		finding->kind == FINDING_SINGLE_DEVICE)
		return finding->save_ns;
	return finding->time_ns - search->longest_ns[number];
}

static bool is_found(const struct findings_search *search, const struct finding *finding)
{
	uint64_t window_ns = search->question->end_ns - search->question->begin_ns;

	if (finding->count < kinds[finding->kind].least ||
		!(finding->save_ns || kinds[finding->kind].is_hint))
		return false;
	switch (finding->kind) {
	case FINDING_REPEATED_COMPILE:
	case FINDING_COMPILE:
	case FINDING_SINGLE_DEVICE:
		return finding->time_ns >= window_ns / WINDOW_LEAST;
	case FINDING_EARLY_SYNC:
		return finding->save_ns >= window_ns / WINDOW_LEAST;
	default:
		return true;
	}
}

static int finding_compare(const void *left, const void *right, void *run)
{
	const struct finding *a = left, *b = right;

	if (a->save_ns != b->save_ns)
		return a->save_ns > b->save_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->context != b->context) /* by path: numbers are others in a slice of the run */
		return store_hash_compare(
			run_context_hash(run, a->context), run_context_hash(run, b->context));
	return a->stream < b->stream ? -1 : a->stream > b->stream; /* those of queues have no context */
}

static int collect(
	struct findings_search *search, struct findings *findings, struct arena *arena, struct error *error)
{
	findings->count = 0;
	findings->list = arena_calloc(arena, search->keys.count + 1, sizeof(*findings->list));
	if (!findings->list)
		return error_memory(error);
	for (uint32_t i = 0; i < search->keys.count; i++) {
		struct finding *finding = &findings->list[findings->count];

		*finding = search->list[i];
		finding->save_ns = save_of(search, i);
		findings->count += is_found(search, finding);
	}
	qsort_r(findings->list, findings->count, sizeof(*findings->list), finding_compare, search->run);
	return 0;
}

int findings_make(struct findings *findings, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct findings_search search = {.run = run, .question = question, .arena = arena};
	struct related related = {0};
	struct process *processes;
	uint32_t count = 0;
	int result =
		related_find(&related, run, question->streams, question->stream_count, false, arena, error);

	if (!result)
		result = process_list(&processes, &count, run, related.streams, related.count, arena, error);
	search.related = related.bits;

	key_ids_init(&search.keys, sizeof(struct case_key));
	for (uint32_t p = 0; p < count && !result; p++)
		result = read_process(&search, &processes[p], error);
	if (!result)
		result = collect(&search, findings, arena, error);
	key_ids_fini(&search.keys);
	free(search.list);
	free(search.longest_ns);
	return result;
}
