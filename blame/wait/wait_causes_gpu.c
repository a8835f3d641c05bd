/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_causes_gpu.c - waits between threads and GPU queues: a synchronization waits for the operation that
 * ended last before it, an idle queue for the thread that launched the next operation.
 *
 *   thread  =launch a=|~~~~~~sync~~~~~|==launch b=|===
 *   queue        ~~~~~|#####a#####|~~~~~~~~~~~~~~~|###b###|
 */
#include <stdlib.h>

#include "blame/wait/wait_causes_internal.h"
#include "store/base/array.h"
#include "store/base/merge_sort.h"
#include "timeline/scan/scan.h"

/* The end of an operation. */
struct ending {
	uint64_t time_ns;
	uint32_t queue;
};

struct endings {
	struct ending *list; /* of one process, by time */
	size_t count, capacity;
};

static int launch_compare(const void *left, const void *right)
{
	const struct cause_launch *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static const struct cause_launch *launch_find(
	const struct cause_search *search, uint32_t process, uint64_t link)
{
	struct cause_launch key = {.process = process, .link = link};
	size_t low = 0, high = search->launch_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (launch_compare(&search->launches[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return link && low < search->launch_count && search->launches[low].process == process &&
			       search->launches[low].link == link
		       ? &search->launches[low]
		       : NULL;
}

static bool put(struct cause_search *search, struct wait_cause cause)
{
	const struct idle_question *question = search->question;

	cause.begin_ns = cause.begin_ns > question->begin_ns ? cause.begin_ns : question->begin_ns;
	cause.end_ns = cause.end_ns < question->end_ns ? cause.end_ns : question->end_ns;
	return cause.begin_ns >= cause.end_ns || wait_causes_put(search->causes, &cause);
}

/* The queue was idle before this operation because it had not been launched. */
static bool gap_put(struct cause_search *search, uint32_t process, const struct batch *batch, size_t row,
	uint64_t busy_ns)
{
	const struct cause_launch *launch = launch_find(search, process, batch->link[row]);

	return !launch || launch->begin_ns <= busy_ns || launch->begin_ns > batch->begin_ns[row] ||
	       put(search, (struct wait_cause){.begin_ns = busy_ns,
				   .end_ns = batch->begin_ns[row],
				   .waiter = batch->stream,
				   .party = launch->stream,
				   .from_ns = launch->begin_ns,
				   .context = batch->context[row],
				   .kind = CAUSE_LAUNCH});
}

static int queue_read(struct cause_search *search, uint32_t process, uint32_t queue, struct endings *endings,
	struct error *error)
{
	const struct idle_question *question = search->question;
	uint64_t busy_ns = question->begin_ns;
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	bool is_done = true;
	int result = scan_open(&scan, search->run, queue, STORE_SPANS, question->begin_ns, question->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_LINK, 0, error);

	if (result)
		return result;
	while (is_done && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && is_done; row++) {
			uint32_t what = batch->what[row];

			if (what != STORE_OP_KERNEL && what != STORE_OP_COPY && what != STORE_OP_SET)
				continue;
			if (batch->begin_ns[row] > busy_ns)
				is_done = gap_put(search, process, batch, row, busy_ns);
			busy_ns = batch->end_ns[row] > busy_ns ? batch->end_ns[row] : busy_ns;
			is_done = is_done && array_widen(&endings->list, &endings->capacity, endings->count,
						     sizeof(*endings->list));
			if (is_done)
				endings->list[endings->count++] = (struct ending){batch->end_ns[row], queue};
		}
	scan_close(scan);
	return is_done ? (int)(count < 0 ? count : 0) : error_memory(error);
}

static int ending_compare(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->queue < b->queue ? -1 : a->queue > b->queue;
}

static bool sync_put(
	struct cause_search *search, const struct cause_wait *sync, const struct endings *endings)
{
	size_t low = 0, high = endings->count;
	struct wait_cause cause = {.begin_ns = sync->begin_ns,
		.end_ns = sync->end_ns,
		.waiter = sync->stream,
		.party = CAUSE_NOBODY,
		.context = sync->context,
		.kind = CAUSE_GPU};

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (endings->list[middle].time_ns <= sync->end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && endings->list[low - 1].time_ns > sync->begin_ns) {
		cause.party = endings->list[low - 1].queue;
		cause.from_ns = endings->list[low - 1].time_ns;
	}
	return put(search, cause);
}

static int process_gpu(struct cause_search *search, uint32_t p, struct endings *endings, struct error *error)
{
	const struct process *process = &search->processes[p];
	int result = 0;

	endings->count = 0;
	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(search->run, process->streams[i])->s.kind == STORE_STREAM_GPU)
			result = queue_read(search, p, process->streams[i], endings, error);
	merge_sort(endings->list, endings->count, sizeof(*endings->list), ending_compare);
	for (size_t i = 0; i < search->sync_count && !result; i++)
		if (search->syncs[i].process == p && !sync_put(search, &search->syncs[i], endings))
			result = error_memory(error);
	return result;
}

int wait_causes_gpu(struct cause_search *search, struct error *error)
{
	struct endings endings = {0};
	int result = 0;

	merge_sort(search->launches, search->launch_count, sizeof(*search->launches), launch_compare);
	for (uint32_t p = 0; p < search->process_count && !result; p++)
		if (search->processes[p].gpu_count)
			result = process_gpu(search, p, &endings, error);
	free(endings.list);
	return result;
}
