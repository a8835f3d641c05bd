/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_threads.c - which thread of a process arrives last at its barriers, see last_arrival.h.
 * Unlike a rank, the last thread mostly goes straight through and is never seen inside: an occasion is also
 * when all but one are inside and one of them leaves. Two sweeps: which threads are ever inside, then which
 * was last.
 *
 * No thread is named where the records do not tell: a thread that sleeps in a call without a path may be
 * inside or not, the end of a thread is no release, and a wait that is shorter than two periods and was seen
 * once may have ended while its sample was still in force.
 */
#include <stdlib.h>

#include "blame/base/sweep.h"
#include "blame/wait/last_arrival_internal.h"

#define PERIODS 2u

enum member_place {
	MEMBER_UNSURE, /* in a wait without a path, not measured, or not there */
	MEMBER_OUTSIDE,
	MEMBER_INSIDE
};

struct member {
	bool belongs, has_core;
	enum member_place place;
	uint64_t period_ns;
	uint64_t piece_ns;   /* begin of its piece */
	uint32_t seen;	     /* records of it inside */
	uint64_t stay_ns;    /* what it was inside until then, but for time without a core */
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
		team->members[team->line_count].period_ns =
			run_stream_read(team->run, process->streams[i])->period_ns;
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

/* Whether the wait is longer than one that late samples alone could make up. */
static bool is_long(const struct member *member, uint64_t now_ns)
{
	uint64_t stay_ns = member->stay_ns + (member->has_core ? now_ns - member->piece_ns : 0);

	return member->seen > 1 || stay_ns > PERIODS * member->period_ns;
}

static bool is_told(const struct barrier_team *team, const struct member *last, uint64_t now_ns)
{
	for (uint32_t i = 0; i < team->line_count; i++) {
		const struct member *member = &team->members[i];

		if (member->belongs && member->place == MEMBER_INSIDE && member != last &&
			!is_long(member, now_ns))
			return false;
	}
	return true;
}

/* The last to arrive has delayed all that wait. */
static void occasion(struct barrier_team *team, struct member *last, uint64_t now_ns)
{
	uint64_t held_ns = 0;

	team->is_armed = false;
	if (!is_told(team, last, now_ns))
		return;
	for (uint32_t i = 0; i < team->line_count; i++) {
		struct member *member = &team->members[i];

		member->party.occasions += member->belongs;
		if (member->place != MEMBER_INSIDE || member == last)
			continue;
		member->party.waited_ns += now_ns - member->arrived_ns;
		held_ns += now_ns - member->arrived_ns;
		member->arrived_ns = now_ns;
	}
	team->late->thread_held_ns += held_ns;
	last->party.last++;
	last->party.held_ns += held_ns;
	if (held_ns < last->most_ns)
		return;
	last->most_ns = held_ns;
	last->party.context = last->work;
}

/* The one that is not inside; NULL: there may be none. */
static struct member *outsider(const struct barrier_team *team)
{
	for (uint32_t i = 0; i < team->line_count; i++)
		if (team->members[i].belongs && team->members[i].place == MEMBER_OUTSIDE)
			return &team->members[i];
	return NULL;
}

static enum member_place place_of(const struct barrier_team *team, const struct sweep_change *change)
{
	const struct extent *piece = change->piece;

	if (is_waiting(team, piece))
		return MEMBER_INSIDE;
	if (!piece)
		return MEMBER_UNSURE;
	if (extent_state_is_busy(piece->state))
		return MEMBER_OUTSIDE;
	return (piece->state == EXTENT_SYNC || piece->state == EXTENT_BLOCKED) && !change->is_last_seen
		       ? MEMBER_OUTSIDE
		       : MEMBER_UNSURE;
}

static void piece_begin(struct member *member, const struct sweep_change *change)
{
	if (member->has_core)
		member->stay_ns += change->time_ns - member->piece_ns;
	member->has_core = !is_held(change);
	member->piece_ns = change->time_ns;
}

static void take_change(struct barrier_team *team, const struct sweep_change *change)
{
	struct member *member = &team->members[change->line], *last;
	enum member_place before = member->place, now = is_held(change) ? before : place_of(team, change);

	if (now == MEMBER_OUTSIDE && extent_state_is_busy(change->piece->state))
		member->work = change->piece->context;
	if (now == before) {
		piece_begin(member, change);
		member->seen += change->piece && change->piece->is_record_begin && !is_held(change);
		return;
	}
	if (before == MEMBER_INSIDE && now == MEMBER_OUTSIDE && team->is_armed &&
		team->inside + 1 == team->size && (last = outsider(team)))
		occasion(team, last, change->time_ns);
	team->inside -= before == MEMBER_INSIDE;
	member->place = now;
	member->arrived_ns = change->time_ns;
	piece_begin(member, change);
	member->stay_ns = 0;
	member->seen = 1;
	team->inside += now == MEMBER_INSIDE;
	if (now == MEMBER_INSIDE && before == MEMBER_OUTSIDE && team->inside == team->size)
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
		if (team.members[i].belongs && team.members[i].party.occasions)
			late->threads[late->thread_count++] = team.members[i].party;
	free(team.members);
	return result;
}
