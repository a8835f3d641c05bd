/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c - see regions.h. */
#include "blame/wait/regions.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/key_ids.h"
#include "timeline/sum/window.h"

static const char *const metric_names[REGION_SUMS] = {[REGION_COUNT] = "OMP:regions",
	[REGION_TIME] = "OMP:time",
	[REGION_LAST] = "OMP:last",
	[REGION_HELD] = "OMP:held",
	[REGION_CAPACITY] = "OMP:capacity",
	[REGION_WAITED] = "OMP:waited"};

struct region_search {
	struct run *run;
	struct key_ids scopes;
	struct key_ids pairs; /* region, stream */
	struct region *regions;
	struct region_part *parts;
	size_t region_count, region_capacity, part_count, part_capacity;
};

static int sum_of(const struct run *run, uint32_t metric)
{
	const char *name = metric < run_metric_count(run) ? run_metric_name(run, metric) : "";

	for (int i = 0; i < REGION_SUMS; i++)
		if (!strcmp(name, metric_names[i]))
			return i;
	return -1;
}

static bool run_has_regions(const struct run *run)
{
	for (uint32_t m = 0; m < run_metric_count(run); m++)
		if (sum_of(run, m) >= 0)
			return true;
	return false;
}

/* NULL: memory is out. */
static struct region *region_of(struct region_search *search, uint32_t context)
{
	uint32_t scope = run_context(search->run, context)->scope;
	uint32_t number = key_ids_put(&search->scopes, &scope, NULL);

	if (number == KEY_IDS_NONE)
		return NULL;
	if (number == search->region_count) {
		if (!array_widen(&search->regions, &search->region_capacity, search->region_count,
			    sizeof *search->regions))
			return NULL;
		search->regions[search->region_count++] =
			(struct region){.context = context, .scope = scope, .stream = UINT32_MAX};
	}
	return &search->regions[number];
}

static struct region_part *part_of(struct region_search *search, uint32_t region, uint32_t stream)
{
	const uint32_t key[] = {region, stream};
	uint32_t number = key_ids_put(&search->pairs, key, NULL);

	if (number == KEY_IDS_NONE)
		return NULL;
	if (number == search->part_count) {
		if (!array_widen(&search->parts, &search->part_capacity, search->part_count,
			    sizeof *search->parts))
			return NULL;
		search->parts[search->part_count++] =
			(struct region_part){.region = region, .stream = stream};
	}
	return &search->parts[number];
}

static bool weight_add(struct region_search *search, uint32_t stream, const struct window_weight *weight)
{
	int sum = sum_of(search->run, weight->metric);
	struct region *region = sum < 0 ? NULL : region_of(search, weight->context);
	struct region_part *part =
		region ? part_of(search, (uint32_t)(region - search->regions), stream) : NULL;

	if (sum < 0 || !weight->weight)
		return true;
	if (!part)
		return false;
	region->sums[sum] += weight->weight;
	part->sums[sum] += weight->weight;
	return true;
}

static int stream_add(struct region_search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	const struct window_weight *weights;
	struct window *window;
	size_t count = 0;
	int result = window_new(&window, search->run, error);

	if (result)
		return result;
	result = window_add_values(window, &stream, 1, begin_ns, end_ns, error);
	weights = window_weights(window, &count);
	for (size_t i = 0; i < count && !result; i++)
		if (!weight_add(search, stream, &weights[i]))
			result = error_memory(error);
	window_free(window);
	return result;
}

/* ---- the list ---- */

static int region_compare(const void *left, const void *right)
{
	const struct region *a = left, *b = right;

	if (a->sums[REGION_HELD] != b->sums[REGION_HELD])
		return a->sums[REGION_HELD] > b->sums[REGION_HELD] ? -1 : 1;
	return a->context < b->context ? -1 : a->context > b->context;
}

static void last_find(const struct region_search *search, struct region *region, uint32_t number)
{
	for (size_t i = 0; i < search->part_count; i++) {
		const struct region_part *part = &search->parts[i];

		if (part->region != number || !part->sums[REGION_LAST] ||
			(region->stream != UINT32_MAX && part->sums[REGION_HELD] <= region->stream_held_ns))
			continue;
		region->stream = part->stream;
		region->stream_last = part->sums[REGION_LAST];
		region->stream_held_ns = part->sums[REGION_HELD];
	}
}

/* The parts' numbers are those before the list was sorted. */
static void parts_renumber(struct region_search *search, const struct regions *regions)
{
	for (size_t i = 0; i < search->part_count; i++) {
		uint32_t scope = search->regions[search->parts[i].region].scope, at = 0;

		while (regions->regions[at].scope != scope)
			at++;
		search->parts[i].region = at;
	}
}

static int list_make(
	struct regions *regions, struct region_search *search, struct arena *arena, struct error *error)
{
	size_t count = search->region_count, part_count = search->part_count;

	regions->regions = arena_calloc(arena, count + 1, sizeof *regions->regions);
	regions->parts = arena_calloc(arena, part_count + 1, sizeof *regions->parts);
	if (!regions->regions || !regions->parts)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		last_find(search, &search->regions[i], i);
		for (int sum = 0; sum < REGION_SUMS; sum++)
			regions->sums[sum] += search->regions[i].sums[sum];
		regions->regions[i] = search->regions[i];
	}
	qsort(regions->regions, count, sizeof *regions->regions, region_compare);
	regions->count = count;
	parts_renumber(search, regions);
	if (part_count)
		memcpy(regions->parts, search->parts, part_count * sizeof *regions->parts);
	regions->part_count = part_count;
	return 0;
}

int regions_sum(struct regions *regions, struct run *run, const uint32_t *streams, uint32_t stream_count,
	uint64_t begin_ns, uint64_t end_ns, struct arena *arena, struct error *error)
{
	struct region_search search = {.run = run};
	int result = 0;

	*regions = (struct regions){0};
	if (!run_has_regions(run))
		return 0;
	end_ns += end_ns == run_end_ns(run); /* the last sums may come with the run's end */
	key_ids_init(&search.scopes, sizeof(uint32_t));
	key_ids_init(&search.pairs, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < stream_count && !result; i++)
		if (run_stream(run, streams[i])->s.kind == STORE_STREAM_CPU)
			result = stream_add(&search, streams[i], begin_ns, end_ns, error);
	if (!result)
		result = list_make(regions, &search, arena, error);
	free(search.regions);
	free(search.parts);
	key_ids_fini(&search.scopes);
	key_ids_fini(&search.pairs);
	return result;
}

/* ---- what a thread did there ---- */

static bool is_below(const struct run *run, uint32_t scope, uint32_t above)
{
	while (scope != UINT32_MAX && scope != above)
		scope = run_scope(run, scope)->parent;
	return scope == above;
}

int regions_work(uint32_t *context, struct run *run, const struct idle_question *question, uint32_t stream,
	const struct region *region, struct error *error)
{
	const struct window_time *times;
	uint64_t most_ns = 0;
	struct window *window;
	size_t count = 0;
	int result = window_new(&window, run, error);

	*context = region->context;
	if (result)
		return result;
	result = window_add_time(window, stream, question->begin_ns, question->end_ns, error);
	times = window_times(window, &count);
	for (size_t i = 0; i < count && !result; i++) {
		if (!extent_state_is_busy(times[i].state) || times[i].time_ns <= most_ns ||
			!times[i].context || wait_functions_match(question->waits, times[i].context) ||
			!is_below(run, run_context(run, times[i].context)->scope, region->scope))
			continue;
		most_ns = times[i].time_ns;
		*context = times[i].context;
	}
	window_free(window);
	return result;
}
