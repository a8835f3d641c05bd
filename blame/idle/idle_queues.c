/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_queues.c - the sweep over a process's idle GPUs if its queues are simple: between two changes of its
 * threads no role changes, so all gaps in between are summed together, separately for time with and without
 * queued work.
 *
 *   threads   |=====a======|~~~~sync~~~~~|===b===|
 *   gaps        ^^  ^    ^      ^^    ^     ^^
 *   queued                      ''             '
 */
#include <stdlib.h>

#include "blame/idle/idle_simple_queues.h"

/* ---- parts ---- */

/* What threads are in is charged up to now; they stay in it. */
static bool settle(struct group *group)
{
	for (uint32_t i = 0; i < group->line_count; i++) {
		struct group_line *line = &group->lines[i];
		const struct extent piece = {.state = line->state, .context = line->context};

		if (line->state == EXTENT_STATE_COUNT)
			continue;
		if (!group_line_leave(group, line))
			return false;
		group_line_enter(group, line, &piece);
	}
	return true;
}

static void sum_up(
	struct idle *idle, const struct idle *part, const struct queues_sums *sums, enum idle_busy busy)
{
	idle->kernel_ns += sums->kernel_ns;
	idle->comm_ns += sums->kernel_comm_ns - sums->kernel_ns;
	idle->copy_ns += sums->busy_ns - sums->kernel_comm_ns;
	idle->busy_ns += busy == IDLE_BUSY_ANY ? sums->busy_ns : sums->kernel_comm_ns;
	idle->unknown_ns += part->unknown_ns;
	idle->idle_ns += part->idle_ns;
	idle->blamed_ns += part->blamed_ns;
	idle->all_idle_ns += part->all_idle_ns;
	idle->unexplained_ns += part->unexplained_ns;
	idle->no_core_ns += part->no_core_ns;
}

/* Gives the part that ends now, and begins the next with nothing. */
static bool end_part(struct idle_simple_queues *simple)
{
	struct group *group = &simple->group;
	struct idle whole = {0};
	bool is_taken = settle(group);

	sum_up(&whole, group->idle, &simple->cuts.sums[simple->part], group->question->busy);
	simple->part++;
	is_taken = is_taken && simple->parts->take(simple->parts->own, &whole, group->blamed, group->waited);
	*group->idle = (struct idle){0};
	exact_share_sums_clear(group->blamed);
	exact_share_sums_clear(group->waited);
	return is_taken;
}

/* Time passes up to there, and every part that ends till then is given. */
static int pass_parts(struct idle_simple_queues *simple, uint64_t to_ns, struct error *error)
{
	int result = 0;

	while (simple->parts && simple->part < simple->parts->count &&
		simple->parts->cuts_ns[simple->part] <= to_ns && !result) {
		result = idle_simple_queues_pass(simple, simple->parts->cuts_ns[simple->part], error);
		if (!result && queues_are_odd(simple->queues))
			return 0;
		if (!result && !end_part(simple))
			result = error_memory(error);
	}
	return result ? result : idle_simple_queues_pass(simple, to_ns, error);
}

/* ---- the whole ---- */

static int add_threads(struct idle_simple_queues *simple, const struct process *process, struct error *error)
{
	struct group *group = &simple->group;
	const struct idle_question *question = group->question;
	int result = sweep_new(&group->sweep, group->run, question->begin_ns, question->end_ns, error);

	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		uint32_t stream = process->streams[i];
		struct extent_source spans;

		if (run_stream(group->run, stream)->s.kind != STORE_STREAM_CPU)
			continue;
		spans = gpu_pending_thread_spans(simple->launches, group->line_count);
		group->lines[group->line_count++] = (struct group_line){
			.kind = LINE_THREAD, .stream = stream, .state = EXTENT_STATE_COUNT};
		result = sweep_add_stream_read(group->sweep, stream, &spans, error);
	}
	return result;
}

static int run_threads(struct idle_simple_queues *simple, const struct process *process, struct error *error)
{
	struct group *group = &simple->group;
	struct sweep_change change;
	struct passed none = {0, 0};
	int more, result = idle_simple_queues_next_gap(simple, 0, &none, error);

	if (!result && simple->gaps)
		result = idle_simple_queues_close_open(simple, process, error);
	while (!result && !queues_are_odd(simple->queues) &&
		(more = sweep_next(group->sweep, &change, error)) != 0) {
		struct group_line *line = &group->lines[change.line];

		if (more < 0)
			return more;
		if (change.time_ns != group->now_ns)
			result = pass_parts(simple, change.time_ns, error);
		if (!result && !group_line_leave(group, line))
			return error_memory(error);
		line->state = EXTENT_STATE_COUNT;
		if (change.piece)
			group_line_enter(group, line, change.piece);
	}
	if (result || queues_are_odd(simple->queues))
		return result;
	result = pass_parts(simple, group->question->end_ns, error);
	if (!result && simple->parts && !queues_are_odd(simple->queues) && !end_part(simple))
		result = error_memory(error);
	return result;
}

static int simple_run(struct idle_simple_queues *simple, const struct process *process, struct error *error)
{
	struct group *group = &simple->group;
	const struct idle_question *question = group->question;
	int result = gpu_pending_launches_new(&simple->launches, group->run, process, question->begin_ns,
		question->end_ns, simple->gaps, error);

	if (!result && simple->gaps)
		simple->first_queue = idle_simple_queues_first(simple, process);
	if (!result) {
		const struct queues_question of = {.begin_ns = question->begin_ns,
			.end_ns = question->end_ns,
			.by_kernel = question->busy == IDLE_BUSY_KERNEL,
			.wants_kinds = !question->is_brief,
			.wants_next = simple->gaps,
			.waits = question->waits,
			.launches = simple->launches,
			.cuts = simple->parts ? &simple->cuts : NULL};

		result = queues_new(&simple->queues, group->run, process, &of, error);
	}
	if (result || queues_are_odd(simple->queues))
		return result;
	result = add_threads(simple, process, error);
	return result ? result : run_threads(simple, process, error);
}

/* 1: done; 0: queues are not simple. */
static int simple_sweep(const struct group *start, const struct process *process,
	const struct group_parts *parts, struct queues_sums *sums, struct error *error)
{
	struct idle_simple_queues simple = {.group = *start, .parts = parts};
	struct idle idle = {0};
	struct exact_share_sums blamed = {.groups = start->question->groups},
				waited = {.groups = start->question->groups};
	struct owner owner = {0};
	bool is_done = false;
	int result = -ERROR_IO;

	if (parts)
		simple.cuts = (struct queues_cuts){parts->cuts_ns, parts->count, sums};
	simple.group.idle = &idle;
	simple.group.blamed = &blamed;
	simple.group.waited = &waited;
	simple.group.owners = &owner;
	simple.group.owner_count = 1;
	simple.group.now_ns = start->question->begin_ns;
	simple.group.lines = calloc((size_t)process->stream_count + 1, sizeof(*simple.group.lines));
	if (simple.group.lines)
		result = start->question->gaps ? gaps_fork(&simple.gaps, start->question->gaps, error) : 0;
	else
		error_memory(error);
	if (!result)
		result = simple_run(&simple, process, error);
	if (!result && !queues_are_odd(simple.queues)) {
		is_done = simple.parts || (exact_share_sums_join(start->blamed, &blamed) &&
						  exact_share_sums_join(start->waited, &waited));
		if (is_done && simple.gaps)
			is_done = gaps_join(start->question->gaps, simple.gaps);
		result = is_done ? 0 : error_memory(error);
	}
	if (!result && is_done && !simple.parts)
		sum_up(start->idle, &idle, queues_sums(simple.queues), start->question->busy);
	gaps_free(simple.gaps);
	queues_free(simple.queues);
	gpu_pending_launches_free(simple.launches);
	sweep_free(simple.group.sweep);
	free(simple.group.lines);
	exact_share_sums_fini(&blamed);
	exact_share_sums_fini(&waited);
	return result ? result : is_done;
}

int group_sweep_queues(struct group *start, const struct process *process, struct error *error)
{
	int result = simple_sweep(start, process, NULL, NULL, error);

	start->idle->groups += result > 0;
	return result;
}

int group_sweep_parts(const struct group *start, const struct process *process,
	const struct group_parts *parts, struct error *error)
{
	struct queues_sums *sums = calloc(parts->count + 1u, sizeof(*sums));
	int result;

	if (!sums)
		return error_memory(error);
	result = simple_sweep(start, process, parts, sums, error);
	free(sums);
	return result;
}
