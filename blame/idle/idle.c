/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.c - see idle.h: sweeps each group and sums. If the queues of a group are simple (queues.h) it
 * combines their gaps with the threads' timelines; else it sweeps all timelines together.
 */
#include "blame/idle/idle.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/gpu_first_use.h"
#include "blame/base/related.h"
#include "blame/base/time_slices.h"
#include "blame/gpu/gpu_pending.h"
#include "blame/idle/idle_cache.h"
#include "blame/idle/idle_group.h"
#include "blame/idle/idle_shared.h"

static int group_run(struct group *group, struct error *error)
{
	struct sweep_change change;
	int more;

	while ((more = sweep_next(group->sweep, &change, error)) > 0) {
		struct group_line *line = &group->lines[change.line];

		if (change.time_ns != group->now_ns) {
			if (!group_pass(group, change.time_ns))
				return error_memory(error);
			group->tick_count = 0;
		}
		if (!group_line_leave(group, line))
			return error_memory(error);
		line->state = EXTENT_STATE_COUNT;
		if (change.piece)
			group_line_enter(group, line, change.piece);
		if (change.piece && change.piece->is_record_begin && line->period_ns)
			group->ticks[group->tick_count++] = change.line;
	}
	if (!more && group->question->gaps && !group->is_cut && !gaps_close(group->question->gaps, group))
		return error_memory(error);
	return more;
}

/* ---- groups ---- */

/* Work on it is what threads wait for, but nobody asks whether it idles. */
static bool is_hidden_queue(const struct group *group, uint32_t stream)
{
	return run_stream(group->run, stream)->s.kind == STORE_STREAM_GPU &&
	       !related_is_reported(group->question->related, stream);
}

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
	int result = gpu_pending_find(&owner->spans, &span_count, group->run, process, question->begin_ns,
		question->end_ns, question->gaps != NULL, NULL, error);

	if (!result && span_count) {
		group->lines[group->line_count++] = (struct group_line){
			.kind = LINE_OWN_WORK, .owner = number, .state = EXTENT_STATE_COUNT};
		result = sweep_add_spans(group->sweep, owner->spans, span_count, error);
	}
	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		const struct run_stream *stream = run_stream_read(group->run, process->streams[i]);

		if (is_hidden_queue(group, process->streams[i]))
			continue;
		group->lines[group->line_count++] = (struct group_line){
			.kind = stream->s.kind == STORE_STREAM_GPU ? LINE_QUEUE : LINE_THREAD,
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

	if (!result)
		group_tell_classes(group);
	for (uint32_t p = 0; p < count; p++)
		lines += processes[p].stream_count + 1;
	group->lines = calloc(lines + 1, sizeof(*group->lines));
	group->ticks = calloc(lines + 1, sizeof(*group->ticks));
	group->owners = calloc((size_t)count + 1, sizeof(*group->owners));
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

static bool has_hidden(const struct group *group, const struct process *process, bool or_thread)
{
	for (uint32_t i = 0; i < process->stream_count; i++)
		if (or_thread ? !related_is_reported(group->question->related, process->streams[i])
			      : is_hidden_queue(group, process->streams[i]))
			return true;
	return false;
}

/* Samples, and gaps with copies in them, need to see every line. */
static bool may_be_simple(const struct idle_question *question)
{
	return !question->is_sampled && (question->busy == IDLE_BUSY_ANY || !question->gaps);
}

/* ---- in blocks ---- */

static int slice_sweep(
	const struct group *start, const struct process *processes, uint32_t count, struct error *error)
{
	struct group group = *start;
	int result = count == 1 && may_be_simple(start->question) && !has_hidden(start, processes, false)
			     ? group_sweep_queues(&group, processes, error)
			     : 0;

	if (result)
		return result < 0 ? result : 0;
	group = *start;
	return group_sweep(&group, processes, count, error);
}

/* A sweep remembers launches and what is queued: of long windows, block by block, so that this is bounded. */
int group_sweep_used(
	const struct group *start, const struct process *processes, uint32_t count, struct error *error)
{
	struct idle_question question = *start->question;
	struct group group = *start;
	struct time_slices blocks =
		time_slices_of(start->run, processes, count, question.begin_ns, question.end_ns);
	uint32_t groups = start->idle->groups + 1;
	int result = 0;

	group.question = &question;
	while (!result && time_slices_next(&blocks)) {
		group.is_cut = !blocks.is_last;
		question.begin_ns = blocks.begin_ns;
		question.end_ns = blocks.end_ns;
		result = slice_sweep(&group, processes, count, error);
	}
	start->idle->groups = groups;
	return result;
}

/* By sums that were made before, where there are any. */
static int process_sweep(
	const struct group *group, const struct process *process, uint64_t since_ns, struct error *error)
{
	bool may_keep = !has_hidden(group, process, true) && !group->question->groups;
	int result = may_keep ? idle_cache_sweep(group, process, since_ns, error) : 0;

	if (result)
		return result < 0 ? result : 0;
	return group_sweep_used(group, process, 1, error);
}

/* Cuts the window to the time in which these processes use GPUs, if any; the rest counts as unused or ended.
 */
static bool cut_window(
	struct idle_question *question, struct idle *idle, uint64_t since_ns, uint64_t until_ns)
{
	uint64_t begin_ns = since_ns > question->begin_ns ? since_ns : question->begin_ns;
	uint64_t end_ns = until_ns < question->end_ns ? until_ns : question->end_ns;
	bool is_whole = begin_ns == question->begin_ns && end_ns == question->end_ns;

	begin_ns = begin_ns < question->end_ns ? begin_ns : question->end_ns;
	end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	idle->unused_ns += begin_ns - question->begin_ns;
	idle->ended_ns += question->end_ns - end_ns;
	idle->unknown_ns += begin_ns - question->begin_ns + question->end_ns - end_ns;
	question->begin_ns = begin_ns;
	question->end_ns = end_ns;
	return begin_ns < end_ns || is_whole;
}

/* Whose GPUs the question is about come first: their number. */
static uint32_t victims_first(const struct group *start, struct process *processes, uint32_t count)
{
	uint32_t victims = 0;

	for (uint32_t p = 0; p < count; p++)
		if (related_is_process(start->question->related, processes[p].streams[0])) {
			const struct process first = processes[p];

			memmove(processes + victims + 1, processes + victims, (p - victims) * sizeof first);
			processes[victims++] = first;
		}
	return victims;
}

/* These processes as one group, from when they use GPUs until their end. */
static int processes_sweep(
	const struct group *start, struct process *processes, uint32_t count, struct error *error)
{
	struct idle_question question = *start->question;
	struct group group = *start;
	uint32_t victims = victims_first(start, processes, count);
	uint64_t since_ns;
	int result = gpu_first_use_since(&since_ns, start->run, processes, victims, error);

	if (result)
		return result;
	group.question = &question;
	if (cut_window(&question, start->idle, since_ns, gpu_first_use_until(start->run, processes, victims)))
		return count == 1 ? process_sweep(&group, processes, since_ns, error)
				  : group_sweep_used(&group, processes, count, error);
	start->idle->groups++;
	return 0;
}

/* Those that count to a process: a list, in their order. */
struct families {
	const struct process *processes;
	uint32_t *first, *next; /* by process; UINT32_MAX: none, no more */
};

static void join_families(struct families *families, const uint32_t *owner_of, uint32_t count)
{
	memset(families->first, 0xff, count * sizeof(*families->first));
	for (uint32_t p = count; p-- > 0;)
		if (owner_of[p] != p) {
			families->next[p] = families->first[owner_of[p]];
			families->first[owner_of[p]] = p;
		}
}

/* A process and those below it that count to it. */
static int family_sweep(const struct group *start, const struct families *families, uint32_t owner,
	struct arena *arena, struct error *error)
{
	struct process *family;
	uint32_t members = 1;

	for (uint32_t p = families->first[owner]; p != UINT32_MAX; p = families->next[p])
		members++;
	family = arena_calloc(arena, members, sizeof(*family));
	if (!family)
		return error_memory(error);
	family[0] = families->processes[owner];
	members = 1;
	for (uint32_t p = families->first[owner]; p != UINT32_MAX; p = families->next[p])
		family[members++] = families->processes[p];
	return processes_sweep(start, family, members, error);
}

/* One group for each process with a GPU. */
static int each_sweep(struct group *start, const struct process *processes, uint32_t count, uint32_t *groups,
	struct arena *arena, struct error *error)
{
	const struct idle_question *question = start->question;
	uint32_t *owner_of = arena_calloc(arena, 3 * (size_t)count + 1, sizeof(*owner_of));
	struct families families;
	int result;

	if (!owner_of)
		return error_memory(error);
	families = (struct families){processes, owner_of + count, owner_of + 2 * (size_t)count};
	result = process_owners(owner_of, processes, count, start->run, error);
	if (!result)
		join_families(&families, owner_of, count);
	for (uint32_t p = 0; p < count && !result; p++)
		if (processes[p].gpu_count && idle_shared_is_own(question, (*groups)++))
			result = family_sweep(start, &families, p, arena, error);
	return result;
}

static int groups_sweep(struct group *start, struct arena *arena, struct error *error)
{
	const struct idle_question *question = start->question;
	struct process *processes;
	uint32_t count, gpu_count = 0, groups = 0;
	int result = process_list(
		&processes, &count, start->run, question->streams, question->stream_count, arena, error);

	for (uint32_t p = 0; p < count && !result; p++)
		if (related_is_process(question->related, processes[p].streams[0]))
			gpu_count += processes[p].gpu_count;
	if (!result && question->group == IDLE_GROUP_PROCESS)
		result = each_sweep(start, processes, count, &groups, arena, error);
	if (!result)
		result = idle_shared_gather(start, groups, error);
	if (!result && gpu_count && question->group == IDLE_GROUP_ALL)
		result = processes_sweep(start, processes, count, error);
	return result;
}

static int check_known(const struct idle *idle, struct error *error)
{
	if (!idle->groups)
		return error_set(error, ERROR_EMPTY,
			"no GPU queue is among the chosen streams (hpct-info --streams lists them); of "
			"threads "
			"ask --of waiting, --late or --imbalance");
	if (idle->unused_ns && !idle_used_ns(idle))
		return error_set(error, ERROR_EMPTY, "no process uses a GPU yet in this window");
	if (idle->ended_ns && !idle_used_ns(idle))
		return error_set(
			error, ERROR_EMPTY, "all processes that used a GPU have ended before this window");
	if (!(idle->busy_ns + idle->idle_ns))
		return error_set(error, ERROR_EMPTY, "no GPU was monitored in this window");
	return 0;
}

uint64_t idle_others_ns(const struct exact_share *shares, size_t count, uint64_t whole_ns)
{
	exact_share_fixed sum = 0;
	uint64_t shown_ns;

	for (size_t i = 0; i < count; i++)
		sum += shares[i].amount;
	shown_ns = (uint64_t)((exact_share_rank(sum) + (1 << 23)) >> 24);
	return whole_ns > shown_ns ? whole_ns - shown_ns : 0;
}

int idle_sweep(struct idle *idle, struct run *run, const struct idle_question *asked, struct arena *arena,
	struct error *error)
{
	struct idle_question related_question = *asked;
	const struct idle_question *question = &related_question;
	struct related related;
	struct exact_share_sums blamed = {.groups = asked->groups}, waited = {.groups = asked->groups},
				sampled = {.groups = asked->groups};
	struct group start = {.run = run,
		.question = question,
		.idle = idle,
		.blamed = &blamed,
		.waited = &waited,
		.sampled = &sampled};
	int result;

	*idle = (struct idle){0};
	result = related_find(&related, run, asked->streams, asked->stream_count,
		asked->group == IDLE_GROUP_ALL, arena, error);
	if (result)
		return result;
	related_question.streams = related.streams;
	related_question.stream_count = related.count;
	related_question.related = related.bits;
	result = groups_sweep(&start, arena, error);
	idle->window_ns = idle->groups * (question->end_ns - question->begin_ns);
	if (!result && !idle_shared_is_part(question))
		result = check_known(idle, error);
	if (!result)
		result = exact_share_sums_list(&blamed, &idle->blamed, &idle->blamed_count, arena, error);
	if (!result)
		result = exact_share_sums_list(&waited, &idle->waited, &idle->waited_count, arena, error);
	if (!result)
		result = exact_share_sums_list(&sampled, &idle->sampled, &idle->sampled_count, arena, error);
	exact_share_sums_fini(&blamed);
	exact_share_sums_fini(&sampled);
	exact_share_sums_fini(&waited);
	return result;
}
