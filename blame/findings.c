/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - see findings.h: one reading of each process's spans. */
#include "blame/findings.h"

#include <stdlib.h>

#include "blame/findings_parts.h"
#include "blame/queued.h"

#define SMALL_BYTES (64u * 1024u)
/* Of the window: to load code that was compiled before takes some 50 us, which nobody could save. */
#define COMPILE_LEAST 1000

struct case_key {
	uint32_t kind, context;
};

static const struct {
	const char *name;
	uint64_t least;
	bool is_hint; /* what it could save cannot be told */
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
	uint32_t room = search->room ? 2 * search->room : 64;
	struct finding *list = realloc(search->list, room * sizeof(*list));
	uint64_t *longest_ns;

	if (!list)
		return false;
	search->list = list;
	longest_ns = realloc(search->longest_ns, room * sizeof(*longest_ns));
	if (!longest_ns)
		return false;
	search->longest_ns = longest_ns;
	search->room = room;
	return true;
}

static bool add_case(struct findings_search *search, const struct finding *of)
{
	struct case_key key = {of->kind, of->context};
	struct finding *finding;
	uint32_t number;
	bool is_new;

	number = numbering_put(&search->keys, &key, &is_new);
	if (number == NUMBERING_NONE || (number >= search->room && !list_widen(search)))
		return false;
	finding = &search->list[number];
	if (is_new) {
		*finding = (struct finding){.kind = of->kind, .context = of->context, .stream = of->stream};
		search->longest_ns[number] = 0;
	}
	finding->count++;
	finding->time_ns += of->time_ns;
	finding->bytes += of->bytes;
	if (of->time_ns > search->longest_ns[number])
		search->longest_ns[number] = of->time_ns;
	return true;
}

static bool add_row(
	struct findings_search *search, enum finding_kind kind, const struct batch *batch, size_t row)
{
	return add_case(search, &(struct finding){.kind = kind,
					.context = batch->context[row],
					.stream = batch->stream,
					.time_ns = findings_time(search, batch, row),
					.bytes = batch->bytes[row]});
}

bool findings_put(struct findings_search *search, const struct finding *finding)
{
	struct case_key key = {
		finding->kind, finding->context ? finding->context : UINT32_MAX - finding->stream};
	uint32_t number = numbering_put(&search->keys, &key, NULL);

	if (number == NUMBERING_NONE || (number >= search->room && !list_widen(search)))
		return false;
	search->list[number] = *finding;
	search->longest_ns[number] = finding->time_ns - finding->save_ns;
	return true;
}

/* Whether they are needless is known when the queues are read. */
static bool put_sync(struct findings_search *search, const struct batch *batch, size_t row)
{
	if (search->sync_count == search->sync_room) {
		size_t room = search->sync_room ? 2 * search->sync_room : 256;
		struct findings_sync *syncs = realloc(search->syncs, room * sizeof(*syncs));

		if (!syncs)
			return false;
		search->syncs = syncs;
		search->sync_room = room;
	}
	search->syncs[search->sync_count++] = (struct findings_sync){findings_begin(search, batch, row),
		findings_time(search, batch, row), batch->bytes[row], batch->context[row], batch->stream};
	return true;
}

/* Whether the process has work on its queues at any moment of the span. */
static bool has_work(const struct findings_search *search, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = search->work_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->work[middle].end_ns <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->work_count && search->work[low].begin_ns < end_ns;
}

static bool judge_syncs(struct findings_search *search)
{
	bool is_put = true;

	for (size_t i = 0; i < search->sync_count && is_put; i++) {
		const struct findings_sync *sync = &search->syncs[i];

		is_put = has_work(search, sync->begin_ns, sync->begin_ns + sync->time_ns) ||
			 add_case(search, &(struct finding){.kind = FINDING_NEEDLESS_SYNC,
						  .context = sync->context,
						  .stream = sync->stream,
						  .time_ns = sync->time_ns,
						  .bytes = sync->bytes});
	}
	search->sync_count = 0;
	return is_put;
}

static bool take_span(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu)
{
	switch (batch->what[row]) {
	case STORE_OP_SYNC:
		return is_gpu || put_sync(search, batch, row);
	case STORE_OP_COPY:
		return !is_gpu || !batch->bytes[row] || batch->bytes[row] >= SMALL_BYTES ||
		       add_row(search, FINDING_SMALL_COPIES, batch, row);
	case STORE_OP_ALLOC:
	case STORE_OP_FREE:
		return add_row(search, FINDING_REPEATED_ALLOC, batch, row);
	case STORE_OP_COMPILE:
		return add_row(search, FINDING_REPEATED_COMPILE, batch, row) &&
		       add_row(search, FINDING_COMPILE, batch, row);
	default:
		return true;
	}
}

#define OP(name) (UINT64_C(1) << STORE_OP_##name)
#define CPU_OPS (OP(SYNC) | OP(ALLOC) | OP(FREE) | OP(COMPILE))
#define GPU_OPS (OP(COPY) | OP(ALLOC) | OP(FREE) | OP(COMPILE) | OP(KERNEL) | OP(MONITORED))
#define ROWS_AT_ONCE 8

/* Whether any of them may say something: of a thread most are launches, which do not. */
static bool say_something(const uint32_t *what, uint64_t ops)
{
	uint64_t says = 0;

	for (int i = 0; i < ROWS_AT_ONCE; i++)
		says |= ops >> (what[i] & 63);
	return says & 1;
}

static bool is_within(const struct findings_search *search, const struct batch *batch, size_t row)
{
	const struct idle_question *question = search->question;

	return batch->begin_ns[row] < question->end_ns &&
	       (batch->end_ns[row] > question->begin_ns || batch->begin_ns[row] >= question->begin_ns);
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
		if (!take_span(search, batch, row, is_gpu) || !findings_use_take(search, batch, row, is_gpu))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

static int read_process(struct findings_search *search, const struct process *process, struct error *error)
{
	const struct queued_reader reader = {
		take_batch, search, STORE_CONTEXT | STORE_BYTES | STORE_ATTRIBUTES};
	int result;

	search->use = findings_use_new(process);
	if (!search->use)
		return error_memory(error);
	result = queued_find(&search->work, &search->work_count, search->run, process,
		search->question->begin_ns, search->question->end_ns, true, &reader, error);
	if (!result && (!judge_syncs(search) || !findings_use_judge(search)))
		result = error_memory(error);
	findings_use_free(search->use);
	free(search->work);
	search->work = NULL;
	return result ? result : findings_read_devices(search, process, error);
}

/* One case is needed where the place repeats itself; all could go where it is needless. */
static uint64_t save_of(const struct findings_search *search, uint32_t number)
{
	const struct finding *finding = &search->list[number];

	if (finding->kind == FINDING_NEEDLESS_SYNC || finding->kind == FINDING_COMPILE)
		return finding->time_ns;
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
		return finding->time_ns >= window_ns / COMPILE_LEAST;
	default:
		return true;
	}
}

static int finding_compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->save_ns != b->save_ns)
		return a->save_ns > b->save_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->context < b->context ? -1 : a->context > b->context;
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
	qsort(findings->list, findings->count, sizeof(*findings->list), finding_compare);
	return 0;
}

int findings_make(struct findings *findings, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct findings_search search = {.run = run, .question = question};
	struct process *processes;
	uint32_t count = 0;
	int result = process_list(
		&processes, &count, run, question->streams, question->stream_count, arena, error);

	numbering_init(&search.keys, sizeof(struct case_key));
	for (uint32_t p = 0; p < count && !result; p++)
		result = read_process(&search, &processes[p], error);
	if (!result)
		result = collect(&search, findings, arena, error);
	numbering_fini(&search.keys);
	free(search.list);
	free(search.longest_ns);
	free(search.syncs);
	return result;
}
