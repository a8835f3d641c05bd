/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_pending.c - see gpu_pending.h: joins the queues' operations with their launches by link, and merges
 * them. */
#include "blame/gpu/gpu_pending.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/scan/scan.h"

struct pending_search {
	struct run *run;
	uint64_t begin_ns, end_ns; /* window */
	struct launches launches;
	struct sweep_span *spans;
	size_t span_count, span_capacity;
	bool is_wanted; /* a thread is in a synchronization call */
	const struct gpu_pending_reader *reader;
	uint64_t since_ns[BATCH_ROWS]; /* of the current batch */
	struct gpu_pending_calls calls;
};

/* ---- launches ---- */

static bool take_thread(struct pending_search *search, const struct batch *batch)
{
	search->is_wanted =
		search->is_wanted || gpu_pending_waits_in(batch, search->begin_ns, search->end_ns);
	return gpu_pending_put_calls(&search->launches, batch, &search->calls);
}

/* ---- operations ---- */

static bool is_work(uint32_t op)
{
	return !store_op_is_state(op) && op != STORE_OP_NONE && op != STORE_OP_SYNC && op != STORE_OP_RANGE;
}

/* A queue's spans come in order of begin: merges one that overlaps its predecessor. */
static bool put_span(struct pending_search *search, uint64_t begin_ns, uint64_t end_ns)
{
	if (search->span_count) {
		struct sweep_span *last = &search->spans[search->span_count - 1];

		if (begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
			last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
			return true;
		}
	}
	if (!array_widen(&search->spans, &search->span_capacity, search->span_count, sizeof(*search->spans)))
		return false;
	search->spans[search->span_count++] = (struct sweep_span){begin_ns, end_ns};
	return true;
}

static bool take_queue(struct pending_search *search, const struct batch *batch)
{
	gpu_pending_find_since(
		&search->launches, batch->link, batch->begin_ns, search->since_ns, batch->count);
	for (size_t i = 0; i < batch->count; i++)
		if (is_work(batch->what[i]) && batch->end_ns[i] > batch->begin_ns[i] &&
			!put_span(search, search->since_ns[i], batch->end_ns[i]))
			return false;
	return true;
}

/* Hands the spans of a stream to `take`, batch by batch. */
static int each_span(struct pending_search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	bool (*take)(struct pending_search *search, const struct batch *batch), struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	const struct gpu_pending_reader *reader = search->reader;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, begin_ns, end_ns,
		STORE_BEGIN | STORE_END | STORE_WHAT | STORE_LINK | (reader ? reader->columns : 0), 0, error);

	while (!result && (count = scan_next(scan, &batch, error)) != 0) {
		result = count < 0 ? (int)count : take(search, batch) ? 0 : error_memory(error);
		if (!result && reader && !reader->take(reader->own, batch))
			result = error_memory(error);
	}
	scan_close(scan);
	return result;
}

static int span_compare(const void *left, const void *right)
{
	const struct sweep_span *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* The spans from there on are a queue's, in order but for a few whose calls ended in another one. */
static void queue_sort(struct sweep_span *spans, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (spans[i].begin_ns < spans[i - 1].begin_ns) {
			qsort(spans, count, sizeof(*spans), span_compare);
			return;
		}
}

/* Merges a queue's spans, in order, into the earlier ones, also in order. False: no memory. */
static bool spans_merge(struct pending_search *search, size_t before)
{
	size_t left = before, right = search->span_count - before, to = search->span_count;
	struct sweep_span *all = search->spans, *queue;

	queue_sort(all + before, right);
	if (!left || !right || all[before - 1].begin_ns <= all[before].begin_ns)
		return true;
	queue = malloc(right * sizeof(*queue));
	if (!queue)
		return false;
	memcpy(queue, all + before, right * sizeof(*queue));
	while (right)
		if (left && all[left - 1].begin_ns > queue[right - 1].begin_ns)
			all[--to] = all[--left];
		else
			all[--to] = queue[--right];
	free(queue);
	return true;
}

/* Unites what overlaps, of all queues. */
static void spans_unite(struct pending_search *search)
{
	size_t count = 0;

	for (size_t i = 0; i < search->span_count; i++) {
		const struct sweep_span span = search->spans[i];
		struct sweep_span *last = count ? &search->spans[count - 1] : NULL;

		if (!last || span.begin_ns > last->end_ns)
			search->spans[count++] = span;
		else if (span.end_ns > last->end_ns)
			last->end_ns = span.end_ns;
	}
	search->span_count = count;
}

/* Launches of the threads, in order of their links. */
static int search_threads(struct pending_search *search, const struct process *process, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		if (run_stream(search->run, process->streams[i])->s.kind != STORE_STREAM_CPU)
			continue;
		result = each_span(search, process->streams[i], search->begin_ns,
			gpu_pending_calls_until(gpu_pending_after(search->end_ns)), take_thread, error);
	}
	if (!result)
		launches_sort(&search->launches);
	return result;
}

static int search_queues(struct pending_search *search, const struct process *process, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		size_t before = search->span_count;

		if (run_stream(search->run, process->streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		result = each_span(search, process->streams[i], search->begin_ns,
			gpu_pending_after(search->end_ns), take_queue, error);
		if (!result && !spans_merge(search, before))
			result = error_memory(error);
	}
	return result;
}

int gpu_pending_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, const struct gpu_pending_reader *reader,
	struct error *error)
{
	struct pending_search search = {.run = run,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.is_wanted = is_wanted_anyway || reader,
		.reader = reader};
	int result = search_threads(&search, process, error);

	if (!result && search.is_wanted)
		result = search_queues(&search, process, error);

	launches_fini(&search.launches);
	if (result) {
		free(search.spans);
		return result;
	}
	spans_unite(&search);
	*spans = search.spans;
	*count = search.span_count;
	return 0;
}
