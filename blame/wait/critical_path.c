/* SPDX-License-Identifier: Apache-2.0 */
/* critical_path.c - see critical_path.h: the walk backward. */
#include "blame/wait/critical_path.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/search_near.h"

#define STILL_MOST 64u /* jumps without time between: more go in a circle */

/* Of a stream the causes are [first, end); `near`: which was met last. */
struct place {
	size_t first, end, near;
};

struct walk {
	const struct critical_graph *graph;
	struct critical_path *path;
	struct place *places; /* by stream */
	uint32_t stream;
	uint64_t now_ns;
	unsigned still;
};

struct moment {
	const struct wait_cause *causes;
	uint64_t time_ns;
};

static bool begins_before(const void *own, size_t number)
{
	const struct moment *moment = own;

	return moment->causes[number].begin_ns < moment->time_ns;
}

/* The last cause of the stream that begins before the time; NULL: none. */
static const struct wait_cause *cause_before(struct walk *walk, uint32_t stream, uint64_t time_ns)
{
	struct place *place = &walk->places[stream];
	const struct moment moment = {walk->graph->causes, time_ns};

	place->near = search_near(place->first, place->end, place->near, begins_before, &moment);
	return place->near > place->first ? &moment.causes[place->near - 1] : NULL;
}

static struct place *places_make(const struct critical_graph *graph)
{
	struct place *places = calloc(graph->stream_count + 1u, sizeof(*places));
	size_t at = 0;

	for (uint32_t s = 0; s < graph->stream_count && places; s++) {
		while (at < graph->cause_count && graph->causes[at].waiter < s)
			at++;
		places[s].first = at;
		while (at < graph->cause_count && graph->causes[at].waiter == s)
			at++;
		places[s].end = places[s].near = at;
	}
	return places;
}

/* From there to now; backward. */
static bool put(struct walk *walk, uint64_t begin_ns, struct critical_segment segment)
{
	struct critical_path *path = walk->path;
	uint64_t end_ns = walk->now_ns;

	begin_ns = begin_ns > walk->graph->begin_ns ? begin_ns : walk->graph->begin_ns;
	if (begin_ns >= end_ns)
		return true;
	if (!array_widen(&path->segments, &path->capacity, path->count, sizeof(*path->segments)))
		return false;
	segment.begin_ns = begin_ns;
	segment.end_ns = end_ns;
	segment.stream = walk->stream;
	path->segments[path->count++] = segment;
	walk->now_ns = begin_ns;
	walk->still = 0;
	return true;
}

static bool work(struct walk *walk, uint64_t begin_ns)
{
	return put(walk, begin_ns, (struct critical_segment){.party = CAUSE_NOBODY});
}

/* Whether the wait can be left for its party, and when that let it go on. */
static bool may_jump(const struct walk *walk, const struct wait_cause *cause, uint64_t *from_ns)
{
	const struct critical_graph *graph = walk->graph;

	*from_ns = cause->from_ns < walk->now_ns ? cause->from_ns : walk->now_ns;
	return cause->party != CAUSE_NOBODY && cause->party < graph->stream_count &&
	       cause->party != walk->stream && *from_ns > cause->begin_ns && walk->still < STILL_MOST &&
	       graph->streams[cause->party].begin_ns < *from_ns;
}

static bool leave(struct walk *walk, const struct wait_cause *cause)
{
	struct critical_segment wait = {.kind = cause->kind, .party = cause->party, .is_wait = true};
	uint64_t from_ns;

	if (!may_jump(walk, cause, &from_ns))
		return put(walk, cause->begin_ns, wait);
	if (!put(walk, from_ns, wait))
		return false;
	walk->stream = cause->party;
	walk->still++;
	return true;
}

/* To whom a stream's birth leads; false: the path ends here. */
static bool born(struct walk *walk)
{
	const struct critical_graph *graph = walk->graph;
	uint32_t creator = graph->streams[walk->stream].creator;

	if (creator >= graph->stream_count || graph->streams[creator].begin_ns >= walk->now_ns)
		return false;
	walk->stream = creator;
	return true;
}

/* One step backward; false: no memory. */
static bool step(struct walk *walk)
{
	const struct critical_graph *graph = walk->graph;
	uint64_t begin_ns = graph->streams[walk->stream].begin_ns;
	const struct wait_cause *cause = cause_before(walk, walk->stream, walk->now_ns);

	if (cause && cause->end_ns >= walk->now_ns)
		return leave(walk, cause);
	if (cause)
		return work(walk, cause->end_ns);
	if (begin_ns < walk->now_ns)
		return work(walk, begin_ns);
	if (born(walk))
		return true;
	return put(
		walk, graph->begin_ns, (struct critical_segment){.party = CAUSE_NOBODY, .is_absent = true});
}

static void reverse(struct critical_path *path)
{
	for (size_t i = 0; i < path->count / 2; i++) {
		struct critical_segment segment = path->segments[i];

		path->segments[i] = path->segments[path->count - 1 - i];
		path->segments[path->count - 1 - i] = segment;
	}
}

/* False: no memory. */
static bool walk_all(struct walk *walk)
{
	uint64_t end_ns = walk->graph->streams[walk->stream].end_ns;

	/* It has ended before the window does. */
	if (end_ns < walk->now_ns &&
		!put(walk, end_ns, (struct critical_segment){.party = CAUSE_NOBODY, .is_absent = true}))
		return false;
	while (walk->now_ns > walk->graph->begin_ns)
		if (!step(walk))
			return false;
	return true;
}

int critical_path_walk(struct critical_path *path, const struct critical_graph *graph, struct error *error)
{
	struct walk walk = {.graph = graph, .path = path, .stream = graph->last, .now_ns = graph->end_ns};
	bool is_done;

	*path = (struct critical_path){0};
	if (graph->last >= graph->stream_count)
		return error_set(error, ERROR_EMPTY, "no CPU thread was monitored in this window");
	walk.places = places_make(graph);
	is_done = walk.places && walk_all(&walk);
	free(walk.places);
	if (!is_done)
		return error_memory(error);
	reverse(path);
	return 0;
}

void critical_path_fini(struct critical_path *path)
{
	free(path->segments);
	*path = (struct critical_path){0};
}
