/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_replay.c - see critical_path.h: the graph run forward. Of each wait the new time of its end is
 * kept; between two waits of a stream lies work.
 *
 *   was    0      10~~~~~~30        40        new time of 35 = new time of 30 + what is left of 30..35
 *   new    0      8~~~~22           32
 *
 * Waits are taken by their ends: whoever ends one has, until then, ended all of its own. All questions about
 * the same work are answered in one pass, since memory is what it costs.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/critical_path.h"
#include "store/base/array.h"
#include "store/base/heap.h"
#include "store/base/search_near.h"

#define SAME_MOMENT_MOST 64u /* waits that end each other at one moment; more go in a circle */

/* The new times of a moment, one for each question. */
struct times {
	uint64_t ns[CRITICAL_WHATS];
};

struct line {
	size_t first, end;  /* of its causes in the graph's */
	size_t done;	    /* the first of them that has not happened */
	struct times birth; /* new times of birth_ns */
	uint64_t birth_ns;
	bool is_born;
	size_t change_first, change_end, change_near;
	uint64_t changed_ns; /* changed time before the last moment that has happened */
};

struct critical_replay {
	const struct critical_graph *graph;
	size_t *order; /* causes by end; from cause_count on the births of streams */
	size_t order_count;
	struct line *lines;
	struct times *ends; /* by cause */
	/* of one run */
	const struct critical_change *changes;
	uint64_t *before; /* by change: changed time of its stream before it */
	size_t change_capacity;
	const struct critical_what *whats;
	unsigned what_count;
};

/* ---- order ---- */

/* What happens next in a stream. */
struct happening {
	uint64_t time_ns, from_ns;
	size_t number; /* of the cause, or cause_count plus the stream that is born */
	uint32_t stream;
};

static bool happens_before(const void *left, const void *right)
{
	const struct happening *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	/* Of those at one moment first who waits for what was before. */
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns;
	return a->stream < b->stream;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct happening happening_of(const struct critical_graph *graph, size_t cause)
{
	return (struct happening){graph->causes[cause].end_ns, graph->causes[cause].from_ns, cause,
		graph->causes[cause].waiter};
}

/* The births of all streams, as the heap that the merge begins with. */
static struct happening *births_make(struct critical_replay *replay)
{
	const struct critical_graph *graph = replay->graph;
	struct happening *heap = malloc((graph->stream_count + 1u) * sizeof(*heap));
	size_t cause = 0;

	for (uint32_t s = 0; s < graph->stream_count && heap; s++) {
		struct line *line = &replay->lines[s];

		line->birth_ns = later(graph->streams[s].begin_ns, graph->begin_ns);
		while (cause < graph->cause_count && graph->causes[cause].waiter < s)
			cause++;
		line->first = cause;
		while (cause < graph->cause_count && graph->causes[cause].waiter == s)
			cause++;
		line->end = cause;
		heap[s] = (struct happening){line->birth_ns, 0, graph->cause_count + s, s};
		heap_rise(heap, s, sizeof(*heap), happens_before);
	}
	return heap;
}

/* Merges the streams: the causes of each are in order. */
static bool order_make(struct critical_replay *replay)
{
	const struct critical_graph *graph = replay->graph;
	struct happening *heap = births_make(replay);
	size_t count = heap ? graph->stream_count : 0;

	while (count) {
		const struct line *line = &replay->lines[heap->stream];
		size_t number = heap->number;
		size_t next = number < graph->cause_count ? number + 1 : line->first;

		replay->order[replay->order_count++] = number;
		*heap = next < line->end ? happening_of(graph, next) : heap[--count];
		if (count)
			heap_sink(heap, count, 0, sizeof(*heap), happens_before);
	}
	free(heap);
	return heap != NULL;
}

int critical_replay_new(
	struct critical_replay **replay, const struct critical_graph *graph, struct error *error)
{
	size_t causes = graph->cause_count + 1;
	struct critical_replay *made = calloc(1, sizeof(*made));

	*replay = made;
	if (!made)
		return error_memory(error);
	made->graph = graph;
	made->lines = calloc(graph->stream_count + 1u, sizeof(*made->lines));
	if (!made->lines || !array_resize(&made->order, causes + graph->stream_count, sizeof(*made->order)) ||
		!array_resize(&made->ends, causes, sizeof(*made->ends)) || !order_make(made))
		return error_memory(error);
	return 0;
}

void critical_replay_free(struct critical_replay *replay)
{
	if (!replay)
		return;
	free(replay->order);
	free(replay->lines);
	free(replay->ends);
	free(replay->before);
	free(replay);
}

/* ---- changed work ---- */

struct moment {
	const void *list;
	uint64_t time_ns;
};

static bool change_begins_before(const void *own, size_t number)
{
	const struct moment *moment = own;
	const struct critical_change *changes = moment->list;

	return changes[number].begin_ns < moment->time_ns;
}

/* Changed time of the stream before the moment. */
static uint64_t changed_before(struct critical_replay *replay, struct line *line, uint64_t time_ns)
{
	const struct moment moment = {replay->changes, time_ns};
	const struct critical_change *change;

	if (line->change_first == line->change_end)
		return 0;
	line->change_near = search_near(
		line->change_first, line->change_end, line->change_near, change_begins_before, &moment);
	if (line->change_near == line->change_first)
		return 0;
	change = &replay->changes[line->change_near - 1];
	return replay->before[line->change_near - 1] +
	       ((change->end_ns < time_ns ? change->end_ns : time_ns) - change->begin_ns);
}

/* What work of that time takes now, of which a part is changed. */
static uint64_t work_of(const struct critical_what *what, uint64_t work_ns, uint64_t changed_ns)
{
	return work_ns - changed_ns + changed_ns * what->numerator / what->denominator;
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
	for (uint32_t s = 0; s < replay->graph->stream_count; s++) {
		struct line *line = &replay->lines[s];

		line->change_first = line->change_end = line->change_near = 0;
		line->is_born = false;
		line->done = line->first;
		line->changed_ns = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct line *line = &replay->lines[changes[i].stream];
		bool is_first = line->change_first == line->change_end;

		if (is_first)
			line->change_first = line->change_near = i;
		replay->before[i] =
			is_first ? 0
				 : replay->before[i - 1] + changes[i - 1].end_ns - changes[i - 1].begin_ns;
		line->change_end = i + 1;
	}
	return true;
}

/* ---- moments ---- */

static bool cause_begins_until(const void *own, size_t number)
{
	const struct moment *moment = own;
	const struct wait_cause *causes = moment->list;

	return causes[number].begin_ns <= moment->time_ns;
}

/* Work from a moment on whose new times are known; `before_ns`: changed time before it. */
static void after(struct critical_replay *replay, struct line *line, uint64_t was_ns,
	const struct times *were, uint64_t before_ns, uint64_t time_ns, struct times *is)
{
	uint64_t changed_ns = changed_before(replay, line, time_ns) - before_ns;

	for (unsigned w = 0; w < replay->what_count; w++)
		is->ns[w] = were->ns[w] + work_of(&replay->whats[w], time_ns - was_ns, changed_ns);
}

/* In the work that leads up to that wait, or to line->end. */
static void before_wait(
	struct critical_replay *replay, struct line *line, size_t number, uint64_t time_ns, struct times *is)
{
	uint64_t was_ns;

	if (number == line->first) {
		after(replay, line, line->birth_ns, &line->birth,
			changed_before(replay, line, line->birth_ns), time_ns, is);
		return;
	}
	was_ns = replay->graph->causes[number - 1].end_ns;
	after(replay, line, was_ns, &replay->ends[number - 1],
		number == line->done ? line->changed_ns : changed_before(replay, line, was_ns), time_ns, is);
}

/* In a wait: as far as it has come, at most to its end. */
static void in_wait(
	struct critical_replay *replay, struct line *line, size_t number, uint64_t time_ns, struct times *is)
{
	uint64_t begin_ns = replay->graph->causes[number].begin_ns;

	before_wait(replay, line, number, begin_ns, is);
	for (unsigned w = 0; w < replay->what_count; w++) {
		uint64_t is_ns = is->ns[w] + (time_ns - begin_ns);

		is->ns[w] = is_ns < replay->ends[number].ns[w] ? is_ns : replay->ends[number].ns[w];
	}
}

/* The new times of a moment of the stream; all before it has happened. */
static void times_of(struct critical_replay *replay, uint32_t stream, uint64_t time_ns, struct times *is)
{
	struct line *line = &replay->lines[stream];
	const struct wait_cause *causes = replay->graph->causes;
	const struct moment moment = {causes, time_ns};
	size_t at;

	if (!line->is_born || time_ns <= line->birth_ns) {
		for (unsigned w = 0; w < replay->what_count; w++)
			is->ns[w] = line->is_born ? line->birth.ns[w] : time_ns;
		return;
	}
	at = search_near(line->first, line->done, line->done, cause_begins_until, &moment);
	if (at > line->first && causes[at - 1].end_ns > time_ns)
		in_wait(replay, line, at - 1, time_ns, is);
	else
		before_wait(replay, line, at, time_ns, is);
}

static void take_wait(struct critical_replay *replay, size_t number, unsigned depth);

/* A wait of the stream that ends at this very moment has happened first. */
static void take_last_wait(struct critical_replay *replay, uint32_t stream, uint64_t time_ns, unsigned depth)
{
	const struct line *line = &replay->lines[stream];

	if (line->done < line->end && replay->graph->causes[line->done].end_ns <= time_ns &&
		depth < SAME_MOMENT_MOST)
		take_wait(replay, line->done, depth + 1);
}

static void take_birth(struct critical_replay *replay, uint32_t stream)
{
	const struct critical_graph *graph = replay->graph;
	struct line *line = &replay->lines[stream];
	uint32_t creator = graph->streams[stream].creator;

	if (line->birth_ns > graph->begin_ns && creator < graph->stream_count &&
		graph->streams[creator].begin_ns < line->birth_ns) {
		take_last_wait(replay, creator, line->birth_ns, 0);
		times_of(replay, creator, line->birth_ns, &line->birth);
	} else {
		for (unsigned w = 0; w < replay->what_count; w++)
			line->birth.ns[w] = line->birth_ns;
	}
	line->is_born = true;
}

static bool has_party(const struct critical_graph *graph, const struct wait_cause *cause, uint64_t from_ns)
{
	return cause->party < graph->stream_count && cause->party != cause->waiter &&
	       from_ns > cause->begin_ns && graph->streams[cause->party].begin_ns < from_ns;
}

/* `depth`: waits that end at one moment, each ended by the next. */
static void take_wait(struct critical_replay *replay, size_t number, unsigned depth)
{
	const struct critical_graph *graph = replay->graph;
	const struct wait_cause *cause = &graph->causes[number];
	uint64_t from_ns = cause->from_ns < cause->end_ns ? cause->from_ns : cause->end_ns;
	bool is_led = has_party(graph, cause, from_ns);
	struct line *line = &replay->lines[cause->waiter];
	struct times begins, *ends = &replay->ends[number];

	times_of(replay, cause->waiter, cause->begin_ns, &begins);
	if (is_led) {
		take_last_wait(replay, cause->party, from_ns, depth);
		times_of(replay, cause->party, from_ns, ends);
	}
	for (unsigned w = 0; w < replay->what_count; w++) {
		uint64_t begin_ns = begins.ns[w];

		if (is_led)
			ends->ns[w] = later(begin_ns, ends->ns[w] + (cause->end_ns - from_ns));
		else if (replay->whats[w].is_rigid && cause->kind != CAUSE_TIMER)
			ends->ns[w] = later(begin_ns, cause->end_ns);
		else
			ends->ns[w] = begin_ns + (cause->end_ns - cause->begin_ns);
	}
	line->changed_ns = changed_before(replay, line, cause->end_ns);
	line->done = number + 1;
}

int critical_replay_saved(struct critical_replay *replay, const struct critical_change *changes, size_t count,
	const struct critical_what *whats, unsigned what_count, uint64_t *saved_ns, struct error *error)
{
	const struct critical_graph *graph = replay->graph;
	uint64_t end_ns = graph->streams[graph->last].end_ns;
	struct times is;

	if (!take_changes(replay, changes, count))
		return error_memory(error);
	replay->whats = whats;
	replay->what_count = what_count < CRITICAL_WHATS ? what_count : CRITICAL_WHATS;
	for (size_t i = 0; i < replay->order_count; i++) {
		size_t number = replay->order[i];

		if (number >= graph->cause_count)
			take_birth(replay, (uint32_t)(number - graph->cause_count));
		else if (number >= replay->lines[graph->causes[number].waiter].done)
			take_wait(replay, number, 0);
	}
	end_ns = end_ns < graph->end_ns ? end_ns : graph->end_ns;
	times_of(replay, graph->last, end_ns, &is);
	for (unsigned w = 0; w < replay->what_count; w++)
		saved_ns[w] = is.ns[w] < end_ns ? end_ns - is.ns[w] : 0;
	return 0;
}
