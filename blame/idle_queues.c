/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_queues.c - the sweep over a process's idle GPUs where its queues are simple: between two changes of
 * its threads nobody's role changes, so that all gaps in between count together, in one part while the
 * process has no work queued and one while it has.
 *
 *   threads   |=====a======|~~~~sync~~~~~|===b===|
 *   gaps        ^^  ^    ^      ^^    ^     ^^
 *   queued                      ''             '
 */
#include <stdlib.h>

#include "blame/gaps.h"
#include "blame/idle_group.h"
#include "blame/queues.h"

struct lane {
	struct group group;
	struct queued_launches *launches;
	struct queues *queues;
	struct queues_gap gap;
	bool has_gap;
	struct gaps *gaps;		 /* NULL: not wanted */
	bool is_counted;		 /* the gap at hand: too small for more */
	const struct group_parts *parts; /* NULL: the window as a whole */
	struct queues_cuts cuts;
	uint32_t part; /* under way */
	uint32_t first_queue;
};

/* ---- the list of gaps ---- */

static uint32_t first_queue(const struct lane *lane, const struct process *process)
{
	for (uint32_t i = 0; i < process->stream_count; i++)
		if (run_stream(lane->group.run, process->streams[i])->s.kind == STORE_STREAM_GPU)
			return process->streams[i];
	return 0;
}

/* The gap that was given before is over, unless this one goes on with it. */
static bool close_before(struct lane *lane, const struct queues_gap *before)
{
	const struct idle_question *question = lane->group.question;

	if (lane->is_counted || (lane->has_gap && lane->gap.begin_ns == before->end_ns))
		return true;
	if (before->end_ns < question->end_ns)
		return gaps_close_at(lane->gaps, before->stream, before->context);
	return lane->group.is_cut || gaps_close_at(lane->gaps, lane->first_queue, 0);
}

/* One that does not touch the window's ends and is too small for the list. */
static bool is_small(const struct lane *lane)
{
	const struct idle_question *question = lane->group.question;
	const struct queues_gap *gap = &lane->gap;

	return lane->has_gap && gap->is_whole && gap->is_alive && gap->begin_ns > question->begin_ns &&
	       gap->end_ns < question->end_ns && gap->end_ns - gap->begin_ns < gaps_least_ns(lane->gaps);
}

/* A stretch in which no thread changes, in two parts as the process has no work queued or has. */
static bool pass_moments(struct lane *lane, uint64_t begin_ns, uint64_t queued_ns, uint64_t end_ns)
{
	struct group *group = &lane->group;

	if (queued_ns > begin_ns) {
		group_set_working(group, group->owners, false);
		if (!gaps_pass(lane->gaps, group, begin_ns, queued_ns))
			return false;
	}
	group_set_working(group, group->owners, true);
	return queued_ns >= end_ns || gaps_pass(lane->gaps, group, queued_ns, end_ns);
}

/* A gap that was open when the window began, and does not go on in it. */
static int close_open(struct lane *lane, const struct process *process, struct error *error)
{
	uint64_t begin_ns = lane->group.question->begin_ns;
	uint32_t stream = lane->first_queue, context = 0;

	if (!gaps_are_open(lane->gaps) || (lane->has_gap && lane->gap.begin_ns == begin_ns))
		return 0;
	for (uint32_t i = 0; i < process->stream_count; i++) {
		struct extent extent;
		int result;

		if (run_stream(lane->group.run, process->streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		result = extent_at(lane->group.run, process->streams[i], begin_ns, &extent, error);
		if (result)
			return result;
		if (!extent_state_is_busy(extent.state))
			continue;
		stream = process->streams[i];
		context = extent.context;
		break;
	}
	return gaps_close_at(lane->gaps, stream, context) ? 0 : error_memory(error);
}

/* ---- gaps and threads ---- */

/* Time of gaps that passed. */
struct passed {
	uint64_t free_ns, queued_ns;
};

/* How many end till then and are too small for the list. */
static size_t count_ready(struct lane *lane, const struct queues_columns *gaps, size_t count, uint64_t to_ns)
{
	const struct idle_question *question = lane->group.question;
	uint64_t least_ns = gaps_least_ns(lane->gaps);
	size_t i;

	to_ns = to_ns < question->end_ns ? to_ns : to_ns - 1;
	for (i = 0; i < count; i++) {
		uint64_t begin_ns = gaps->begin_ns[i], end_ns = gaps->end_ns[i];

		if (end_ns > to_ns || begin_ns <= question->begin_ns || end_ns - begin_ns >= least_ns)
			break;
		gaps_count(lane->gaps, end_ns - begin_ns);
	}
	return i;
}

/* Gaps that end till then. */
static void pass_ready(struct lane *lane, uint64_t to_ns, struct passed *passed)
{
	struct queues_columns gaps;
	size_t count = queues_ready(lane->queues, &gaps), i = 0;

	if (lane->gaps)
		i = count_ready(lane, &gaps, count, to_ns);
	else
		while (i < count && gaps.end_ns[i] <= to_ns)
			i++;
	for (size_t row = 0; row < i; row++) {
		uint64_t begin_ns = gaps.begin_ns[row], end_ns = gaps.end_ns[row];
		uint64_t queued_ns = gaps.queued_ns[row];

		queued_ns = queued_ns > begin_ns ? queued_ns : begin_ns;
		queued_ns = queued_ns < end_ns ? queued_ns : end_ns;
		passed->free_ns += queued_ns - begin_ns;
		passed->queued_ns += end_ns - queued_ns;
	}
	queues_pass(lane->queues, i);
}

/* Time has passed up to there. */
static int next_gap(struct lane *lane, uint64_t to_ns, struct passed *passed, struct error *error)
{
	const struct queues_gap before = lane->gap;
	bool had_gap = lane->has_gap;
	int more;

	pass_ready(lane, to_ns, passed);
	more = queues_next(lane->queues, &lane->gap, error);
	lane->has_gap = more > 0;
	if (more < 0 || !lane->gaps)
		return more < 0 ? more : 0;
	if (had_gap && !close_before(lane, &before))
		return error_memory(error);
	lane->is_counted = is_small(lane);
	if (lane->is_counted)
		gaps_count(lane->gaps, lane->gap.end_ns - lane->gap.begin_ns);
	return 0;
}

/* False when memory is out. */
static bool pass_gap(struct lane *lane, uint64_t begin_ns, uint64_t end_ns, struct passed *passed)
{
	struct group *group = &lane->group;
	const struct queues_gap *gap = &lane->gap;
	uint64_t queued_ns = gap->queued_ns > begin_ns ? gap->queued_ns : begin_ns;

	if (!gap->is_alive && !group->alive) {
		group->idle->unknown_ns += end_ns - begin_ns;
		return !lane->gaps || gaps_close_at(lane->gaps, lane->first_queue, 0);
	}
	queued_ns = queued_ns < end_ns ? queued_ns : end_ns;
	passed->free_ns += queued_ns - begin_ns;
	passed->queued_ns += end_ns - queued_ns;
	return !lane->gaps || lane->is_counted || pass_moments(lane, begin_ns, queued_ns, end_ns);
}

/* Counts the gaps up to there. */
static int pass(struct lane *lane, uint64_t to_ns, struct error *error)
{
	struct group *group = &lane->group;
	uint64_t now_ns = group->now_ns;
	struct passed passed = {0, 0};
	bool is_counted;

	group->now_ns = to_ns;
	while (lane->has_gap && lane->gap.begin_ns < to_ns) {
		uint64_t begin_ns = lane->gap.begin_ns > now_ns ? lane->gap.begin_ns : now_ns;
		uint64_t end_ns = lane->gap.end_ns < to_ns ? lane->gap.end_ns : to_ns;
		int result;

		if (!pass_gap(lane, begin_ns, end_ns, &passed))
			return error_memory(error);
		if (lane->gap.end_ns > to_ns)
			break;
		result = next_gap(lane, to_ns, &passed, error);
		if (result)
			return result;
	}
	group_set_working(group, group->owners, false);
	is_counted = !passed.free_ns || group_pass_idle(group, passed.free_ns);
	group_set_working(group, group->owners, true);
	is_counted = is_counted && (!passed.queued_ns || group_pass_idle(group, passed.queued_ns));
	return is_counted ? 0 : error_memory(error);
}

/* ---- parts ---- */

/* What threads are in is charged up to now; they stay in it. */
static bool settle(struct group *group)
{
	for (uint32_t i = 0; i < group->line_count; i++) {
		struct line *line = &group->lines[i];
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
static bool end_part(struct lane *lane)
{
	struct group *group = &lane->group;
	struct idle whole = {0};
	bool is_taken = settle(group);

	sum_up(&whole, group->idle, &lane->cuts.sums[lane->part], group->question->busy);
	lane->part++;
	is_taken = is_taken && lane->parts->take(lane->parts->own, &whole, group->blamed, group->waited);
	*group->idle = (struct idle){0};
	share_sums_clear(group->blamed);
	share_sums_clear(group->waited);
	return is_taken;
}

/* Time passes up to there, and every part that ends till then is given. */
static int pass_parts(struct lane *lane, uint64_t to_ns, struct error *error)
{
	int result = 0;

	while (lane->parts && lane->part < lane->parts->count && lane->parts->cuts_ns[lane->part] <= to_ns &&
		!result) {
		result = pass(lane, lane->parts->cuts_ns[lane->part], error);
		if (!result && queues_are_odd(lane->queues))
			return 0;
		if (!result && !end_part(lane))
			result = error_memory(error);
	}
	return result ? result : pass(lane, to_ns, error);
}

/* ---- the whole ---- */

static int add_threads(struct lane *lane, const struct process *process, struct error *error)
{
	struct group *group = &lane->group;
	const struct idle_question *question = group->question;
	int result = sweep_new(&group->sweep, group->run, question->begin_ns, question->end_ns, error);

	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		uint32_t stream = process->streams[i];
		const struct batch *spans;
		uint64_t since_ns;

		if (run_stream(group->run, stream)->s.kind != STORE_STREAM_CPU)
			continue;
		spans = queued_thread_spans(lane->launches, group->line_count, &since_ns);
		group->lines[group->line_count++] =
			(struct line){.kind = LINE_THREAD, .stream = stream, .state = EXTENT_STATE_COUNT};
		result = sweep_add_stream_read(group->sweep, stream, spans, since_ns, error);
	}
	return result;
}

static int run_threads(struct lane *lane, const struct process *process, struct error *error)
{
	struct group *group = &lane->group;
	struct sweep_change change;
	struct passed none = {0, 0};
	int more, result = next_gap(lane, 0, &none, error);

	if (!result && lane->gaps)
		result = close_open(lane, process, error);
	while (!result && !queues_are_odd(lane->queues) &&
		(more = sweep_next(group->sweep, &change, error)) != 0) {
		struct line *line = &group->lines[change.line];

		if (more < 0)
			return more;
		if (change.time_ns != group->now_ns)
			result = pass_parts(lane, change.time_ns, error);
		if (!result && !group_line_leave(group, line))
			return error_memory(error);
		line->state = EXTENT_STATE_COUNT;
		if (change.piece)
			group_line_enter(group, line, change.piece);
	}
	if (result || queues_are_odd(lane->queues))
		return result;
	result = pass_parts(lane, group->question->end_ns, error);
	if (!result && lane->parts && !queues_are_odd(lane->queues) && !end_part(lane))
		result = error_memory(error);
	return result;
}

static bool add_sums(struct share_sums *to, const struct share_sums *from)
{
	for (uint32_t context = 0; context < from->count; context++)
		if (from->amount[context] && !share_sums_add(to, context, from->amount[context]))
			return false;
	return true;
}

static int lane_run(struct lane *lane, const struct process *process, struct error *error)
{
	struct group *group = &lane->group;
	const struct idle_question *question = group->question;
	int result = queued_launches_new(
		&lane->launches, group->run, process, question->begin_ns, question->end_ns, error);

	if (!result && lane->gaps)
		lane->first_queue = first_queue(lane, process);
	if (!result) {
		const struct queues_question of = {.begin_ns = question->begin_ns,
			.end_ns = question->end_ns,
			.by_kernel = question->busy == IDLE_BUSY_KERNEL,
			.wants_kinds = !question->is_brief,
			.wants_next = lane->gaps,
			.waits = question->waits,
			.launches = lane->gaps || queued_is_wanted(lane->launches) ? lane->launches : NULL,
			.cuts = lane->parts ? &lane->cuts : NULL};

		result = queues_new(&lane->queues, group->run, process, &of, error);
	}
	if (result || queues_are_odd(lane->queues))
		return result;
	result = add_threads(lane, process, error);
	return result ? result : run_threads(lane, process, error);
}

/* 1: done; 0: queues are not simple. */
static int lane_sweep(const struct group *start, const struct process *process,
	const struct group_parts *parts, struct queues_sums *sums, struct error *error)
{
	struct lane lane = {.group = *start, .parts = parts};
	struct idle idle = {0};
	struct share_sums blamed = {0}, waited = {0};
	struct owner owner = {0};
	bool is_done = false;
	int result = -ERROR_IO;

	if (parts)
		lane.cuts = (struct queues_cuts){parts->cuts_ns, parts->count, sums};
	lane.group.idle = &idle;
	lane.group.blamed = &blamed;
	lane.group.waited = &waited;
	lane.group.owners = &owner;
	lane.group.owner_count = 1;
	lane.group.now_ns = start->question->begin_ns;
	lane.group.lines = calloc((size_t)process->stream_count + 1, sizeof(*lane.group.lines));
	if (lane.group.lines)
		result = start->question->gaps ? gaps_fork(&lane.gaps, start->question->gaps, error) : 0;
	else
		error_memory(error);
	if (!result)
		result = lane_run(&lane, process, error);
	if (!result && !queues_are_odd(lane.queues)) {
		is_done =
			lane.parts || (add_sums(start->blamed, &blamed) && add_sums(start->waited, &waited));
		if (is_done && lane.gaps)
			is_done = gaps_join(start->question->gaps, lane.gaps);
		result = is_done ? 0 : error_memory(error);
	}
	if (!result && is_done && !lane.parts)
		sum_up(start->idle, &idle, queues_sums(lane.queues), start->question->busy);
	gaps_free(lane.gaps);
	queues_free(lane.queues);
	queued_launches_free(lane.launches);
	sweep_free(lane.group.sweep);
	free(lane.group.lines);
	share_sums_fini(&blamed);
	share_sums_fini(&waited);
	return result ? result : is_done;
}

int group_sweep_queues(struct group *start, const struct process *process, struct error *error)
{
	int result = lane_sweep(start, process, NULL, NULL, error);

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
	result = lane_sweep(start, process, parts, sums, error);
	free(sums);
	return result;
}
