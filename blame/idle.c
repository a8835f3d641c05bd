/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.c - see idle.h. An idle interval is never handed to its k threads one by one: two clocks run instead,
 * `active` (by dt / k while k threads work) and `waiting` (by dt / w while nobody works and w wait), and a
 * thread's piece is charged what its clock gained from its begin to its end. So an interval costs O(1),
 * whatever k is.
 */
#include "blame/idle.h"

#include <stdlib.h>
#include <string.h>

#include "blame/idle_group.h"
#include "blame/queued.h"

/* ---- time passes ---- */

/* The samples of this moment, at which GPUs idle. */
static bool pass_ticks(struct group *group)
{
	for (uint32_t i = 0; i < group->tick_count; i++) {
		const struct line *line = &group->lines[group->ticks[i]];

		if (line->role == ROLE_ACTIVE && !share_sums_add(group->sampled, line->context,
							 share_of(line->period_ns, group->active)))
			return false;
	}
	return true;
}

static bool pass_idle(struct group *group, uint64_t begin_ns, uint64_t dt_ns)
{
	struct idle *idle = group->idle;
	bool is_kept =
		!group->question->gaps || gaps_pass(group->question->gaps, group, begin_ns, begin_ns + dt_ns);

	idle->idle_ns += dt_ns;
	if (group->active) {
		idle->blamed_ns += dt_ns;
		group->clocks.active += share_of(dt_ns, group->active);
		return is_kept && pass_ticks(group);
	}
	idle->all_idle_ns += dt_ns;
	if (group->waiting)
		group->clocks.waiting += share_of(dt_ns, group->waiting);
	else
		idle->unexplained_ns += dt_ns;
	return is_kept;
}

static bool pass_busy(struct group *group, uint64_t dt_ns)
{
	group->idle->busy_ns += dt_ns;
	return !group->question->gaps || gaps_close(group->question->gaps, group);
}

static bool pass_unknown(struct group *group, uint64_t dt_ns)
{
	group->idle->unknown_ns += dt_ns;
	if (group->lost)
		group->idle->lost_ns += dt_ns;
	return !group->question->gaps || gaps_close(group->question->gaps, group);
}

/* False when memory is out. */
static bool pass(struct group *group, uint64_t to_ns)
{
	struct idle *idle = group->idle;
	uint64_t begin_ns = group->now_ns, dt_ns = to_ns - begin_ns;
	bool is_kernel = group->kernels || group->comms;

	group->now_ns = to_ns;
	if (group->kernels)
		idle->kernel_ns += dt_ns;
	else if (group->comms)
		idle->comm_ns += dt_ns;
	else if (group->copies)
		idle->copy_ns += dt_ns;
	if (is_kernel || (group->copies && group->question->busy == IDLE_BUSY_ANY))
		return pass_busy(group, dt_ns);
	if (group->lost || group->unmonitored || !group->alive)
		return pass_unknown(group, dt_ns);
	return pass_idle(group, begin_ns, dt_ns);
}

/* ---- threads ---- */

static void owner_settle(struct group *group, struct owner *owner)
{
	if (owner->is_working)
		owner->gained.waiting += group->clocks.waiting - owner->settled.waiting;
	else
		owner->gained.active += group->clocks.active - owner->settled.active;
	owner->settled = group->clocks;
}

static void owner_count_sync(struct group *group, const struct owner *owner, uint32_t threads)
{
	if (owner->is_working)
		group->waiting += threads;
	else
		group->active += threads;
}

static void owner_set_working(struct group *group, struct owner *owner, bool is_working)
{
	owner_settle(group, owner);
	owner_count_sync(group, owner, 0u - owner->sync_count);
	owner->is_working = is_working;
	owner_count_sync(group, owner, owner->sync_count);
}

static enum role role_of(const struct group *group, const struct extent *piece)
{
	switch (piece->state) {
	case EXTENT_SYNC:
		return waits_context(group->question->waits, piece->context) ? ROLE_WAITING : ROLE_SYNC;
	case EXTENT_BLOCKED:
	case EXTENT_RUNNABLE:
		return piece->context ? ROLE_WAITING : ROLE_NONE;
	default:
		if (!extent_state_is_busy(piece->state))
			return ROLE_NONE;
		return waits_context(group->question->waits, piece->context) ? ROLE_WAITING : ROLE_ACTIVE;
	}
}

static void thread_enter(struct group *group, struct line *line, const struct extent *piece)
{
	struct owner *owner = &group->owners[line->owner];

	line->role = role_of(group, piece);
	line->entered = group->clocks;
	group->active += line->role == ROLE_ACTIVE;
	group->waiting += line->role == ROLE_WAITING;
	if (line->role != ROLE_SYNC)
		return;
	owner_settle(group, owner);
	owner->sync_count++;
	owner_count_sync(group, owner, 1);
	line->entered = owner->gained;
}

static bool thread_leave(struct group *group, struct line *line)
{
	struct owner *owner = &group->owners[line->owner];
	struct clocks now = group->clocks;
	share_fixed active, waiting;

	if (line->role == ROLE_NONE)
		return true;
	group->active -= line->role == ROLE_ACTIVE;
	group->waiting -= line->role == ROLE_WAITING;
	if (line->role == ROLE_SYNC) {
		owner_settle(group, owner);
		owner->sync_count--;
		owner_count_sync(group, owner, 0u - 1u);
		now = owner->gained;
	}
	active = line->role == ROLE_WAITING ? 0 : now.active - line->entered.active;
	waiting = line->role == ROLE_ACTIVE ? 0 : now.waiting - line->entered.waiting;
	return (!active || share_sums_add(group->blamed, line->context, active)) &&
	       (!waiting || share_sums_add(group->waited, line->context, waiting));
}

/* ---- lines ---- */

static uint32_t *queue_counter(struct group *group, const struct line *line)
{
	if (line->state == EXTENT_KERNEL)
		return line->is_comm ? &group->comms : &group->kernels;
	if (extent_state_is_busy(line->state))
		return &group->copies;
	if (line->state == EXTENT_LOST)
		return &group->lost;
	return line->state == EXTENT_UNMONITORED ? &group->unmonitored : NULL;
}

/* What the line was counted as counts no longer. */
static bool line_leave(struct group *group, struct line *line)
{
	uint32_t *counter;

	if (line->state == EXTENT_STATE_COUNT || line->kind == LINE_OWN_WORK)
		return true;
	group->alive -= line->state != EXTENT_ABSENT && line->state != EXTENT_UNMONITORED;
	if (line->kind == LINE_THREAD)
		return thread_leave(group, line);
	counter = queue_counter(group, line);
	if (counter)
		--*counter;
	return true;
}

static void line_enter(struct group *group, struct line *line, const struct extent *piece)
{
	uint32_t *counter;

	line->state = piece->state;
	line->context = piece->context;
	if (line->kind == LINE_OWN_WORK) {
		owner_set_working(group, &group->owners[line->owner], piece->state == EXTENT_KERNEL);
		return;
	}
	group->alive += line->state != EXTENT_ABSENT && line->state != EXTENT_UNMONITORED;
	if (line->kind == LINE_THREAD) {
		thread_enter(group, line, piece);
		return;
	}
	line->is_comm =
		piece->state == EXTENT_KERNEL && waits_context(group->question->waits, piece->context);
	counter = queue_counter(group, line);
	if (counter)
		++*counter;
}

static int group_run(struct group *group, struct error *error)
{
	struct sweep_change change;
	int more;

	while ((more = sweep_next(group->sweep, &change, error)) > 0) {
		struct line *line = &group->lines[change.line];

		if (change.time_ns != group->now_ns) {
			if (!pass(group, change.time_ns))
				return error_memory(error);
			group->tick_count = 0;
		}
		if (!line_leave(group, line))
			return error_memory(error);
		line->state = EXTENT_STATE_COUNT;
		if (change.piece)
			line_enter(group, line, change.piece);
		if (change.piece && change.piece->is_record_begin && line->period_ns)
			group->ticks[group->tick_count++] = change.line;
	}
	if (!more && group->question->gaps && !gaps_close(group->question->gaps, group))
		return error_memory(error);
	return more;
}

/* ---- groups ---- */

/* What a sample of the thread stands for; 0: samples do not count. */
static uint64_t period_of(const struct idle_question *question, const struct run_stream *stream)
{
	return question->is_sampled && stream->s.kind == STORE_STREAM_CPU ? stream->period_ns : 0;
}

static int owner_add_lines(
	struct group *group, const struct process *process, uint32_t number, struct error *error)
{
	const struct idle_question *question = group->question;
	struct owner *owner = &group->owners[number];
	size_t span_count;
	int result = queued_find(&owner->spans, &span_count, group->run, process, question->begin_ns,
		question->end_ns, question->gaps != NULL, error);

	if (!result && span_count) {
		group->lines[group->line_count++] =
			(struct line){.kind = LINE_OWN_WORK, .owner = number, .state = EXTENT_STATE_COUNT};
		result = sweep_add_spans(group->sweep, owner->spans, span_count, error);
	}
	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		const struct run_stream *stream = run_stream(group->run, process->streams[i]);

		group->lines[group->line_count++] =
			(struct line){.kind = stream->s.kind == STORE_STREAM_GPU ? LINE_QUEUE : LINE_THREAD,
				.owner = number,
				.stream = process->streams[i],
				.period_ns = period_of(question, stream),
				.state = EXTENT_STATE_COUNT};
		result = sweep_add_stream(group->sweep, process->streams[i], error);
	}
	return result;
}

/* One sweep over these processes as one group. */
static int group_sweep(
	struct group *group, const struct process *processes, uint32_t count, struct error *error)
{
	size_t lines = 0;
	int result = sweep_new(
		&group->sweep, group->run, group->question->begin_ns, group->question->end_ns, error);

	for (uint32_t p = 0; p < count; p++)
		lines += processes[p].stream_count + 1;
	group->lines = calloc(lines, sizeof(*group->lines));
	group->ticks = calloc(lines, sizeof(*group->ticks));
	group->owners = calloc(count, sizeof(*group->owners));
	if (!group->lines || !group->owners || !group->ticks) {
		error_memory(error);
		result = -ERROR_IO;
	}
	group->now_ns = group->question->begin_ns;
	group->idle->groups++;
	for (group->owner_count = 0; group->owner_count < count && !result; group->owner_count++)
		result = owner_add_lines(group, &processes[group->owner_count], group->owner_count, error);
	if (!result)
		result = group_run(group, error);
	sweep_free(group->sweep);
	for (uint32_t p = 0; p < group->owner_count; p++)
		free(group->owners[p].spans);
	free(group->owners);
	free(group->ticks);
	free(group->lines);
	return result;
}

static int groups_sweep(struct group *start, struct arena *arena, struct error *error)
{
	const struct idle_question *question = start->question;
	struct process *processes;
	uint32_t count, gpu_count = 0;
	int result = process_list(
		&processes, &count, start->run, question->streams, question->stream_count, arena, error);

	for (uint32_t p = 0; p < count && !result; p++) {
		struct group group = *start;

		gpu_count += processes[p].gpu_count;
		if (question->group == IDLE_GROUP_PROCESS && processes[p].gpu_count)
			result = group_sweep(&group, &processes[p], 1, error);
	}
	if (!result && gpu_count && question->group == IDLE_GROUP_ALL) {
		struct group group = *start;

		result = group_sweep(&group, processes, count, error);
	}
	return result;
}

static int check_known(const struct idle *idle, struct error *error)
{
	if (!idle->groups)
		return error_set(error, ERROR_EMPTY,
			"no GPU queue is among the chosen streams; hpct-info --streams lists them");
	if (!(idle->busy_ns + idle->idle_ns))
		return error_set(error, ERROR_EMPTY, "no GPU was monitored in this window");
	return 0;
}

int idle_sweep(struct idle *idle, struct run *run, const struct idle_question *question, struct arena *arena,
	struct error *error)
{
	struct share_sums blamed = {0}, waited = {0}, sampled = {0};
	struct group start = {.run = run,
		.question = question,
		.idle = idle,
		.blamed = &blamed,
		.waited = &waited,
		.sampled = &sampled};
	int result;

	*idle = (struct idle){0};
	result = groups_sweep(&start, arena, error);
	idle->window_ns = idle->groups * (question->end_ns - question->begin_ns);
	if (!result)
		result = check_known(idle, error);
	if (!result)
		result = share_sums_list(&blamed, &idle->blamed, &idle->blamed_count, arena, error);
	if (!result)
		result = share_sums_list(&waited, &idle->waited, &idle->waited_count, arena, error);
	if (!result)
		result = share_sums_list(&sampled, &idle->sampled, &idle->sampled_count, arena, error);
	share_sums_fini(&blamed);
	share_sums_fini(&sampled);
	share_sums_fini(&waited);
	return result;
}
