/* SPDX-License-Identifier: Apache-2.0 */
/* run_replay_split.c - see run_replay_split.h. */
#include "blame/advise/run_replay_split.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/merge_sort.h"

/* When a queue had ended what may be waited for. */
struct ending {
	uint64_t time_ns;
	uint32_t queue;
};

struct splitter {
	const struct critical_graph *graph;
	const struct run_replay_line *lines;
	uint32_t *next; /* [stream_count] of a queue: another one of its process, round and round */
	struct wait_cause *list;
	size_t count, capacity;
	struct ending *endings; /* [stream_count] */
	size_t ending_count;
};

static int ending_compare(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->queue < b->queue ? -1 : a->queue > b->queue;
}

/* The end of the line's last piece that ended by then; 0: none did. */
static uint64_t last_end(const struct run_replay_line *line, uint64_t by_ns)
{
	size_t low = 0, high = line->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (line->pieces[middle].end_ns <= by_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? line->pieces[low - 1].end_ns : 0;
}

/* Joins the queues of each process. False: no memory. */
static bool queues_join(struct splitter *splitter)
{
	uint32_t count = splitter->graph->stream_count, process_count = 0, *first;
	bool ok;

	for (uint32_t s = 0; s < count; s++)
		if (splitter->lines[s].process >= process_count)
			process_count = splitter->lines[s].process + 1;
	splitter->next = malloc(((size_t)count + 1) * sizeof *splitter->next);
	first = malloc(((size_t)process_count + 1) * sizeof *first);
	ok = splitter->next && first;
	if (ok)
		memset(first, 0xff, process_count * sizeof *first);
	for (uint32_t s = 0; ok && s < count; s++) {
		uint32_t *in_process = &first[splitter->lines[s].process];

		splitter->next[s] = s;
		if (!splitter->lines[s].is_queue)
			continue;
		if (*in_process == UINT32_MAX) {
			*in_process = s;
			continue;
		}
		splitter->next[s] = splitter->next[*in_process];
		splitter->next[*in_process] = s;
	}
	free(first);
	return ok;
}

/* Ends in (after, by] of the other queues of a queue's process. They become distinct, and earlier than `by`.
 */
static void endings_find(struct splitter *splitter, uint32_t queue, uint64_t after_ns, uint64_t by_ns)
{
	size_t kept = 0;

	splitter->ending_count = 0;
	for (uint32_t s = splitter->next[queue]; s != queue; s = splitter->next[s]) {
		uint64_t end_ns = last_end(&splitter->lines[s], by_ns);

		if (end_ns > after_ns)
			splitter->endings[splitter->ending_count++] = (struct ending){end_ns, s};
	}
	merge_sort(splitter->endings, splitter->ending_count, sizeof *splitter->endings, ending_compare);
	for (size_t i = splitter->ending_count; i-- > 0;) {
		uint64_t before_ns =
			i + 1 < splitter->ending_count ? splitter->endings[i + 1].time_ns : by_ns;

		if (splitter->endings[i].time_ns >= before_ns)
			splitter->endings[i].time_ns = before_ns - 1;
	}
	for (size_t i = 0; i < splitter->ending_count; i++)
		if (splitter->endings[i].time_ns > after_ns)
			splitter->endings[kept++] = splitter->endings[i];
	splitter->ending_count = kept;
}

static bool put(struct splitter *splitter, struct wait_cause cause)
{
	if (cause.begin_ns >= cause.end_ns)
		return true;
	if (!array_widen(&splitter->list, &splitter->capacity, splitter->count, sizeof *splitter->list))
		return false;
	splitter->list[splitter->count++] = cause;
	return true;
}

/* Until all queues have ended; the last of them is the cause's own party. */
static bool sync_split(struct splitter *splitter, const struct wait_cause *sync)
{
	struct wait_cause part = *sync;
	bool ok = true;

	endings_find(splitter, sync->party, sync->begin_ns, sync->from_ns);
	for (size_t i = 0; i < splitter->ending_count && ok; i++) {
		part.party = splitter->endings[i].queue;
		part.from_ns = part.end_ns = splitter->endings[i].time_ns;
		ok = put(splitter, part);
		part.begin_ns = part.end_ns;
	}
	part.party = sync->party;
	part.from_ns = sync->from_ns;
	part.end_ns = sync->end_ns;
	return ok && put(splitter, part);
}

/* Until the operation was launched, and until another queue's last operation in the gap had ended. A gap
 * without a launch in it takes its time. */
static bool gap_split(struct splitter *splitter, const struct wait_cause *gap)
{
	uint64_t after_ns = gap->from_ns > gap->begin_ns ? gap->from_ns : gap->begin_ns;
	struct wait_cause launch = *gap, other = *gap;
	const struct ending *last;

	endings_find(splitter, gap->waiter, after_ns, gap->end_ns);
	if (!splitter->ending_count)
		return gap->kind == CAUSE_UNKNOWN || put(splitter, *gap);
	last = &splitter->endings[splitter->ending_count - 1];
	/* A party lets go on after the wait has begun. */
	launch.end_ns = other.begin_ns = last->time_ns - 1;
	other.kind = CAUSE_GPU;
	other.party = last->queue;
	other.from_ns = last->time_ns;
	return put(splitter, launch) && put(splitter, other);
}

/* All gaps of a queue; *cause is its first wait, and becomes the next stream's. */
static bool queue_split(struct splitter *splitter, uint32_t queue, size_t *cause)
{
	const struct critical_graph *graph = splitter->graph;
	const struct run_replay_line *line = &splitter->lines[queue];
	uint64_t busy_ns = graph->begin_ns;
	bool ok = true;

	for (size_t i = 0; i < line->count && ok; i++) {
		struct wait_cause gap = {.begin_ns = busy_ns,
			.end_ns = line->pieces[i].begin_ns,
			.waiter = queue,
			.party = CAUSE_NOBODY,
			.kind = CAUSE_UNKNOWN};

		while (*cause < graph->cause_count && graph->causes[*cause].waiter == queue &&
			graph->causes[*cause].end_ns <= gap.end_ns)
			gap = graph->causes[(*cause)++];
		ok = gap.begin_ns >= gap.end_ns || gap_split(splitter, &gap);
		busy_ns = line->pieces[i].end_ns;
	}
	while (*cause < graph->cause_count && graph->causes[*cause].waiter == queue)
		(*cause)++;
	return ok;
}

int run_replay_split_waits(struct wait_cause **split, size_t *count, const struct critical_graph *graph,
	const struct run_replay_line *lines, struct error *error)
{
	struct splitter splitter = {.graph = graph, .lines = lines};
	size_t c = 0;
	bool ok = true;

	splitter.endings = calloc((size_t)graph->stream_count + 1, sizeof *splitter.endings);
	ok = splitter.endings && queues_join(&splitter);
	for (uint32_t s = 0; s < graph->stream_count && ok; s++) {
		if (lines[s].is_queue)
			ok = queue_split(&splitter, s, &c);
		for (; ok && c < graph->cause_count && graph->causes[c].waiter == s; c++) {
			const struct wait_cause *cause = &graph->causes[c];
			bool is_sync = cause->kind == CAUSE_GPU && cause->party < graph->stream_count &&
				       lines[cause->party].is_queue;

			ok = is_sync ? sync_split(&splitter, cause) : put(&splitter, *cause);
		}
	}
	free(splitter.endings);
	free(splitter.next);
	*split = splitter.list;
	*count = splitter.count;
	return ok ? 0 : error_memory(error);
}
