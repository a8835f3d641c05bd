/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dividing.c - adds up each thread's work by scope, follows the callee with most of it from the root down,
 * looks at its waits where work alone does not divide, and lets the threads vote once all ways are known.
 */
#include "timeline/sum/dividing.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/sum/window.h"

#define LEVELS_MAX 64u /* recursion divides nothing */

/* What is known of a scope: of the thread that is looked at, then of all. */
struct weight {
	uint64_t time_ns;	  /* the thread's, with callees */
	uint64_t above_ns, in_ns; /* work of the threads for which it stands above the picture, or in it */
	bool is_chosen;		  /* on the thread's way down */
};

/* A thread's way from the root down. */
struct way {
	uint32_t stream;		   /* index among those looked at */
	uint32_t function[LEVELS_MAX + 1]; /* by level; roots are no frames of the program */
	uint32_t above;			   /* frames at levels below this stand above the picture */
	uint32_t above_waits; /* the same where waits count, too; 0: they divide nothing either */
	bool ends;	      /* the frame at that level mostly works itself: nothing divides */
	bool is_shared;	      /* ... and others' ways end in it, too */
};

struct search {
	struct run *run;
	struct weight *weights; /* by scope */
	uint32_t count;
	uint32_t *touched; /* scopes of the thread */
	uint32_t touched_count;
	struct callee {
		uint32_t function;
		uint64_t time_ns;
	} * callees;
	struct leaf {
		uint32_t scope;
		uint32_t stream; /* index among those looked at */
		uint64_t time_ns;
	} * leaves; /* of all threads */
	size_t leaf_count, leaf_capacity;
	struct way *ways; /* of the threads of which something is known */
	uint32_t way_count;
};

static bool grow(struct search *search, uint32_t count)
{
	size_t room = (size_t)count + 1;

	if (!array_resize_zero(&search->weights, search->count, room, sizeof(*search->weights)) ||
		!array_resize(&search->touched, room, sizeof(*search->touched)) ||
		!array_resize(&search->callees, room, sizeof(*search->callees)))
		return false;
	search->count = count;
	return true;
}

static bool add_leaf(struct search *search, uint32_t scope, uint32_t stream, uint64_t time_ns)
{
	if (!array_widen(
		    &search->leaves, &search->leaf_capacity, search->leaf_count, sizeof(*search->leaves)))
		return false;
	search->leaves[search->leaf_count++] = (struct leaf){scope, stream, time_ns};
	return true;
}

/* ---- one thread ---- */

/* What is deeper than any level is of no vote. */
static void add_path(struct search *search, uint32_t scope, uint64_t time_ns)
{
	scope = run_scope_at(search->run, scope, LEVELS_MAX);
	for (; scope != UINT32_MAX; scope = run_scope(search->run, scope)->parent) {
		struct weight *weight = &search->weights[scope];

		if (!weight->time_ns)
			search->touched[search->touched_count++] = scope;
		weight->time_ns += time_ns;
	}
}

static int compare_callees(const void *a, const void *b)
{
	const struct callee *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

/* The function with most of the time among callees of the chosen scopes, that time and that of all callees.
 */
static uint32_t largest_callee(struct search *search, uint32_t level, uint64_t *most_ns, uint64_t *all_ns)
{
	uint32_t best = UINT32_MAX, count = 0;
	uint64_t time_ns = 0;

	*most_ns = *all_ns = 0;
	for (uint32_t i = 0; i < search->touched_count; i++) {
		const struct run_scope *s = run_scope(search->run, search->touched[i]);

		if (s->depth == level && search->weights[s->parent].is_chosen)
			search->callees[count++] =
				(struct callee){s->function, search->weights[search->touched[i]].time_ns};
	}
	qsort(search->callees, count, sizeof(*search->callees), compare_callees);
	for (uint32_t i = 0; i < count; i++) {
		bool is_next = i && search->callees[i].function == search->callees[i - 1].function;

		time_ns = (is_next ? time_ns : 0) + search->callees[i].time_ns;
		*all_ns += search->callees[i].time_ns;
		if (time_ns > *most_ns)
			best = search->callees[i].function, *most_ns = time_ns;
	}
	return best;
}

static uint64_t choose_roots(struct search *search)
{
	uint64_t all_ns = 0;

	for (uint32_t i = 0; i < search->touched_count; i++) {
		struct weight *weight = &search->weights[search->touched[i]];

		weight->is_chosen = run_scope(search->run, search->touched[i])->depth == 0;
		all_ns += weight->is_chosen ? weight->time_ns : 0;
	}
	return all_ns;
}

/* The function's scopes below the chosen ones are chosen, too. */
static uint64_t choose(struct search *search, uint32_t level, uint32_t function)
{
	uint64_t chosen_ns = 0;

	for (uint32_t i = 0; i < search->touched_count; i++) {
		const struct run_scope *s = run_scope(search->run, search->touched[i]);
		struct weight *weight = &search->weights[search->touched[i]];

		if (s->depth != level || s->function != function || !search->weights[s->parent].is_chosen)
			continue;
		weight->is_chosen = true;
		chosen_ns += weight->time_ns;
	}
	return chosen_ns;
}

static void find_way(struct search *search, struct way *way)
{
	uint64_t here_ns = choose_roots(search);

	way->above = 0;
	for (uint32_t level = 1; level < LEVELS_MAX; level++) {
		uint64_t most_ns, all_ns, above_ns = here_ns;
		uint32_t function = largest_callee(search, level, &most_ns, &all_ns);

		/* a frame that mostly works itself is what there is to see */
		way->ends = function == UINT32_MAX || all_ns < here_ns - all_ns;
		if (way->ends)
			return;
		way->function[level] = function;
		way->above = level;
		here_ns = choose(search, level, function);
		/* the roots are no frame of the program's */
		if (level > 1 && (__uint128_t)most_ns * 8 < (__uint128_t)above_ns * DIVIDING_EIGHTHS)
			return;
	}
}

/* How many levels of a path are the way's. */
static uint32_t follows(const struct search *search, const struct way *way, uint32_t scope)
{
	uint32_t level = 0;

	scope = run_scope_at(search->run, scope, way->above);
	for (; scope != UINT32_MAX; scope = run_scope(search->run, scope)->parent) {
		const struct run_scope *s = run_scope(search->run, scope);

		if (s->depth && s->function != way->function[s->depth])
			level = 0;
		else if (!level)
			level = s->depth;
	}
	return level;
}

/* Where work goes one way down to its end, it may be waits that divide the time: at the first frame that also
 * waits somewhere else, in another callee. */
static void look_at_waits(const struct search *search, struct way *way, const struct window *window)
{
	uint64_t whole_ns[LEVELS_MAX + 2] = {0};
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t scope =
			times[i].context ? run_context(search->run, times[i].context)->scope : UINT32_MAX;

		if (scope != UINT32_MAX)
			whole_ns[follows(search, way, scope)] += times[i].time_ns;
	}
	for (uint32_t level = way->above; level > 0; level--)
		whole_ns[level] += whole_ns[level + 1];
	for (uint32_t level = 1; level < way->above && !way->above_waits; level++)
		if ((__uint128_t)whole_ns[level + 1] * 8 < (__uint128_t)whole_ns[level] * DIVIDING_EIGHTHS)
			way->above_waits = level + 1;
}

/* The frame in which the way ends is also the end of another's, below another caller: it does not tell what
 * the thread does. */
static bool is_shared_end(const struct search *search, const struct way *way)
{
	for (uint32_t i = 0; i < search->way_count && way->ends && way->above > 1; i++) {
		const struct way *other = &search->ways[i];

		if (other->ends && other->above &&
			other->function[other->above] == way->function[way->above] &&
			(other->above == 1 ||
				other->function[other->above - 1] != way->function[way->above - 1]))
			return true;
	}
	return false;
}

/* Such a way is followed no further than to where waits divide it, or to the caller. */
static void cut(struct way *way)
{
	if (way->above_waits) {
		way->above = way->above_waits;
		way->ends = false;
	} else {
		way->above--;
	}
}

/* Says of the frames on the way whether they are above, with the weight of the thread's time in them. */
static void vote(struct search *search, const struct way *way)
{
	choose_roots(search);
	for (uint32_t level = 1; level <= way->above; level++)
		choose(search, level, way->function[level]);
	for (uint32_t i = 0; i < search->touched_count; i++) {
		uint32_t depth = run_scope(search->run, search->touched[i])->depth;
		struct weight *weight = &search->weights[search->touched[i]];

		if (weight->is_chosen && depth < way->above)
			weight->above_ns += weight->time_ns;
		else if (weight->is_chosen && depth == way->above && way->ends)
			weight->in_ns += weight->time_ns;
	}
}

static void forget(struct search *search)
{
	for (uint32_t i = 0; i < search->touched_count; i++) {
		search->weights[search->touched[i]].time_ns = 0;
		search->weights[search->touched[i]].is_chosen = false;
	}
	search->touched_count = 0;
}

static bool is_counted(const struct window_time *time, bool only_work)
{
	return only_work ? extent_state_is_busy(time->state)
			 : time->state == EXTENT_SYNC || time->state == EXTENT_BLOCKED;
}

/* Time of work; of a thread that only waits, of its waits. */
static int take_times(struct search *search, const struct window *window, uint32_t stream, bool only_work,
	struct error *error)
{
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t scope;

		if (!times[i].context || !times[i].time_ns || !is_counted(&times[i], only_work))
			continue;
		scope = run_context(search->run, times[i].context)->scope;
		if (scope == UINT32_MAX)
			continue;
		if (run_scope_count(search->run) > search->count &&
			!grow(search, run_scope_count(search->run)))
			return error_memory(error);
		add_path(search, scope, times[i].time_ns);
		if (!add_leaf(search, scope, stream, times[i].time_ns))
			return error_memory(error);
	}
	return 0;
}

static int look_at(struct search *search, uint32_t id, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	struct way *way = &search->ways[search->way_count];
	struct window *window;
	int result = window_new(&window, search->run, error);

	if (result)
		return result;
	result = window_add_time(window, id, begin_ns, end_ns, error);
	if (!result)
		result = take_times(search, window, stream, true, error);
	if (!result && !search->touched_count)
		result = take_times(search, window, stream, false, error);
	if (!result && search->touched_count) {
		*way = (struct way){.stream = stream};
		find_way(search, way);
		if (way->ends)
			look_at_waits(search, way, window);
		search->way_count++;
	}
	forget(search);
	window_free(window);
	return result;
}

/* ---- all of them ---- */

/* Once all ways are known. Leaves of a thread stand side by side, in the order of the ways. */
static void vote_all(struct search *search)
{
	size_t leaf = 0;

	for (uint32_t i = 0; i < search->way_count; i++)
		search->ways[i].is_shared = is_shared_end(search, &search->ways[i]);
	for (uint32_t i = 0; i < search->way_count; i++) {
		struct way *way = &search->ways[i];

		for (; leaf < search->leaf_count && search->leaves[leaf].stream == way->stream; leaf++)
			add_path(search, search->leaves[leaf].scope, search->leaves[leaf].time_ns);
		if (way->is_shared)
			cut(way);
		vote(search, way);
		forget(search);
	}
}

static bool is_there(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	const struct store_stream *s = &run_stream_peek_unnamed(run, stream)->s;

	return s->kind == STORE_STREAM_CPU && s->begin_ns < end_ns && s->end_ns > begin_ns;
}

static uint32_t common_factor(uint32_t a, uint32_t b)
{
	return b ? common_factor(b, a % b) : a;
}

/* The threads that live in the window, in an order whose every beginning is spread evenly over them. */
static int list_streams(struct run *run, uint64_t begin_ns, uint64_t end_ns, uint32_t **order,
	uint32_t *count, struct error *error)
{
	uint32_t all = run_stream_count(run), there = 0, step;
	uint32_t *streams = calloc((size_t)all + 1, sizeof(*streams));

	*order = calloc((size_t)all + 1, sizeof(**order));
	if (!streams || !*order) {
		free(streams);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < all; i++)
		if (is_there(run, i, begin_ns, end_ns))
			streams[there++] = i;
	/* steps of the golden section go round without meeting */
	step = (uint32_t)(there * 0.618);
	while (there && common_factor(there, step) != 1)
		step++;
	for (uint32_t i = 0; i < there; i++)
		(*order)[i] = streams[(uint64_t)i * step % there];
	*count = there;
	free(streams);
	return 0;
}

static int look_at_all(struct search *search, uint64_t begin_ns, uint64_t end_ns, struct dividing *dividing,
	struct error *error)
{
	uint32_t *order = NULL, count = 0;
	int result = list_streams(search->run, begin_ns, end_ns, &order, &count, error);

	dividing->is_choice = true;
	for (uint32_t i = 0; i < count && !result; i++) {
		if (i == DIVIDING_STREAMS || search->leaf_count > DIVIDING_PATHS)
			goto out;
		dividing->streams[dividing->count++] = order[i];
		result = look_at(search, order[i], i, begin_ns, end_ns, error);
	}
	dividing->is_choice = false;
out:
	free(order);
	return result;
}

static int tell_run(struct search *search, struct dividing *dividing, struct error *error)
{
	uint32_t *passing = calloc((size_t)search->count + 1, sizeof(*passing)), count = 0;
	int result;

	if (!passing)
		return error_memory(error);
	for (uint32_t i = 0; i < search->count; i++)
		if (search->weights[i].above_ns > search->weights[i].in_ns)
			passing[count++] = i;
	result = run_set_passing(search->run, passing, count, &dividing->is_changed, error);
	free(passing);
	return result;
}

/* Most of the work is at most so deep: a path that is hardly ever taken makes no row taller. */
static uint32_t depth_of_most(
	const struct leaf *leaves, size_t count, struct run *run, uint32_t stream, uint64_t all_ns)
{
	uint64_t deep_ns[LEVELS_MAX + 1] = {0}, above_ns = 0;
	uint32_t levels = LEVELS_MAX;

	for (size_t i = 0; i < count; i++) {
		uint32_t top = run_depth_of(run, leaves[i].scope, run_depth_below(0));
		uint32_t depth = run_scope(run, leaves[i].scope)->depth;
		uint32_t level = depth >= top ? depth - top + 1 : 1;

		if (leaves[i].stream == stream)
			deep_ns[level < LEVELS_MAX ? level : LEVELS_MAX] += leaves[i].time_ns;
	}
	while (levels > 1 && (above_ns += deep_ns[levels]) * 64 <= all_ns)
		levels--;
	return levels;
}

/* Leaves of a thread stand side by side. */
static void take_levels(struct search *search, struct dividing *dividing)
{
	uint64_t number_ns[LEVELS_MAX + 2] = {0};

	for (size_t from = 0, i; from < search->leaf_count; from = i) {
		uint32_t stream = search->leaves[from].stream;
		uint64_t all_ns = 0;

		for (i = from; i < search->leaf_count && search->leaves[i].stream == stream; i++) {
			uint32_t number =
				run_depth_of(search->run, search->leaves[i].scope, run_depth_below(0));

			all_ns += search->leaves[i].time_ns;
			number_ns[number < LEVELS_MAX ? number : LEVELS_MAX] += search->leaves[i].time_ns;
		}
		dividing->levels[stream] =
			depth_of_most(&search->leaves[from], i - from, search->run, stream, all_ns);
	}
	for (uint32_t number = 1; number <= LEVELS_MAX; number++)
		if (number_ns[number] > number_ns[dividing->depth])
			dividing->depth = number;
}

int dividing_find(
	struct run *run, uint64_t begin_ns, uint64_t end_ns, struct dividing *dividing, struct error *error)
{
	struct search search = {.run = run};
	int result = 0;

	*dividing = (struct dividing){0};
	dividing->streams = calloc(DIVIDING_STREAMS, sizeof(*dividing->streams));
	dividing->levels = calloc(DIVIDING_STREAMS, sizeof(*dividing->levels));
	search.ways = calloc(DIVIDING_STREAMS, sizeof(*search.ways));
	if (!dividing->streams || !dividing->levels || !search.ways || !grow(&search, run_scope_count(run)))
		result = error_memory(error);
	if (!result)
		result = look_at_all(&search, begin_ns, end_ns, dividing, error);
	if (!result)
		vote_all(&search);
	if (!result)
		result = tell_run(&search, dividing, error);
	if (!result)
		take_levels(&search, dividing);
	free(search.weights);
	free(search.touched);
	free(search.callees);
	free(search.leaves);
	free(search.ways);
	if (result)
		dividing_fini(dividing);
	return result;
}

void dividing_fini(struct dividing *dividing)
{
	free(dividing->streams);
	free(dividing->levels);
	*dividing = (struct dividing){0};
}

uint32_t dividing_levels(const struct dividing *dividing, uint32_t stream)
{
	for (uint32_t i = 0; i < dividing->count; i++)
		if (dividing->streams[i] == stream)
			return dividing->levels[i];
	return 0;
}
