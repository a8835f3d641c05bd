/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.c - see profile_merge.h. Puts the rows of each profile, parents first, into one tree of
 * nodes; equal rows share a node, in which each metric of each profile has a place of its own.
 */
#include "timeline/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/path.h"
#include "timeline/profile/function_homes.h"
#include "timeline/profile/profile_tree.h"

#define NO_PLACE UINT32_MAX

struct merge {
	const struct profile *profiles;
	const char *const *names; /* NULL: a union */
	size_t count;
	struct profile *merged;
	uint32_t *place; /* [profile][metric]: its metric of the merged one; NO_PLACE: it has none */
	bool *differs;	 /* [metric of the merged one]: it is the difference of the two before it */
	size_t widest;	 /* metrics of a profile, at most */
	bool is_top_down, has_difference;
	struct function_homes homes;
	const struct profile_row **like; /* by node: a row that it stands for */
	size_t like_capacity;
};

/* ---- metrics ---- */

static size_t find_metric(const struct profile *profile, const char *name)
{
	size_t at = 0;

	while (at < profile->metric_count && strcmp(profile->metrics[at].name, name) != 0)
		at++;
	return at;
}

static bool add_metric(struct merge *merge, size_t of, size_t at, struct arena *arena)
{
	struct profile *merged = merge->merged;
	struct profile_metric metric = merge->profiles[of].metrics[at];

	if (merge->names)
		metric.name = arena_printf(arena, "%s:%s", merge->names[of], metric.name);
	merge->place[of * merge->widest + at] = (uint32_t)merged->metric_count;
	merged->metrics[merged->metric_count++] = metric;
	return metric.name != NULL;
}

/* Both have it, and the last two are its places. */
static bool add_difference(struct merge *merge, const struct profile_metric *of, struct arena *arena)
{
	size_t at = merge->merged->metric_count++;
	struct profile_metric *metric = &merge->merged->metrics[at];

	*metric = *of;
	metric->is_real = true;
	metric->name = arena_printf(arena, "%s-%s:%s", merge->names[1], merge->names[0], of->name);
	merge->differs[at] = true;
	return metric->name != NULL;
}

/* A metric of the first profile that has one of that name, and those of the others. */
static bool add_alike(struct merge *merge, size_t first, size_t metric, struct arena *arena)
{
	const struct profile_metric *of = &merge->profiles[first].metrics[metric];
	size_t had = 0;

	for (size_t p = 0; p < merge->count; p++) {
		size_t at = find_metric(&merge->profiles[p], of->name);

		if (at == merge->profiles[p].metric_count)
			continue;
		if (p < first)
			return true; /* that one brought it along */
		if (!merge->names)
			return add_metric(merge, p, at, arena);
		if (!add_metric(merge, p, at, arena))
			return false;
		had++;
	}
	return had != 2 || !merge->has_difference || add_difference(merge, of, arena);
}

static int make_metrics(struct merge *merge, struct arena *arena, struct error *error)
{
	size_t all = 0;
	bool is_ok;

	for (size_t p = 0; p < merge->count; p++) {
		all += merge->profiles[p].metric_count;
		if (merge->profiles[p].metric_count > merge->widest)
			merge->widest = merge->profiles[p].metric_count;
	}
	merge->merged->metrics = arena_calloc(arena, 2 * all + 1, sizeof *merge->merged->metrics);
	merge->differs = arena_calloc(arena, 2 * all + 1, sizeof *merge->differs);
	merge->place = arena_calloc(arena, merge->count * merge->widest + 1, sizeof *merge->place);
	is_ok = merge->merged->metrics && merge->differs && merge->place;
	for (size_t i = 0; i < merge->count * merge->widest && is_ok; i++)
		merge->place[i] = NO_PLACE;
	for (size_t p = 0; p < merge->count; p++)
		for (size_t m = 0; m < merge->profiles[p].metric_count && is_ok; m++)
			is_ok = add_alike(merge, p, m, arena);
	return is_ok ? 0 : error_memory(error);
}

/* ---- rows ---- */

static struct profile_tree_key key_of(
	const struct merge *merge, const struct profile_row *row, uint32_t parent)
{
	struct store_hash hash = store_hash128(row->name, row->name_bytes);
	struct profile_tree_key key = {
		.what = hash.low, .file = hash.high, .parent = parent, .kind = (uint32_t)row->kind};

	key.file ^= function_homes_hash(&merge->homes, row);

	if (!merge->is_top_down) {
		key.line = row->line;
		key.file ^= store_hash64(path_base(row->file), strlen(path_base(row->file)), 0);
	}
	return key;
}

static bool put_like(struct merge *merge, uint32_t node, const struct profile_row *row)
{
	if (!array_widen(&merge->like, &merge->like_capacity, node, sizeof(const struct profile_row *)))
		return false;
	merge->like[node] = row;
	return true;
}

static void spread(
	const struct merge *merge, size_t of, const union profile_value *from, union profile_value *to)
{
	memset(to, 0, merge->merged->metric_count * sizeof *to);
	for (size_t m = 0; m < merge->profiles[of].metric_count; m++) {
		uint32_t place = merge->place[of * merge->widest + m];

		if (place != NO_PLACE)
			to[place] = from[m];
	}
}

/* `nodes`: by row. */
static int put_rows(struct merge *merge, struct profile_tree *tree, size_t of, uint32_t *nodes,
	union profile_value *values, struct error *error)
{
	const struct profile *profile = &merge->profiles[of];

	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_row *row = &profile->rows[i];
		uint32_t known = tree->nodes.count;
		struct profile_tree_key key;

		nodes[i] = PROFILE_TREE_ROOT;
		if (i) {
			key = key_of(merge, row, nodes[row->parent]);
			nodes[i] = profile_tree_node(tree, &key);
		}
		if (tree->failed || ((i == 0 || nodes[i] == known) && !put_like(merge, nodes[i], row)))
			return error_memory(error);
		spread(merge, of, row->inclusive, values);
		profile_tree_add_inclusive(tree, nodes[i], values);
		spread(merge, of, row->exclusive, values);
		profile_tree_add_exclusive(tree, nodes[i], values);
	}
	return 0;
}

static void fill_differences(struct merge *merge, struct profile_tree *tree)
{
	const struct profile *merged = merge->merged;

	for (size_t m = 0; m < merged->metric_count; m++) {
		if (!merge->differs[m])
			continue;
		for (size_t i = 0; i < 2 * (size_t)tree->nodes.count; i++) {
			union profile_value *values = tree->values + i * merged->metric_count;

			values[m].real = profile_value_real(&merged->metrics[m - 1], values[m - 1]) -
					 profile_value_real(&merged->metrics[m - 2], values[m - 2]);
		}
	}
}

static int put_all(struct merge *merge, struct profile_tree *tree, struct error *error)
{
	union profile_value *values = calloc(merge->merged->metric_count + 1, sizeof *values);
	size_t most = 0;
	uint32_t *nodes;
	int rc = 0;

	for (size_t p = 0; p < merge->count; p++)
		most = merge->profiles[p].count > most ? merge->profiles[p].count : most;
	nodes = calloc(most + 1, sizeof *nodes);
	if (!values || !nodes)
		rc = error_memory(error);
	for (size_t p = 0; p < merge->count && rc == 0; p++)
		rc = put_rows(merge, tree, p, nodes, values, error);
	free(values);
	free(nodes);
	return rc;
}

/* ---- what is in one of them alone ---- */

/* The number of each row's node, of all profiles one after another; of a node in how many profiles it is. */
struct places {
	uint32_t *nodes, *profiles, *last;
	size_t count, capacity, last_capacity;
};

static bool put_place(struct places *places, uint32_t node, uint32_t profile)
{
	if (!array_reserve_zero(&places->profiles, &places->capacity, (size_t)node + 1, sizeof(uint32_t)) ||
		!array_reserve_zero(
			&places->last, &places->last_capacity, (size_t)node + 1, sizeof(uint32_t)))
		return false;
	places->profiles[node] += places->last[node] != profile + 1;
	places->last[node] = profile + 1;
	return true;
}

static int find_places(struct places *places, const struct merge *merge, struct error *error)
{
	struct profile_tree tree = {0};
	size_t first = 0;
	bool is_ok = profile_tree_init(&tree, NULL, 0) == 0;

	for (uint32_t p = 0; p < merge->count && is_ok; p++) {
		const struct profile *profile = &merge->profiles[p];

		for (size_t i = 0; i < profile->count && is_ok; i++) {
			const struct profile_row *row = &profile->rows[i];
			struct profile_tree_key key;
			uint32_t node = PROFILE_TREE_ROOT;

			if (i) {
				key = key_of(merge, row, places->nodes[first + row->parent]);
				node = profile_tree_node(&tree, &key);
			}
			places->nodes[first + i] = node;
			is_ok = !tree.failed && put_place(places, node, p);
		}
		first += profile->count;
	}
	profile_tree_fini(&tree);
	return is_ok ? 0 : error_memory(error);
}

static struct profile_lone lone_of(const struct profile *profile, const struct places *places, size_t first)
{
	struct profile_lone lone = {.rows = profile->count};
	double whole = 0, sum = 0;

	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_row *row = &profile->rows[i];
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are no nodes without it */
		bool is_lone = places->profiles[places->nodes[first + i]] == 1;
		double own = profile->metric_count
				     ? profile_value_real(&profile->metrics[0], row->exclusive[0])
				     : 0;

		lone.lone += is_lone;
		sum += is_lone ? own : 0;
		whole += own;
	}
	lone.percent = whole > 0 ? 100 * sum / whole : 0;
	lone.metric = profile->metric_count ? profile->metrics[0].name : NULL;
	return lone;
}

int profile_merge_lone(const struct profile_lone **result, const struct profile *profiles, size_t count,
	bool is_top_down, struct arena *arena, struct error *error)
{
	struct merge merge = {.profiles = profiles, .count = count, .is_top_down = is_top_down};
	struct profile_lone *lone = arena_calloc(arena, count + 1, sizeof *lone);
	struct places places = {0};
	size_t rows = 0, first = 0;
	int rc;

	for (size_t p = 0; p < count; p++)
		rows += profiles[p].count;
	places.nodes = calloc(rows + 1, sizeof *places.nodes);
	rc = function_homes_init(&merge.homes, profiles, count) == 0 && lone && places.nodes
		     ? find_places(&places, &merge, error)
		     : error_memory(error);
	for (size_t p = 0; p < count && rc == 0; p++) {
		lone[p] = lone_of(&profiles[p], &places, first);
		first += profiles[p].count;
	}
	function_homes_fini(&merge.homes);
	free(places.nodes);
	free(places.profiles);
	free(places.last);
	*result = lone;
	return rc;
}

/* ---- the whole ---- */

int profile_merge(struct profile *merged, const struct profile *profiles, const char *const *names,
	size_t count, bool is_top_down, bool has_difference, struct arena *arena, struct error *error)
{
	struct merge merge = {.profiles = profiles,
		.names = names,
		.count = count,
		.merged = merged,
		.is_top_down = is_top_down,
		.has_difference = has_difference && count == 2};
	struct profile_tree tree = {0};
	int rc;

	*merged = (struct profile){0};
	rc = function_homes_init(&merge.homes, profiles, count) < 0 ? error_memory(error)
								    : make_metrics(&merge, arena, error);
	if (rc == 0 && profile_tree_init(&tree, merged->metrics, merged->metric_count) < 0)
		rc = error_memory(error);
	if (rc == 0)
		rc = put_all(&merge, &tree, error);
	if (rc == 0 && merge.like) {
		fill_differences(&merge, &tree);
		tree.like = merge.like;
		rc = profile_tree_rows(&tree, NULL, UINT32_MAX, merged, arena, error);
	}
	profile_tree_fini(&tree);
	function_homes_fini(&merge.homes);
	free(merge.like);
	return rc;
}
