/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.c - see queues.h: works in rounds. A round merges what is known of all queues, up to where the
 * first of them must be read further, and then returns the gaps that are complete.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/queues_internal.h"

#define KEPT_NS                                                                                             \
	(GPU_PENDING_REACH_NS + GPU_PENDING_REACH_NS / 16) /* many become final at once, and are still near \
							    */

/* ---- rounds ---- */

/* Up to where all that begins is read: the last row of an unfinished queue may be one of several that begin
 * together. */
static uint64_t known_until(const struct queues *queues, uint32_t *first)
{
	uint64_t until_ns = UINT64_MAX;

	for (uint32_t i = 0; i < queues->count; i++) {
		const struct edges *edges = &queues->list[i].edges[LEVEL_ANY];

		if (queues->list[i].is_over || edges->begin_ns[edges->count - 1] >= until_ns)
			continue;
		until_ns = edges->begin_ns[edges->count - 1];
		*first = i;
	}
	return until_ns;
}

static int fill_all(struct queues *queues, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < queues->count && !result; i++) {
		const struct edges *edges = &queues->list[i].edges[LEVEL_ANY];

		if (!queues->list[i].is_over && edges->count - edges->at < BATCH_ROWS / 8)
			result = queue_fill(queues, i, error);
	}
	return result;
}

/* Merged busy time up to `time_ns`, where no later span has begun: all but the gaps. */
static uint64_t sum_until(const struct queues *queues, enum level level, uint64_t time_ns)
{
	uint64_t open_ns;

	while (!queues->wants[level])
		level++;
	open_ns = queues->has_ended ? time_ns : queues_open_ns(queues, level);
	return time_ns - queues->question.begin_ns - queues->idle_ns[level] -
	       (time_ns > open_ns ? time_ns - open_ns : 0);
}

static void sum_up(struct queues *queues, uint64_t time_ns)
{
	const struct queues_cuts *cuts = queues->question.cuts;
	struct queues_sums *before = &queues->sums_before, *now = &queues->sums;

	now->kernel_ns = sum_until(queues, LEVEL_KERNEL, time_ns);
	now->kernel_comm_ns = sum_until(queues, LEVEL_COMM, time_ns);
	now->busy_ns = sum_until(queues, LEVEL_ANY, time_ns);
	if (cuts)
		cuts->sums[queues->part_number++] = (struct queues_sums){now->kernel_ns - before->kernel_ns,
			now->kernel_comm_ns - before->kernel_comm_ns, now->busy_ns - before->busy_ns};
	*before = *now;
}

static int unite_until(struct queues *queues, uint64_t until_ns, struct error *error)
{
	struct gpu_pending_launches *launches = queues->question.launches;
	const struct queues_cuts *cuts = queues->question.cuts;
	uint64_t end_ns = queues->question.end_ns;
	int result = 0;

	if (launches) {
		gpu_pending_launches_pass(launches, queues->now_ns);
		result = gpu_pending_launches_read(launches, until_ns, error);
	}
	if (result)
		return result;

	while (cuts && queues->part_number < cuts->count && cuts->cuts_ns[queues->part_number] <= until_ns) {
		if (!queues_unite(queues, cuts->cuts_ns[queues->part_number], false))
			return error_memory(error);
		sum_up(queues, cuts->cuts_ns[queues->part_number]);
	}
	if (until_ns >= end_ns && !queues->has_ended) {
		if (!queues_unite(queues, end_ns, true))
			return error_memory(error);
		sum_up(queues, end_ns);
	}
	if (!queues_unite(queues, until_ns, false))
		return error_memory(error);
	queues->now_ns = until_ns;
	queues->is_over = until_ns == UINT64_MAX;
	return 0;
}

static int round_do(struct queues *queues, struct error *error)
{
	uint32_t first = 0;
	uint64_t until_ns;
	const struct edges *edges;
	int result = fill_all(queues, error);

	if (result)
		return result;
	until_ns = known_until(queues, &first);
	edges = &queues->list[first].edges[LEVEL_ANY];
	/* More spans than were read begin together: read on. */
	if (until_ns != UINT64_MAX && edges->begin_ns[edges->at] == until_ns)
		return queue_fill(queues, first, error);
	return unite_until(queues, until_ns, error);
}

/* ---- gaps ---- */

/* The first that is not final and ends behind that time. */
static size_t gaps_find(const struct gap_list *gaps, uint64_t time_ns)
{
	size_t low = gaps->final, high = gaps->of.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gaps->of.end_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes queued_ns a minimum over a gap and all later ones. It mostly is, so only new gaps are checked; the
 * next merge may lower the last one's. */
static void make_least(struct gap_list *gaps)
{
	const struct gap_columns *of = &gaps->of;
	size_t from = gaps->ordered > gaps->final ? gaps->ordered : gaps->final;

	if (!queues_are_least(of->queued_ns + from, of->count - from))
		queues_make_least(
			of->queued_ns + gaps->final, from + 1 - gaps->final, of->count - gaps->final);
	gaps->ordered = of->count < 2 ? 0 : of->count - 2;
}

/* Those that no span which is still to come was queued in, learn since when work is queued. In a copy's part
 * something runs. */
static void make_final(struct queues *queues)
{
	struct gap_list *gaps = &queues->gaps;
	struct gap_columns *of = &gaps->of;
	size_t final = of->count;

	if (queues->question.launches && !queues->is_over)
		final = gaps_find(gaps, gpu_pending_before(queues->now_ns));
	if (queues->question.launches)
		make_least(gaps);
	for (size_t i = gaps->final; of->is_copy && i < final; i++)
		of->queued_ns[i] = of->is_copy[i] ? of->begin_ns[i] : of->queued_ns[i];
	gaps->final = final;
}

static bool is_due(const struct queues *queues)
{
	const struct gap_list *gaps = &queues->gaps;

	if (gaps->final == gaps->of.count)
		return false;
	return queues->is_over || !queues->question.launches ||
	       queues->now_ns - gaps->of.end_ns[gaps->final] >= KEPT_NS;
}

/* As if no queue were born in it, or ended. */
static void gap_at(const struct queues *queues, size_t i, struct queues_gap *gap)
{
	const struct gap_columns *of = &queues->gaps.of;
	uint64_t origin = of->origin ? of->origin[i] : 0;

	gap->begin_ns = of->begin_ns[i];
	gap->end_ns = of->end_ns[i];
	gap->queued_ns = of->queued_ns[i];
	gap->stream = queues->list[origin >> 32].stream;
	gap->context = (uint32_t)origin;
	gap->is_copy = of->is_copy && of->is_copy[i];
	gap->is_whole = true;
}

/* Where the same queues live as before. */
static bool is_in_life(const struct queues *queues, uint64_t begin_ns, uint64_t end_ns)
{
	const struct life *life = &queues->lives[queues->life];

	return queues->life < queues->life_count && life->begin_ns <= begin_ns && end_ns <= life->end_ns;
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
	/* Written where it stays, as a rule: what was just written in parts is slow to copy. */
	gap_at(queues, gaps->first++, gap);
	gap->is_alive = is_in_life(queues, gap->begin_ns, gap->end_ns);
	if (!gap->is_alive) {
		queues->rest = *gap;
		give(queues, gap);
	}
	return 1;
}

size_t queues_ready(const struct queues *queues, struct queues_columns *out)
{
	const struct gap_list *gaps = &queues->gaps;

	*out = (struct queues_columns){gaps->of.begin_ns + gaps->first, gaps->of.end_ns + gaps->first,
		gaps->of.queued_ns + gaps->first};
	/* The ends of lives are for others. */
	if (queues->rest.begin_ns < queues->rest.end_ns || gaps->first == gaps->final ||
		!is_in_life(queues, *out->begin_ns, gaps->of.end_ns[gaps->final - 1]))
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
	const struct queues_question *question = &queues->question;
	struct gap_columns *gaps = &queues->gaps.of;

	queues->context_count = run_context_count(queues->run);
	queues->list = calloc(count + 1u, sizeof(*queues->list));
	queues->views = calloc(count + 1u, sizeof(*queues->views));
	queues->lives = calloc(count + 1u, sizeof(*queues->lives));
	queues->kernels = calloc((size_t)queues->context_count + 1, 1);
	queues->work = malloc(sizeof(*queues->work));
	queues->part = malloc(sizeof(*queues->part));
	if (question->wants_next)
		gaps->origin = malloc(sizeof(*gaps->origin));
	if (question->by_kernel)
		gaps->is_copy = malloc(sizeof(*gaps->is_copy));
	if (!queues->list || !queues->views || !queues->lives || !queues->kernels || !queues->work ||
		!queues->part || (question->wants_next && !gaps->origin) ||
		(question->by_kernel && !gaps->is_copy) || !gap_columns_reserve(gaps, BATCH_ROWS, gaps))
		return error_memory(error);
	gap_columns_begin(gaps);
	queues->gaps.first = queues->gaps.final = gaps->count;
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
	queues->now_ns = queues->given_ns = question->begin_ns;
	queues->wants[LEVEL_ANY] = true;
	queues->wants[LEVEL_COMM] = question->by_kernel || question->wants_kinds;
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
	for (uint32_t i = 0; i < queues->count; i++)
		queue_close(&queues->list[i]);
	for (int i = 0; i < 2; i++)
		gap_columns_fini(&queues->scratch[i]);
	for (int level = 0; level < LEVEL_COUNT; level++)
		gap_columns_fini(&queues->found[level]);
	gap_columns_fini(&queues->gaps.of);
	free(queues->list);
	free(queues->views);
	free(queues->lives);
	free(queues->kernels);
	free(queues->work);
	free(queues->part);
	free(queues);
}

bool queues_are_odd(const struct queues *queues)
{
	/* One that lives in the window must be monitored there. */
	return queues->is_odd || queues->unmonitored;
}

const struct queues_sums *queues_sums(const struct queues *queues)
{
	return &queues->sums;
}
