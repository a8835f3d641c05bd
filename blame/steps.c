/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - see steps.h: one sweep per instance, over its own window. */
#include "blame/steps.h"

#include <stdlib.h>

#include "blame/process.h"
#include "timeline/mark.h"

/* The process that a stream belongs to, if it has a GPU; NULL: all are asked about. */
static const struct process *owner_of(const struct process *processes, uint32_t count, uint32_t stream,
	const struct idle_question *question)
{
	if (question->group == IDLE_GROUP_ALL)
		return NULL;
	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++)
			if (processes[p].streams[i] == stream)
				return processes[p].gpu_count ? &processes[p] : NULL;
	return NULL;
}

static void put_context(struct step *step)
{
	share_fixed most = 0;

	for (size_t i = 0; i < step->idle.blamed_count; i++) {
		if (step->idle.blamed[i].amount <= most)
			continue;
		most = step->idle.blamed[i].amount;
		step->context = step->idle.blamed[i].context;
	}
	step->idle.blamed = step->idle.waited = NULL;
	step->idle.blamed_count = step->idle.waited_count = 0;
}

static int measure(struct step *step, struct run *run, const struct idle_question *whole,
	const struct process *owner, struct error *error)
{
	struct idle_question question = *whole;
	struct arena arena = {0};
	int result;

	question.begin_ns = step->begin_ns;
	question.end_ns = step->end_ns;
	if (owner) {
		question.streams = owner->streams;
		question.stream_count = owner->stream_count;
	}
	result = idle_sweep(&step->idle, run, &question, &arena, error);
	put_context(step);
	arena_fini(&arena);
	/* A step of which nothing is known is a row like any other, as long as there is a GPU. */
	return result == -ERROR_EMPTY && step->idle.groups ? 0 : result;
}

static int step_compare(const void *left, const void *right)
{
	const struct step *a = left, *b = right;
	uint64_t wall_a = a->end_ns - a->begin_ns, wall_b = b->end_ns - b->begin_ns;

	if (wall_a != wall_b)
		return wall_a > wall_b ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

int steps_make(struct steps *steps, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	const struct mark *marks;
	size_t count;
	struct process *processes;
	uint32_t process_count;
	int result = mark_instances(run, question->end_ns, arena, &marks, &count, error);

	*steps = (struct steps){0};
	if (!result)
		result = process_list(&processes, &process_count, run, question->streams,
			question->stream_count, arena, error);
	if (result)
		return result;
	steps->list = arena_calloc(arena, count + 1, sizeof(*steps->list));
	if (!steps->list)
		return error_memory(error);
	for (size_t i = 0; i < count && !result; i++) {
		uint64_t end_ns = marks[i].end_ns;
		struct step *step = &steps->list[steps->count];

		*step = (struct step){.name = marks[i].name,
			.begin_ns = marks[i].begin_ns > question->begin_ns ? marks[i].begin_ns
									   : question->begin_ns,
			.end_ns = end_ns < question->end_ns ? end_ns : question->end_ns};
		if (step->begin_ns >= step->end_ns)
			continue;
		steps->count++;
		result = measure(step, run, question,
			owner_of(processes, process_count, marks[i].stream, question), error);
	}
	if (!result)
		qsort(steps->list, steps->count, sizeof(*steps->list), step_compare);
	return result;
}
