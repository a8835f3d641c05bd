/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - see wait.h. As in idle_group.c a clock avoids sharing each interval: while s threads wait and n
 * kernels run it increases by s dt / n, and each kernel is charged its increase from the kernel's begin to
 * its end.
 */
#include "blame/wait/wait.h"

#include <stdlib.h>

#include "blame/base/process.h"
#include "blame/base/related.h"
#include "blame/base/sweep.h"
#include "blame/gpu/running_kernels.h"

struct wait_line {
	struct extent piece;
	uint32_t stream;
	bool is_sync;
};

struct wait_group {
	struct run *run;
	const struct idle_question *question;
	struct wait *wait;
	struct sweep *sweep;
	struct running_kernels *running;
	struct wait_line *lines;
	uint64_t now_ns;
	uint32_t waiting; /* threads */
	exact_share_fixed clock;
	struct exact_share_sums *sync, *causes;
};

static void pass(struct wait_group *group, uint64_t to_ns)
{
	uint64_t wait_ns = (to_ns - group->now_ns) * group->waiting;
	uint32_t kernels = running_kernels_count(group->running);

	group->now_ns = to_ns;
	group->wait->sync_ns += wait_ns;
	if (!kernels) {
		group->wait->uncovered_ns += wait_ns;
		return;
	}
	group->wait->covered_ns += wait_ns;
	group->clock += exact_share_of(wait_ns, kernels);
}

static bool line_change(struct wait_group *group, const struct sweep_change *change)
{
	struct wait_line *line = &group->lines[change->line];

	if (line->is_sync) {
		group->waiting--;
		if (!exact_share_sums_add_of(group->sync, line->stream, line->piece.context,
			    exact_share_of(change->time_ns - line->piece.begin_ns, 1)))
			return false;
	}
	line->is_sync = change->piece && change->piece->state == EXTENT_SYNC;
	group->waiting += line->is_sync;
	if (!change->piece)
		return true;
	line->piece = *change->piece;
	if (line->piece.state != EXTENT_ABSENT && line->piece.state != EXTENT_UNMONITORED)
		group->wait->monitored_ns += line->piece.end_ns - line->piece.begin_ns;
	return true;
}

static int take_kernels(struct wait_group *group, uint64_t until_ns, struct error *error)
{
	int result = 0;

	uint64_t next_ns;

	while (!result && (next_ns = running_kernels_next_ns(group->running)) <= until_ns &&
		next_ns != UINT64_MAX) {
		pass(group, next_ns);
		result = running_kernels_take(group->running, group->clock, group->causes, error);
	}
	return result;
}

static int group_run(struct wait_group *group, struct error *error)
{
	struct sweep_change change;
	int more;

	while ((more = sweep_next(group->sweep, &change, error)) > 0) {
		int result = take_kernels(group, change.time_ns, error);

		if (result)
			return result;
		pass(group, change.time_ns);
		if (!line_change(group, &change))
			return error_memory(error);
	}
	return more;
}

/* The threads of these processes, and the kernels of their queues. */
static int group_add(
	struct wait_group *group, const struct process *processes, uint32_t count, struct error *error)
{
	uint32_t line = 0;
	int result = 0;

	for (uint32_t p = 0; p < count; p++) {
		for (uint32_t i = 0; i < processes[p].stream_count && !result; i++) {
			uint32_t stream = processes[p].streams[i];

			if (run_stream(group->run, stream)->s.kind == STORE_STREAM_GPU) {
				result = running_kernels_add_queue(group->running, stream, error);
			} else if (related_is_reported(group->question->related, stream)) {
				group->lines[line++].stream = stream;
				result = sweep_add_stream(group->sweep, stream, error);
				group->wait->threads++;
			}
		}
	}
	return result;
}

static int group_sweep(
	struct wait_group *group, const struct process *processes, uint32_t count, struct error *error)
{
	const struct idle_question *question = group->question;
	size_t lines = 1;
	int result = sweep_new(&group->sweep, group->run, question->begin_ns, question->end_ns, error);

	for (uint32_t p = 0; p < count; p++)
		lines += processes[p].stream_count;
	group->lines = calloc(lines, sizeof(*group->lines));
	group->now_ns = question->begin_ns;
	if (!result)
		result = running_kernels_new(
			&group->running, group->run, question->begin_ns, question->end_ns, error);
	if (!result && !group->lines)
		result = error_memory(error);
	if (!result)
		result = group_add(group, processes, count, error);
	if (!result)
		result = group_run(group, error);
	sweep_free(group->sweep);
	running_kernels_free(group->running);
	free(group->lines);
	return result;
}

static int groups_sweep(struct wait_group *start, struct arena *arena, struct error *error)
{
	const struct idle_question *question = start->question;
	struct process *processes;
	uint32_t count, step;
	int result = process_list(
		&processes, &count, start->run, question->streams, question->stream_count, arena, error);

	if (result)
		return result;
	step = question->group == IDLE_GROUP_ALL ? count : 1;
	for (uint32_t p = 0; p < count && !result; p += step) {
		struct wait_group group = *start;

		result = group_sweep(&group, &processes[p], step, error);
	}
	return result;
}

int wait_sweep(struct wait *wait, struct run *run, const struct idle_question *asked, struct arena *arena,
	struct error *error)
{
	struct idle_question related_question = *asked;
	const struct idle_question *question = &related_question;
	struct related related;
	struct exact_share_sums sync = {.groups = asked->groups}, causes = {.groups = asked->groups};
	struct wait_group start = {
		.run = run, .question = question, .wait = wait, .sync = &sync, .causes = &causes};
	int result;

	*wait = (struct wait){0};
	result = related_find(&related, run, asked->streams, asked->stream_count,
		asked->group == IDLE_GROUP_ALL, arena, error);
	if (result)
		return result;
	related_question.streams = related.streams;
	related_question.stream_count = related.count;
	related_question.related = related.bits;
	result = groups_sweep(&start, arena, error);
	wait->window_ns = wait->threads * (question->end_ns - question->begin_ns);
	if (!result && !wait->threads)
		result = error_set(error, ERROR_EMPTY,
			"no CPU thread is among the chosen streams; hpct-info --streams lists them");
	if (!result && !wait->monitored_ns)
		result = error_set(error, ERROR_EMPTY, "no CPU thread was monitored in this window");
	if (!result)
		result = exact_share_sums_list(&sync, &wait->sync, &wait->sync_count, arena, error);
	if (!result)
		result = exact_share_sums_list(&causes, &wait->causes, &wait->cause_count, arena, error);
	exact_share_sums_fini(&sync);
	exact_share_sums_fini(&causes);
	return result;
}
