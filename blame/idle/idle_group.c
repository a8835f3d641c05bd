/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_group.c - see idle_group.h. An idle interval is not given to its k threads one by one: two clocks run
 * instead, `active` (by dt / k while k threads work) and `waiting` (by dt / w while none works and w wait),
 * and a thread's piece is charged its clock's increase from its begin to its end. So an interval costs O(1),
 * whatever k is.
 */
#include "blame/idle/idle_group.h"

#include "blame/base/related.h"

/* ---- time passes ---- */

/* The samples of this moment, at which GPUs idle. */
static bool pass_ticks(struct group *group)
{
	for (uint32_t i = 0; i < group->tick_count; i++) {
		const struct group_line *line = &group->lines[group->ticks[i]];

		if (line->role == ROLE_ACTIVE &&
			related_is_reported(group->question->related, line->stream) &&
			!exact_share_sums_add_of(group->sampled, line->stream, line->context,
				exact_share_of(line->period_ns, group->active)))
			return false;
	}
	return true;
}

bool group_pass_idle(struct group *group, uint64_t dt_ns)
{
	struct idle *idle = group->idle;

	idle->idle_ns += dt_ns;
	if (group->active) {
		idle->blamed_ns += dt_ns;
		group->clocks.active += exact_share_of(dt_ns, group->active);
		return pass_ticks(group);
	}
	idle->all_idle_ns += dt_ns;
	idle->no_core_ns += group->runnable ? dt_ns : 0;
	if (group->waiting)
		group->clocks.waiting += exact_share_of(dt_ns, group->waiting);
	else
		idle->unexplained_ns += dt_ns;
	return true;
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

bool group_pass(struct group *group, uint64_t to_ns)
{
	struct idle *idle = group->idle;
	uint64_t begin_ns = group->now_ns, dt_ns = to_ns - begin_ns;
	const uint32_t *working = group->working;
	bool is_kernel = working[WORK_KERNEL] || working[WORK_COMM];

	group->now_ns = to_ns;
	if (working[WORK_KERNEL])
		idle->kernel_ns += dt_ns;
	else if (working[WORK_COMM])
		idle->comm_ns += dt_ns;
	else if (working[WORK_COPY])
		idle->copy_ns += dt_ns;
	if (is_kernel || (working[WORK_COPY] && group->question->busy == IDLE_BUSY_ANY))
		return pass_busy(group, dt_ns);
	if (group->lost || group->unmonitored || !group->alive)
		return pass_unknown(group, dt_ns);
	if (group->question->gaps && !gaps_pass(group->question->gaps, group, begin_ns, to_ns))
		return false;
	return group_pass_idle(group, dt_ns);
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

void group_set_working(struct group *group, struct owner *owner, bool is_working)
{
	if (owner->is_working == is_working)
		return;
	/* A clock's increase before a thread enters is not charged. */
	if (!owner->sync_count) {
		owner->is_working = is_working;
		return;
	}
	owner_settle(group, owner);
	owner_count_sync(group, owner, 0u - owner->sync_count);
	owner->is_working = is_working;
	owner_count_sync(group, owner, owner->sync_count);
}

static enum role role_of(const struct group *group, const struct extent *piece)
{
	switch (piece->state) {
	case EXTENT_SYNC:
		return wait_functions_match(group->question->waits, piece->context) ? ROLE_WAITING
										    : ROLE_SYNC;
	case EXTENT_BLOCKED:
	case EXTENT_RUNNABLE:
		return piece->context ? ROLE_WAITING : ROLE_NONE;
	default:
		if (!extent_state_is_busy(piece->state))
			return ROLE_NONE;
		return wait_functions_match(group->question->waits, piece->context) ? ROLE_WAITING
										    : ROLE_ACTIVE;
	}
}

static void thread_enter(struct group *group, struct group_line *line, const struct extent *piece)
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

static bool thread_leave(struct group *group, struct group_line *line)
{
	struct owner *owner = &group->owners[line->owner];
	struct clocks now = group->clocks;
	exact_share_fixed active, waiting;

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
	if (!related_is_reported(group->question->related, line->stream))
		return true;
	active = line->role == ROLE_WAITING ? 0 : now.active - line->entered.active;
	waiting = line->role == ROLE_ACTIVE ? 0 : now.waiting - line->entered.waiting;
	return (!active || exact_share_sums_add_of(group->blamed, line->stream, line->context, active)) &&
	       (!waiting || exact_share_sums_add_of(group->waited, line->stream, line->context, waiting));
}

/* ---- timelines ---- */

static unsigned class_of(void *own, uint32_t op, uint32_t context)
{
	struct wait_functions *waits = own;

	if (op != STORE_OP_KERNEL && op != STORE_OP_GRAPH)
		return WORK_COPY;
	return wait_functions_match(waits, context) ? WORK_COMM : WORK_KERNEL;
}

void group_tell_classes(const struct group *group)
{
	sweep_tell_classes(group->sweep, &(struct extent_classes){class_of, group->question->waits});
}

/* A queue counts once for each class that runs on it. */
static void count_queue(struct group *group, const struct group_line *line, uint32_t by)
{
	group->lost += line->state == EXTENT_LOST ? by : 0;
	group->unmonitored += line->state == EXTENT_UNMONITORED ? by : 0;
	for (unsigned class = 0; class < WORK_CLASS_COUNT; class ++)
		group->working[class] += line->classes >> class & 1 ? by : 0;
}

bool group_line_leave(struct group *group, struct group_line *line)
{
	if (line->state == EXTENT_STATE_COUNT || line->kind == LINE_OWN_WORK)
		return true;
	group->alive -= line->state != EXTENT_ABSENT && line->state != EXTENT_UNMONITORED;
	if (line->kind == LINE_THREAD) {
		group->runnable -= line->state == EXTENT_RUNNABLE;
		return thread_leave(group, line);
	}
	count_queue(group, line, 0u - 1u);
	return true;
}

void group_line_enter(struct group *group, struct group_line *line, const struct extent *piece)
{
	line->state = piece->state;
	line->context = piece->context;
	line->classes = piece->classes;
	line->class_context = piece->class_context;
	if (line->kind == LINE_OWN_WORK) {
		group_set_working(group, &group->owners[line->owner], piece->state == EXTENT_KERNEL);
		return;
	}
	group->alive += line->state != EXTENT_ABSENT && line->state != EXTENT_UNMONITORED;
	if (line->kind == LINE_THREAD) {
		group->runnable += line->state == EXTENT_RUNNABLE;
		thread_enter(group, line, piece);
		return;
	}
	count_queue(group, line, 1);
}
