/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - see queues.h: by rounds. In a round what is known of all queues is united, up to where the first
 * of them has to be read on; then the gaps of which all is known are given.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/queues_parts.h"

#define KEPT_NS (2 * QUEUED_REACH_NS) /* so that many become final at once */

/* ---- rounds ---- */

/* Up to where all that begins is read: the last item of an unfinished queue may be one of several that begin
 * together. */
static uint64_t known_until(const struct queues *queues, uint32_t *first)
{
	uint64_t until_ns = UINT64_MAX;

	for (uint32_t i = 0; i < queues->count; i++) {
		const struct queue *queue = &queues->list[i];

		if (queue->is_over || queue->items[queue->count - 1].begin_ns >= until_ns)
			continue;
		until_ns = queue->items[queue->count - 1].begin_ns;
		*first = i;
	}
	return until_ns;
}

static int fill_all(struct queues *queues, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < queues->count && !result; i++) {
		const struct queue *queue = &queues->list[i];

		if (!queue->is_over && queue->count - queue->at < BATCH_ROWS / 8)
			result = queue_fill(queues, i, error);
	}
	return result;
}

/* The items that begin before. */
static size_t slices_cut(struct queues *queues, uint64_t until_ns)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < queues->count; i++) {
		struct queue *queue = &queues->list[i];
		size_t low = queue->at, high = queue->count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (queue->items[middle].begin_ns < until_ns)
				low = middle + 1;
			else
				high = middle;
		}
		queues->slices[i] = (struct slice){queue->items + queue->at, low - queue->at};
		sum += low - queue->at;
		queue->at = low;
	}
	return sum;
}

/* What is united up to `time_ns`, behind which no span begins yet. */
static uint64_t sum_until(const struct queues *queues, enum work work, uint64_t time_ns)
{
	uint64_t reach_ns = queues->reach_ns[work];

	return queues->sum_ns[work] - (reach_ns > time_ns ? reach_ns - time_ns : 0);
}

static void sum_up(struct queues *queues, uint64_t time_ns)
{
	const struct queues_cuts *cuts = queues->question.cuts;
	struct queues_sums *before = &queues->sums_before, *now = &queues->sums;

	now->kernel_ns = sum_until(queues, WORK_KERNEL, time_ns);
	now->kernel_comm_ns = sum_until(queues, WORK_COMM, time_ns);
	now->busy_ns = sum_until(queues, WORK_OTHER, time_ns);
	if (cuts)
		cuts->sums[queues->part++] = (struct queues_sums){now->kernel_ns - before->kernel_ns,
			now->kernel_comm_ns - before->kernel_comm_ns, now->busy_ns - before->busy_ns};
	*before = *now;
}

static int unite_until(struct queues *queues, uint64_t until_ns, struct error *error)
{
	const struct queues_cuts *cuts = queues->question.cuts;

	while (cuts && queues->part < cuts->count && cuts->cuts_ns[queues->part] <= until_ns) {
		slices_cut(queues, cuts->cuts_ns[queues->part]);
		if (!queues_unite(queues))
			return error_memory(error);
		sum_up(queues, cuts->cuts_ns[queues->part]);
	}
	slices_cut(queues, until_ns);
	if (!queues_unite(queues))
		return error_memory(error);
	queues->now_ns = until_ns;
	if (until_ns != UINT64_MAX)
		return 0;
	queues->is_over = true;
	if (!queues_unite_end(queues))
		return error_memory(error);
	sum_up(queues, queues->question.end_ns);
	return 0;
}

static int round_do(struct queues *queues, struct error *error)
{
	uint32_t first = 0;
	uint64_t until_ns;
	int result = fill_all(queues, error);

	if (result)
		return result;
	until_ns = known_until(queues, &first);
	/* More spans than were read begin together: read on. */
	if (until_ns != UINT64_MAX && queues->list[first].items[queues->list[first].at].begin_ns == until_ns)
		return queue_fill(queues, first, error);
	return unite_until(queues, until_ns, error);
}

/* ---- gaps ---- */

/* Those that no span which is still to come was queued in, learn since when work is queued. */
static void make_final(struct queues *queues)
{
	struct gap_list *gaps = &queues->gaps;
	uint64_t since_ns = UINT64_MAX;
	size_t final = gaps->count;

	if (!queues->question.launches) {
		gaps->final = final;
		return;
	}
	while (!queues->is_over && final > gaps->final &&
		queues->now_ns - gaps->list[final - 1].end_ns < QUEUED_REACH_NS)
		final--;
	for (size_t i = gaps->count; i-- > gaps->final;) {
		since_ns = gaps->list[i].queued_ns < since_ns ? gaps->list[i].queued_ns : since_ns;
		if (i < final)
			gaps->list[i].queued_ns = since_ns;
	}
	gaps->final = final;
}

static bool is_due(const struct queues *queues)
{
	const struct gap_list *gaps = &queues->gaps;

	if (gaps->final == gaps->count)
		return false;
	return queues->is_over || !queues->question.launches ||
	       queues->now_ns - gaps->list[gaps->final].end_ns >= KEPT_NS;
}

/* Gives the first part of the rest, in which as many queues live: some, or none. */
static void give(struct queues *queues, struct queues_gap *gap)
{
	struct queues_gap *rest = &queues->rest;
	const struct life *life;

	while (queues->life < queues->life_count && queues->lives[queues->life].end_ns <= rest->begin_ns)
		queues->life++;
	*gap = *rest;
	if (queues->life < queues->life_count) {
		uint64_t change_ns;

		life = &queues->lives[queues->life];
		gap->is_alive = life->begin_ns <= rest->begin_ns;
		change_ns = gap->is_alive ? life->end_ns : life->begin_ns;
		if (change_ns < gap->end_ns) {
			gap->end_ns = change_ns;
			gap->is_whole = rest->is_whole = false;
		}
	}
	rest->begin_ns = gap->end_ns;
}

/* As most are: within the life of queues that live together. */
static bool give_whole(struct queues *queues, const struct queues_gap *next, struct queues_gap *gap)
{
	const struct life *life = &queues->lives[queues->life];

	if (queues->life >= queues->life_count || life->begin_ns > next->begin_ns ||
		life->end_ns < next->end_ns)
		return false;
	*gap = *next;
	gap->stream = queues->list[gap->stream].stream;
	gap->queued_ns = gap->is_copy ? gap->begin_ns : gap->queued_ns;
	gap->is_alive = gap->is_whole = true;
	return true;
}

int queues_next(struct queues *queues, struct queues_gap *gap, struct error *error)
{
	struct gap_list *gaps = &queues->gaps;

	if (queues->rest.begin_ns < queues->rest.end_ns) {
		give(queues, gap);
		return 1;
	}
	while (gaps->first == gaps->final) {
		int result;

		if (is_due(queues)) {
			make_final(queues);
			continue;
		}
		if (queues->is_over || queues->is_odd)
			return 0;
		result = round_do(queues, error);
		if (result)
			return result;
	}
	if (give_whole(queues, &gaps->list[gaps->first], gap)) {
		gaps->first++;
		return 1;
	}
	queues->rest = gaps->list[gaps->first++];
	queues->rest.stream = queues->list[queues->rest.stream].stream;
	queues->rest.is_whole = true;
	if (queues->rest.is_copy)
		queues->rest.queued_ns = queues->rest.begin_ns;
	give(queues, gap);
	return 1;
}

size_t queues_ready(const struct queues *queues, const struct queues_gap **out)
{
	const struct gap_list *gaps = &queues->gaps;
	const struct life *life = &queues->lives[queues->life];

	*out = gaps->list + gaps->first;
	/* Copies (queues_next) and the ends of lives are for others. */
	if (queues->question.by_kernel || queues->rest.begin_ns < queues->rest.end_ns ||
		gaps->first == gaps->final || queues->life >= queues->life_count ||
		life->begin_ns > (*out)->begin_ns || life->end_ns < gaps->list[gaps->final - 1].end_ns)
		return 0;
	return gaps->final - gaps->first;
}

void queues_pass(struct queues *queues, size_t count)
{
	queues->gaps.first += count;
}

/* ---- begin and end ---- */

static int life_compare(const void *left, const void *right)
{
	const struct life *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static void lives_unite(struct queues *queues)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < queues->count; i++)
		queues->lives[i] = (struct life){queues->list[i].life_begin_ns, queues->list[i].life_end_ns};
	if (queues->count)
		qsort(queues->lives, queues->count, sizeof(*queues->lives), life_compare);
	for (uint32_t i = 0; i < queues->count; i++) {
		const struct life life = queues->lives[i];

		if (count && life.begin_ns <= queues->lives[count - 1].end_ns) {
			if (life.end_ns > queues->lives[count - 1].end_ns)
				queues->lives[count - 1].end_ns = life.end_ns;
		} else {
			queues->lives[count++] = life;
		}
	}
	queues->life_count = count;
}

static int reserve(struct queues *queues, uint32_t count, struct error *error)
{
	queues->context_count = run_context_count(queues->run);
	queues->list = calloc(count + 1u, sizeof(*queues->list));
	queues->slices = calloc(count + 1u, sizeof(*queues->slices));
	queues->lives = calloc(count + 1u, sizeof(*queues->lives));
	queues->kernels = calloc((size_t)queues->context_count + 1, 1);
	queues->gaps.list = calloc(1, sizeof(*queues->gaps.list));
	if (!queues->list || !queues->slices || !queues->lives || !queues->kernels || !queues->gaps.list)
		return error_memory(error);
	queues->gaps.first = queues->gaps.final = queues->gaps.count = queues->gaps.room = 1;
	return 0;
}

int queues_new(struct queues **out, struct run *run, const struct process *process,
	const struct queues_question *question, struct error *error)
{
	struct queues *queues = calloc(1, sizeof(*queues));
	int result;

	*out = queues;
	if (!queues)
		return error_memory(error);
	queues->run = run;
	queues->question = *question;
	queues->now_ns = question->begin_ns;
	for (int work = 0; work < WORK_COUNT; work++)
		queues->reach_ns[work] = question->begin_ns;
	queues_tell_classes(queues);
	result = reserve(queues, process->gpu_count, error);
	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(run, process->streams[i])->s.kind == STORE_STREAM_GPU) {
			result = queue_open(queues, queues->count++, process->streams[i], error);
			if (!result)
				result = queue_fill(queues, queues->count - 1, error);
		}
	if (result) {
		queues_free(queues);
		*out = NULL;
		return result;
	}
	lives_unite(queues);
	return 0;
}

void queues_free(struct queues *queues)
{
	if (!queues)
		return;
	for (uint32_t i = 0; i < queues->count; i++) {
		scan_close(queues->list[i].scan);
		free(queues->list[i].items);
	}
	free(queues->list);
	free(queues->slices);
	free(queues->lives);
	free(queues->kernels);
	free(queues->merged[0]);
	free(queues->merged[1]);
	free(queues->gaps.list);
	free(queues);
}

bool queues_are_odd(const struct queues *queues)
{
	bool is_odd = queues->is_odd;

	/* One that lives in the window must be monitored there. */
	for (uint32_t i = 0; i < queues->count && !is_odd; i++)
		is_odd = !queues->list[i].is_monitored &&
			 queues->list[i].life_begin_ns < queues->question.end_ns &&
			 queues->list[i].life_end_ns > queues->question.begin_ns;
	return is_odd;
}

const struct queues_sums *queues_sums(const struct queues *queues)
{
	return &queues->sums;
}
