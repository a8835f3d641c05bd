/* SPDX-License-Identifier: Apache-2.0 */
/* select_cost.c - see select_cost.h. */
#include "timeline/select/select_cost.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/sum/window.h"

/* A loop or a line in the code of a scope. */
struct place_key {
	uint64_t what; /* a loop, or the hash of a line's file */
	uint32_t scope, line;
	uint64_t is_loop;
};

struct select_cost {
	uint64_t total_ns;
	struct select_cost_time *scopes;
	uint32_t scope_count;
	struct key_ids places;
	struct select_cost_time *place_times;
	size_t place_room;
	bool failed;
};

static struct place_key loop_key(uint32_t scope, uint32_t loop)
{
	return (struct place_key){.what = loop, .scope = scope, .is_loop = 1};
}

static struct place_key line_key(uint32_t scope, const char *file, uint32_t line)
{
	return (struct place_key){.what = store_hash64(file, strlen(file), 0), .scope = scope, .line = line};
}

static void add_place(struct select_cost *cost, struct place_key key, struct select_cost_time time)
{
	uint32_t number = key_ids_put(&cost->places, &key, NULL);

	if (number == KEY_IDS_NONE || !array_reserve_zero(&cost->place_times, &cost->place_room,
					      cost->places.count, sizeof *cost->place_times)) {
		cost->failed = true;
		return;
	}
	cost->place_times[number].inclusive_ns += time.inclusive_ns;
	cost->place_times[number].own_ns += time.own_ns;
}

/* Time at a position in the code of a scope: of the loops around it, and of its line. */
static void add_position(struct select_cost *cost, const struct run *run, uint32_t scope, uint32_t loop,
	const char *file, uint32_t line, struct select_cost_time time)
{
	for (; loop != RUN_LOOP_NONE; loop = run_loop(run, loop)->parent)
		add_place(cost, loop_key(scope, loop), time);
	if (line)
		add_place(cost, line_key(scope, file, line), time);
}

static void add_own(struct select_cost *cost, const struct run *run, const struct window_time *piece)
{
	const struct run_context *context = run_context(run, piece->context);
	struct select_cost_time *scope, time = {piece->time_ns, piece->time_ns};

	cost->total_ns += piece->time_ns;
	if (context->scope == UINT32_MAX)
		return;
	scope = &cost->scopes[context->scope];
	scope->inclusive_ns += piece->time_ns;
	scope->own_ns += piece->time_ns;
	add_position(cost, run, context->scope, context->loop, context->file, context->line, time);
}

/* Scopes' parents come before them. */
static void add_callers(struct select_cost *cost, const struct run *run)
{
	for (uint32_t i = cost->scope_count; i-- > 0;) {
		const struct run_scope *scope = run_scope(run, i);
		struct select_cost_time time = {.inclusive_ns = cost->scopes[i].inclusive_ns};

		if (scope->parent == UINT32_MAX || !time.inclusive_ns)
			continue;
		cost->scopes[scope->parent].inclusive_ns += time.inclusive_ns;
		add_position(
			cost, run, scope->parent, scope->call_loop, scope->call_file, scope->call_line, time);
	}
}

static int add_all(
	struct select_cost *cost, struct run *run, const struct window *window, struct error *error)
{
	size_t count;
	const struct window_time *times = window_times(window, &count);

	for (size_t i = 0; i < count; i++) /* makes scopes */
		run_context(run, times[i].context);
	cost->scope_count = run_scope_count(run);
	cost->scopes = calloc((size_t)cost->scope_count + 1, sizeof *cost->scopes);
	if (!cost->scopes)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (times[i].context)
			add_own(cost, run, &times[i]);
	add_callers(cost, run);
	return cost->failed ? error_memory(error) : 0;
}

int select_cost_new(struct select_cost **result, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct select_cost *cost = calloc(1, sizeof *cost);
	struct window *window = NULL;
	int rc;

	if (!cost)
		return error_memory(error);
	key_ids_init(&cost->places, sizeof(struct place_key));
	rc = window_new(&window, run, error);
	if (!rc)
		rc = window_add_times(window, streams, count, begin_ns, end_ns, error);
	if (!rc)
		rc = add_all(cost, run, window, error);
	window_free(window);
	if (rc)
		select_cost_free(cost);
	else
		*result = cost;
	return rc;
}

void select_cost_free(struct select_cost *cost)
{
	if (!cost)
		return;
	key_ids_fini(&cost->places);
	free(cost->place_times);
	free(cost->scopes);
	free(cost);
}

uint64_t select_cost_total_ns(const struct select_cost *cost)
{
	return cost ? cost->total_ns : 0;
}

struct select_cost_time select_cost_scope(const struct select_cost *cost, uint32_t scope)
{
	return cost && scope < cost->scope_count ? cost->scopes[scope] : (struct select_cost_time){0};
}

static struct select_cost_time place_time(const struct select_cost *cost, struct place_key key)
{
	uint32_t number = cost ? key_ids_find(&cost->places, &key) : KEY_IDS_NONE;

	return number == KEY_IDS_NONE ? (struct select_cost_time){0} : cost->place_times[number];
}

struct select_cost_time select_cost_loop(const struct select_cost *cost, uint32_t scope, uint32_t loop)
{
	return place_time(cost, loop_key(scope, loop));
}

struct select_cost_time select_cost_line(
	const struct select_cost *cost, uint32_t scope, const char *file, uint32_t line)
{
	return place_time(cost, line_key(scope, file, line));
}
