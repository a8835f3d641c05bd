/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_threads.c - which thread of a process arrives last at its barriers, see last_arrival.h.
 * Unlike a rank, the last thread mostly goes straight through and is never seen inside: an occasion is also
 * when all but one are inside and one of them leaves. Two sweeps: which threads are ever inside, then which
 * was last.
 */
#include <stdlib.h>

#include "blame/base/sweep.h"
#include "blame/wait/last_arrival_internal.h"

struct member {
	bool belongs, is_inside;
	uint32_t work;	     /* context in which it worked last */
	uint64_t arrived_ns; /* since when it waits, as far as it was not counted yet */
	uint64_t most_ns;
	struct last_arrival_party party;
};

struct barrier_team {
	const struct process *process;
	struct run *run;
	const struct idle_question *question;
	struct last_arrival *late;
	struct member *members; /* by line */
	uint32_t line_count, size;
	uint32_t inside;
	bool is_armed; /* since the last occasion two have been outside together */
};

static bool is_waiting(const struct barrier_team *team, const struct extent *piece)
{
	return piece &&
	       (extent_state_is_busy(piece->state) || piece->state == EXTENT_SYNC ||
		       piece->state == EXTENT_BLOCKED) &&
	       wait_functions_target(team->question->waits, piece->context) == WAITS_FOR_THREADS;
}

/* Without a core it is where it was: one that yields in a barrier has not left it. */
static bool is_held(const struct sweep_change *change)
{
	return change->piece && change->piece->state == EXTENT_RUNNABLE;
}

static int team_open(struct barrier_team *team, struct sweep **sweep, struct error *error)
{
	const struct process *process = team->process;
	int result = sweep_new(sweep, team->run, team->question->begin_ns, team->question->end_ns, error);

	team->line_count = 0;
	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		if (run_stream(team->run, process->streams[i])->s.kind != STORE_STREAM_CPU)
			continue;
		team->members[team->line_count].party.role = LAST_ARRIVAL_THREAD;
		team->members[team->line_count++].party.stream = process->streams[i];
		result = sweep_add_stream(*sweep, process->streams[i], error);
	}
	return result;
}

static int find_members(struct barrier_team *team, struct error *error)
{
	struct sweep_change change;
	struct sweep *sweep;
	int more = 0, result = team_open(team, &sweep, error);

	while (!result && (more = sweep_next(sweep, &change, error)) > 0) {
		struct member *member = &team->members[change.line];

		if (member->belongs || !is_waiting(team, change.piece))
			continue;
		member->belongs = true;
		team->size++;
	}
	sweep_free(sweep);
	return result ? result : more;
}

/* The last to arrive has delayed all that wait. */
static void occasion(struct barrier_team *team, struct member *last, uint64_t now_ns)
{
	uint64_t held_ns = 0;

	for (uint32_t i = 0; i < team->line_count; i++) {
		struct member *member = &team->members[i];

		member->party.occasions += member->belongs;
		if (!member->is_inside || member == last)
			continue;
		member->party.waited_ns += now_ns - member->arrived_ns;
		held_ns += now_ns - member->arrived_ns;
		member->arrived_ns = now_ns;
	}
	team->is_armed = false;
	team->late->thread_held_ns += held_ns;
	last->party.last++;
	last->party.held_ns += held_ns;
	if (held_ns < last->most_ns)
		return;
	last->most_ns = held_ns;
	last->party.context = last->work;
}

static struct member *outsider(const struct barrier_team *team)
{
	for (uint32_t i = 0; i < team->line_count; i++)
		if (team->members[i].belongs && !team->members[i].is_inside)
			return &team->members[i];
	return NULL;
}

static void take_change(struct barrier_team *team, const struct sweep_change *change)
{
	struct member *member = &team->members[change->line];
	bool is_in = is_held(change) ? member->is_inside : is_waiting(team, change->piece);

	if (!is_in && change->piece && extent_state_is_busy(change->piece->state))
		member->work = change->piece->context;
	if (is_in == member->is_inside)
		return;
	/* The window's end is no release. */
	if (!is_in && change->piece && team->is_armed && team->inside + 1 == team->size)
		occasion(team, outsider(team), change->time_ns);
	member->is_inside = is_in;
	member->arrived_ns = change->time_ns;
	team->inside += is_in ? 1u : 0u - 1u;
	if (team->inside == team->size)
		occasion(team, member, change->time_ns);
	else if (team->inside + 2 <= team->size)
		team->is_armed = true;
}

static int find_last(struct barrier_team *team, struct error *error)
{
	struct sweep_change change;
	struct sweep *sweep;
	int more = 0, result = team_open(team, &sweep, error);

	team->is_armed = true;
	while (!result && (more = sweep_next(sweep, &change, error)) > 0)
		take_change(team, &change);
	sweep_free(sweep);
	return result ? result : more;
}

int last_arrival_threads(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *process, struct error *error)
{
	struct barrier_team team = {.process = process, .run = run, .question = question, .late = late};
	int result;

	team.members = calloc((size_t)process->stream_count + 1, sizeof(*team.members));
	if (!team.members)
		return error_memory(error);
	result = find_members(&team, error);
	if (!result && team.size > 1)
		result = find_last(&team, error);
	for (uint32_t i = 0; i < team.line_count && team.size > 1 && !result; i++)
		if (team.members[i].belongs)
			late->threads[late->thread_count++] = team.members[i].party;
	free(team.members);
	return result;
}
