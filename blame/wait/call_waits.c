/* SPDX-License-Identifier: Apache-2.0 */
/* call_waits.c - see call_waits.h: what last_arrival_judge.c tells of single waits, in order. */
#include "blame/wait/call_waits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "blame/base/host_clocks.h"
#include "blame/base/process.h"
#include "blame/wait/last_arrival_calls.h"
#include "store/base/array.h"

const char *const call_wait_names[CALL_WAIT_STATES] = {
	[CALL_WAIT_LATE_SENDER] = "late sender",
	[CALL_WAIT_LATE_RECEIVER] = "late receiver",
	[CALL_WAIT_BARRIER] = "wait at barrier",
	[CALL_WAIT_N_TO_N] = "wait at n-to-n",
	[CALL_WAIT_LATE_BROADCAST] = "late broadcast",
	[CALL_WAIT_EARLY_REDUCE] = "early reduce",
	[CALL_WAIT_COLLECTIVE] = "collective",
	[CALL_WAIT_THREADS] = "barrier of threads",
};

enum call_wait_state call_wait_state_of(const char *call)
{
	static const struct {
		const char *call;
		enum call_wait_state state;
	} states[] = {{"barrier", CALL_WAIT_BARRIER}, {"allreduce", CALL_WAIT_N_TO_N},
		{"allgather", CALL_WAIT_N_TO_N}, {"allgatherv", CALL_WAIT_N_TO_N},
		{"alltoall", CALL_WAIT_N_TO_N}, {"alltoallv", CALL_WAIT_N_TO_N},
		{"alltoallw", CALL_WAIT_N_TO_N}, {"reduce_scatter", CALL_WAIT_N_TO_N},
		{"reduce_scatter_block", CALL_WAIT_N_TO_N}, {"bcast", CALL_WAIT_LATE_BROADCAST},
		{"scatter", CALL_WAIT_LATE_BROADCAST}, {"scatterv", CALL_WAIT_LATE_BROADCAST},
		{"reduce", CALL_WAIT_EARLY_REDUCE}, {"gather", CALL_WAIT_EARLY_REDUCE},
		{"gatherv", CALL_WAIT_EARLY_REDUCE}};

	call += strncmp(call, "MPI_", 4) ? 0 : 4;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (!strcasecmp(call, states[i].call) ||
			((*call == 'I') && !strcmp(call + 1, states[i].call)))
			return states[i].state;
	return CALL_WAIT_COLLECTIVE;
}

bool call_waits_put(struct call_waits *waits, const struct call_wait *wait)
{
	if (wait->begin_ns >= wait->end_ns || !wait->waited_ns)
		return true;
	if (!array_widen(&waits->list, &waits->capacity, waits->count, sizeof(*waits->list)))
		return false;
	waits->list[waits->count++] = *wait;
	return true;
}

static int wait_compare(const void *left, const void *right)
{
	const struct call_wait *a = left, *b = right;

	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

int call_waits_find(struct call_waits *waits, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct last_arrival late = {0};
	struct host_clocks clocks = {0};
	struct process *processes;
	uint32_t count;
	int result = process_list(
		&processes, &count, run, question->streams, question->stream_count, arena, error);

	*waits = (struct call_waits){0};
	if (!result)
		result = host_clocks_make(&clocks, run, processes, count, arena, error);
	if (!result)
		result = last_arrival_told(
			&late, waits, run, question, processes, count, &clocks, arena, error);
	waits->summed = late.summed;
	if (waits->count)
		qsort(waits->list, waits->count, sizeof(*waits->list), wait_compare);
	return result;
}

void call_waits_fini(struct call_waits *waits)
{
	free(waits->list);
	free(waits->traffic);
}
