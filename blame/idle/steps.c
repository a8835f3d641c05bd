/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - see steps.h: one sweep per instance, over its own window; without a GPU, the times of its
 * process's threads. */
#include "blame/idle/steps.h"

#include <stdlib.h>

#include "blame/base/process.h"
#include "blame/base/related.h"
#include "timeline/select/bookmark.h"
#include "timeline/sum/window.h"

/* The process that a stream belongs to; NULL: all are asked about. */
static const struct process *owner_of(const struct process *processes, uint32_t count, uint32_t stream,
	const struct idle_question *question)
{
	if (question->group == IDLE_GROUP_ALL)
		return NULL;
	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++)
			if (processes[p].streams[i] == stream)
				return &processes[p];
	return NULL;
}

static bool has_gpu(const struct process *processes, uint32_t count)
{
	for (uint32_t p = 0; p < count; p++)
		if (processes[p].gpu_count)
			return true;
	return false;
}

static void put_context(struct step *step, const struct run *run)
{
	exact_share_fixed most = 0;

	for (size_t i = 0; i < step->idle.blamed_count; i++) {
		const struct exact_share *share = &step->idle.blamed[i];
		exact_share_fixed rank = exact_share_rank(share->amount);

		if (!rank || !exact_share_is_larger(run, rank, share->context, most, step->context))
			continue;
		most = rank;
		step->context = share->context;
	}
	step->idle.blamed = step->idle.waited = NULL;
	step->idle.blamed_count = step->idle.waited_count = 0;
}

/* All processes, and to which each counts (process_owners()). */
struct families {
	const struct process *processes;
	uint32_t count;
	const uint32_t *owner_of;
};

/* The streams of a process and of those that count to it; NULL: no memory. */
static uint32_t *list_family(const struct families *families, const struct process *owner,
	const uint8_t *bits, uint32_t *count, struct arena *arena)
{
	uint32_t *chosen, room = 0;

	for (uint32_t p = 0; p < families->count; p++)
		if (&families->processes[families->owner_of[p]] == owner)
			room += families->processes[p].stream_count;
	chosen = arena_calloc(arena, (size_t)room + 1, sizeof *chosen);
	*count = 0;
	for (uint32_t p = 0; p < families->count && chosen; p++) {
		const struct process *process = &families->processes[p];

		if (&families->processes[families->owner_of[p]] != owner)
			continue;
		for (uint32_t i = 0; i < process->stream_count; i++)
			if (related_is_reported(bits, process->streams[i]))
				chosen[(*count)++] = process->streams[i];
	}
	return chosen;
}

static int measure(struct step *step, struct run *run, const struct idle_question *whole,
	const struct families *families, const struct process *owner, struct error *error)
{
	struct idle_question question = *whole;
	struct arena arena = {0};
	int result;

	question.begin_ns = step->begin_ns;
	question.end_ns = step->end_ns;
	if (owner && owner->gpu_count) {
		question.streams =
			list_family(families, owner, whole->related, &question.stream_count, &arena);
		if (!question.streams)
			return error_memory(error);
	}
	result = idle_sweep(&step->idle, run, &question, &arena, error);
	put_context(step, run);
	arena_fini(&arena);
	/* A step of which nothing is known is a row like any other, as long as there is a GPU. */
	return result == -ERROR_EMPTY && step->idle.groups ? 0 : result;
}

/* ---- without a GPU: the threads themselves ---- */

struct wait_sum {
	uint32_t context;
	uint64_t ns;
};

static void add_time(
	struct step *step, const struct run *run, const struct window_time *time, struct wait_sum *most)
{
	switch (time->state) {
	case EXTENT_BLOCKED:
	case EXTENT_RUNNABLE:
	case EXTENT_SYNC:
		step->idle.idle_ns += time->time_ns;
		if (time->context && time->state != EXTENT_RUNNABLE &&
			exact_share_is_larger(run, time->time_ns, time->context, most->ns, most->context))
			*most = (struct wait_sum){time->context, time->time_ns};
		break;
	default:
		if (extent_state_is_busy(time->state))
			step->idle.busy_ns += time->time_ns;
		else
			step->idle.unknown_ns += time->time_ns;
	}
}

static void sum_times(struct step *step, const struct run *run, const struct window *window)
{
	struct wait_sum most = {0};
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count; i++)
		add_time(step, run, &times[i], &most);
	step->context = most.context;
}

static uint64_t absent_ns(const struct window *window)
{
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count; i++)
		if (times[i].state == EXTENT_ABSENT)
			return times[i].time_ns;
	return 0;
}

/* Adds a thread; one that does not live in the step is none of its groups. */
static int add_thread(struct step *step, struct window *window, struct run *run, uint32_t stream,
	uint64_t *nowhere_ns, struct error *error)
{
	uint64_t wall_ns = step->end_ns - step->begin_ns, before_ns = absent_ns(window);
	int result;

	if (run_stream(run, stream)->s.kind != STORE_STREAM_CPU)
		return 0;
	result = window_add_time(window, stream, step->begin_ns, step->end_ns, error);
	if (absent_ns(window) - before_ns == wall_ns)
		*nowhere_ns += wall_ns;
	else
		step->idle.groups++;
	return result;
}

/* Groups are threads: what of the wall clock they worked and what they waited. */
static int measure_threads(struct step *step, struct run *run, const struct idle_question *question,
	const struct process *owner, struct error *error)
{
	const uint32_t *streams = owner ? owner->streams : question->streams;
	uint32_t count = owner ? owner->stream_count : question->stream_count;
	uint64_t nowhere_ns = 0;
	struct window *window;
	int result = window_new(&window, run, error);

	if (result)
		return result;
	for (uint32_t i = 0; i < count && !result; i++)
		if (related_is_reported(question->related, streams[i]))
			result = add_thread(step, window, run, streams[i], &nowhere_ns, error);
	sum_times(step, run, window);
	step->idle.unknown_ns -= nowhere_ns;
	step->idle.window_ns = step->idle.groups * (step->end_ns - step->begin_ns);
	window_free(window);
	return result;
}

static int step_compare(const void *left, const void *right)
{
	const struct step *a = left, *b = right;
	uint64_t wall_a = a->end_ns - a->begin_ns, wall_b = b->end_ns - b->begin_ns;

	if (wall_a != wall_b)
		return wall_a > wall_b ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* A mark of a process of which no stream is chosen. */
static bool is_elsewhere(const struct mark *mark, const uint8_t *bits)
{
	return mark->stream != UINT32_MAX && !related_is_process(bits, mark->stream);
}

int steps_make(struct steps *steps, struct run *run, const struct idle_question *asked, struct arena *arena,
	struct error *error)
{
	struct idle_question related_question = *asked;
	const struct idle_question *question = &related_question;
	struct related related = {0};
	const struct mark *marks;
	size_t count;
	struct process *processes;
	struct families families;
	uint32_t process_count, *owners;
	bool is_gpu;
	int result = mark_instances(run, question->end_ns, arena, &marks, &count, error);

	*steps = (struct steps){0};
	if (!result)
		result =
			related_find(&related, run, asked->streams, asked->stream_count, false, arena, error);
	if (!result)
		result = process_list(
			&processes, &process_count, run, related.streams, related.count, arena, error);
	related_question.related = related.bits;
	if (result)
		return result;
	steps->list = arena_calloc(arena, count + 1, sizeof(*steps->list));
	owners = arena_calloc(arena, (size_t)process_count + 1, sizeof(*owners));
	if (!steps->list || !owners)
		return error_memory(error);
	families = (struct families){processes, process_count, owners};
	result = process_owners(owners, processes, process_count, run, error);
	is_gpu = has_gpu(processes, process_count);
	for (size_t i = 0; i < count && !result; i++) {
		const struct process *owner;
		uint64_t end_ns = marks[i].end_ns;
		struct step *step = &steps->list[steps->count];

		*step = (struct step){.name = marks[i].name,
			.begin_ns = marks[i].begin_ns > question->begin_ns ? marks[i].begin_ns
									   : question->begin_ns,
			.end_ns = end_ns < question->end_ns ? end_ns : question->end_ns};
		if (step->begin_ns >= step->end_ns || is_elsewhere(&marks[i], related.bits))
			continue;
		steps->count++;
		owner = owner_of(processes, process_count, marks[i].stream, question);
		if (owner)
			owner = &processes[owners[owner - processes]];
		result = is_gpu ? measure(step, run, question, &families, owner, error)
				: measure_threads(step, run, question, owner, error);
	}
	if (!result)
		qsort(steps->list, steps->count, sizeof(*steps->list), step_compare);
	return result;
}
