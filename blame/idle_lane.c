/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_lane.c - see idle_lane.h: time passes from one change of the threads to the next. Gaps that are whole
 * in between and too small for a list are summed as columns; a gap that a change cuts is passed in parts.
 */
#include "blame/idle_lane.h"

#include "store/wide.h"

/* ---- the list of gaps ---- */

uint32_t lane_first_queue(const struct lane *lane, const struct process *process)
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
int lane_close_open(struct lane *lane, const struct process *process, struct error *error)
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

static size_t count_until(const uint64_t *ends_ns, size_t count, uint64_t to_ns)
{
	size_t i = 0;

	while (i < count && ends_ns[i] <= to_ns)
		i++;
	return i;
}

/* So many gaps as a whole. */
static void sum_gaps(const struct queues_columns *gaps, size_t count, struct passed *passed)
{
	uint64_t free_ns = 0, all_ns = 0;

	for (size_t row = 0; row < count; row++) {
		uint64_t begin_ns = gaps->begin_ns[row], end_ns = gaps->end_ns[row];
		uint64_t queued_ns = gaps->queued_ns[row];

		queued_ns = queued_ns > begin_ns ? queued_ns : begin_ns;
		queued_ns = queued_ns < end_ns ? queued_ns : end_ns;
		free_ns += queued_ns - begin_ns;
		all_ns += end_ns - begin_ns;
	}
	passed->free_ns += free_ns;
	passed->queued_ns += all_ns - free_ns;
}

#ifdef STORE_HAS_WIDE
STORE_WIDE static void sum_gaps_wide(const struct queues_columns *gaps, size_t count, struct passed *passed)
{
	sum_gaps(gaps, count, passed);
}
#endif

static void sum_gaps_best(const struct queues_columns *gaps, size_t count, struct passed *passed)
{
#ifdef STORE_HAS_WIDE
	if (store_is_wide()) {
		sum_gaps_wide(gaps, count, passed);
		return;
	}
#endif
	sum_gaps(gaps, count, passed);
}

/* Gaps that end till then. */
static void pass_ready(struct lane *lane, uint64_t to_ns, struct passed *passed)
{
	struct queues_columns gaps;
	size_t count = queues_ready(lane->queues, &gaps);

	count = lane->gaps ? count_ready(lane, &gaps, count, to_ns) : count_until(gaps.end_ns, count, to_ns);
	if (!count)
		return;
	sum_gaps_best(&gaps, count, passed);
	queues_pass(lane->queues, count);
}

/* Time has passed up to there. */
int lane_next_gap(struct lane *lane, uint64_t to_ns, struct passed *passed, struct error *error)
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
int lane_pass(struct lane *lane, uint64_t to_ns, struct error *error)
{
	struct group *group = &lane->group;
	uint64_t now_ns = group->now_ns;
	struct passed passed = {0, 0};
	bool is_counted = true;

	group->now_ns = to_ns;
	while (lane->has_gap && lane->gap.begin_ns < to_ns) {
		uint64_t begin_ns = lane->gap.begin_ns > now_ns ? lane->gap.begin_ns : now_ns;
		uint64_t end_ns = lane->gap.end_ns < to_ns ? lane->gap.end_ns : to_ns;
		int result;

		if (!pass_gap(lane, begin_ns, end_ns, &passed))
			return error_memory(error);
		if (lane->gap.end_ns > to_ns)
			break;
		result = lane_next_gap(lane, to_ns, &passed, error);
		if (result)
			return result;
	}
	if (passed.free_ns) {
		group_set_working(group, group->owners, false);
		is_counted = group_pass_idle(group, passed.free_ns);
	}
	if (passed.queued_ns && is_counted) {
		group_set_working(group, group->owners, true);
		is_counted = group_pass_idle(group, passed.queued_ns);
	}
	return is_counted ? 0 : error_memory(error);
}
