/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_replay.c - see critical_path.h: the graph run forward. Of each stream the moments at which a wait
 * begins or ends are kept with their new times; between two of them lies work.
 *
 *   was    0      10~~~~~~30        40        new time of 35 = new time of 30 + what is left of 30..35
 *   new    0      8~~~~22           32
 *
 * Waits are taken by their ends: whoever ends one has, until then, ended all of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/critical_path.h"

struct moment {
	uint64_t was_ns, is_ns;
};

/* What happens, by time. */
struct happening {
	uint64_t time_ns, from_ns;
	size_t cause; /* CAUSE_BIRTH: the stream's begin */
	uint32_t stream;
};
#define CAUSE_BIRTH SIZE_MAX

struct line {
	size_t first, count; /* of moments */
	size_t change_first, change_count;
};

struct critical_replay {
	const struct critical_graph *graph;
	struct happening *happenings;
	size_t happening_count;
	struct line *lines;
	struct moment *moments;
	/* of one run */
	const struct critical_change *changes;
	uint64_t *before; /* by change: changed time of its stream before it */
	size_t change_capacity;
	unsigned numerator, denominator;
	bool is_rigid;
};

static int happening_compare(const void *left, const void *right)
{
	const struct happening *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	/* Of those at one moment first who waits for what was before. */
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->cause < b->cause ? -1 : a->cause > b->cause;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void fill(struct critical_replay *replay)
{
	const struct critical_graph *graph = replay->graph;
	size_t at = 0, moment = 0;

	for (uint32_t s = 0; s < graph->stream_count; s++)
		replay->happenings[at++] = (struct happening){
			later(graph->streams[s].begin_ns, graph->begin_ns), 0, CAUSE_BIRTH, s};
	for (size_t i = 0; i < graph->cause_count; i++) {
		const struct wait_cause *cause = &graph->causes[i];

		if (cause->waiter < graph->stream_count) {
			replay->happenings[at++] =
				(struct happening){cause->end_ns, cause->from_ns, i, cause->waiter};
			replay->lines[cause->waiter].count += 2;
		}
	}
	replay->happening_count = at;
	for (uint32_t s = 0; s < graph->stream_count; s++) {
		replay->lines[s].first = moment;
		moment += replay->lines[s].count + 1;
	}
	qsort(replay->happenings, at, sizeof(*replay->happenings), happening_compare);
}

int critical_replay_new(
	struct critical_replay **replay, const struct critical_graph *graph, struct error *error)
{
	size_t most = graph->cause_count + graph->stream_count + 1;
	struct critical_replay *made = calloc(1, sizeof(*made));

	*replay = made;
	if (!made)
		return error_memory(error);
	made->graph = graph;
	made->happenings = malloc(most * sizeof(*made->happenings));
	made->lines = calloc(graph->stream_count + 1u, sizeof(*made->lines));
	made->moments = malloc(2 * most * sizeof(*made->moments));
	if (!made->happenings || !made->lines || !made->moments)
		return error_memory(error);
	fill(made);
	return 0;
}

void critical_replay_free(struct critical_replay *replay)
{
	if (!replay)
		return;
	free(replay->happenings);
	free(replay->lines);
	free(replay->moments);
	free(replay->before);
	free(replay);
}

/* ---- changed work ---- */

/* Changed time of the stream before the moment. */
static uint64_t changed_before(
	const struct critical_replay *replay, const struct line *line, uint64_t time_ns)
{
	const struct critical_change *changes = replay->changes + line->change_first;
	size_t low = 0, high = line->change_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (changes[middle].begin_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	low--;
	return replay->before[line->change_first + low] +
	       ((changes[low].end_ns < time_ns ? changes[low].end_ns : time_ns) - changes[low].begin_ns);
}

/* What the work from one moment to another takes now. */
static uint64_t work_of(
	const struct critical_replay *replay, const struct line *line, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t changed_ns = line->change_count ? changed_before(replay, line, end_ns) -
							   changed_before(replay, line, begin_ns)
						 : 0;

	return end_ns - begin_ns - changed_ns + changed_ns * replay->numerator / replay->denominator;
}

static bool take_changes(struct critical_replay *replay, const struct critical_change *changes, size_t count)
{
	if (count > replay->change_capacity) {
		free(replay->before);
		replay->before = malloc(count * sizeof(*replay->before));
		replay->change_capacity = replay->before ? count : 0;
		if (!replay->before)
			return false;
	}
	replay->changes = changes;
	for (uint32_t s = 0; s < replay->graph->stream_count; s++)
		replay->lines[s].change_count = replay->lines[s].count = 0;
	for (size_t i = 0; i < count; i++) {
		struct line *line = &replay->lines[changes[i].stream];

		if (!line->change_count)
			line->change_first = i;
		replay->before[i] = line->change_count ? replay->before[i - 1] + changes[i - 1].end_ns -
								 changes[i - 1].begin_ns
						       : 0;
		line->change_count++;
	}
	return true;
}

/* ---- moments ---- */

/* The new time of a moment of the stream; all before it has happened. */
static uint64_t time_of(const struct critical_replay *replay, uint32_t stream, uint64_t time_ns)
{
	const struct line *line = &replay->lines[stream];
	const struct moment *moments = replay->moments + line->first;
	size_t low = 0, high = line->count, step = 1;

	if (!line->count || time_ns <= moments->was_ns)
		return line->count ? moments->is_ns : time_ns;
	/* Mostly it is one of the last. */
	while (step < high && moments[high - step].was_ns > time_ns)
		step *= 2;
	low = step < high ? high - step : 0;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (moments[middle].was_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	low--;
	/* In a wait: as far as it has come, at most to its end. */
	if (low % 2 && low + 1 < line->count) {
		uint64_t in_ns = moments[low].is_ns + (time_ns - moments[low].was_ns);

		return in_ns < moments[low + 1].is_ns ? in_ns : moments[low + 1].is_ns;
	}
	return moments[low].is_ns + work_of(replay, line, moments[low].was_ns, time_ns);
}

static void put(struct critical_replay *replay, uint32_t stream, uint64_t was_ns, uint64_t is_ns)
{
	struct line *line = &replay->lines[stream];

	replay->moments[line->first + line->count++] = (struct moment){was_ns, is_ns};
}

static void take_birth(struct critical_replay *replay, const struct happening *happening)
{
	const struct critical_graph *graph = replay->graph;
	uint32_t creator = graph->streams[happening->stream].creator;
	bool is_begun = happening->time_ns > graph->begin_ns && creator < graph->stream_count &&
			graph->streams[creator].begin_ns < happening->time_ns;

	put(replay, happening->stream, happening->time_ns,
		is_begun ? time_of(replay, creator, happening->time_ns) : happening->time_ns);
}

static void take_wait(struct critical_replay *replay, const struct wait_cause *cause)
{
	const struct critical_graph *graph = replay->graph;
	uint64_t begin_ns = time_of(replay, cause->waiter, cause->begin_ns), end_ns;
	uint64_t from_ns = cause->from_ns < cause->end_ns ? cause->from_ns : cause->end_ns;
	bool has_party = cause->party < graph->stream_count && cause->party != cause->waiter &&
			 from_ns > cause->begin_ns && graph->streams[cause->party].begin_ns < from_ns;

	put(replay, cause->waiter, cause->begin_ns, begin_ns);
	if (has_party)
		end_ns = later(begin_ns, time_of(replay, cause->party, from_ns) + (cause->end_ns - from_ns));
	else if (replay->is_rigid && cause->kind != CAUSE_TIMER)
		end_ns = later(begin_ns, cause->end_ns);
	else
		end_ns = begin_ns + (cause->end_ns - cause->begin_ns);
	put(replay, cause->waiter, cause->end_ns, end_ns);
}

int critical_replay_saved(struct critical_replay *replay, const struct critical_change *changes, size_t count,
	unsigned numerator, unsigned denominator, bool is_rigid, uint64_t *saved_ns, struct error *error)
{
	const struct critical_graph *graph = replay->graph;
	uint64_t end_ns = graph->streams[graph->last].end_ns, is_ns;

	if (!take_changes(replay, changes, count))
		return error_memory(error);
	replay->numerator = numerator;
	replay->denominator = denominator;
	replay->is_rigid = is_rigid;
	for (size_t i = 0; i < replay->happening_count; i++)
		if (replay->happenings[i].cause == CAUSE_BIRTH)
			take_birth(replay, &replay->happenings[i]);
		else
			take_wait(replay, &graph->causes[replay->happenings[i].cause]);
	end_ns = end_ns < graph->end_ns ? end_ns : graph->end_ns;
	is_ns = time_of(replay, graph->last, end_ns);
	*saved_ns = is_ns < end_ns ? end_ns - is_ns : 0;
	return 0;
}
