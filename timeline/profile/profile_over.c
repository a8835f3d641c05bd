/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_over.c - one tree of all streams, then one of each group: a node of a group is the node with the
 * same key below the same parent. Memory does not grow with the groups.
 */
#include "timeline/profile/profile_over.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/profile/profile_tree.h"

double profile_spread_variation(const struct profile_spread *spread)
{
	return spread->mean != 0 ? spread->deviation / spread->mean : NAN;
}

/* ---- groups ---- */

static int groups_make(struct stream_groups *groups, struct run *run, const struct select *select,
	enum stream_groups_by by, bool has_labels, struct arena *arena, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = profile_streams(select, &count);
	int rc = stream_groups_make(groups, run, streams, count, by, has_labels, arena, error);

	if (rc == 0 && !groups->count)
		return error_set(error, ERROR_EMPTY,
			"by %s: no chosen stream of %s has one; hpct-info --streams lists what they have",
			stream_groups_name(by), run_path(run));
	return rc;
}

/* ---- spreads ---- */

/* Of the groups that have a row (Welford's); those that have not are added at the end, as zeros. */
struct sums {
	double count, sum, mean, squares, min, max;
};

static void sums_add(struct sums *sums, double value)
{
	double off = value - sums->mean;

	sums->min = sums->count && sums->min < value ? sums->min : value;
	sums->max = sums->count && sums->max > value ? sums->max : value;
	sums->count++;
	sums->sum += value;
	sums->mean += off / sums->count;
	sums->squares += off * (value - sums->mean);
}

static struct profile_spread spread_of(const struct sums *sums, double groups)
{
	double absent = groups - sums->count, mean = sums->sum / groups;
	double squares = sums->squares + sums->mean * sums->mean * sums->count * absent / groups;
	bool has_zero = absent > 0;

	return (struct profile_spread){.sum = sums->sum,
		.mean = mean,
		.min = has_zero && sums->min > 0 ? 0 : sums->min,
		.max = has_zero && sums->max < 0 ? 0 : sums->max,
		.deviation = sqrt(squares / groups)};
}

/* Adds a group's tree. `map`: the node of all for each of the group's, whose parents come first. */
static void add_tree(
	struct sums *sums, const struct profile_tree *all, const struct profile_tree *tree, uint32_t *map)
{
	size_t width = 2 * tree->metric_count;

	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		struct profile_tree_key key =
			*(const struct profile_tree_key *)key_ids_key(&tree->nodes, node);

		if (key.parent != PROFILE_TREE_NONE)
			key.parent = map[key.parent];
		map[node] = node && key.parent == PROFILE_TREE_NONE ? PROFILE_TREE_NONE
								    : key_ids_find(&all->nodes, &key);
		for (size_t i = 0; map[node] != PROFILE_TREE_NONE && i < width; i++)
			sums_add(&sums[map[node] * width + i],
				profile_value_real(&tree->metrics[i % tree->metric_count],
					tree->values[node * width + i]));
	}
}

static int add_group(struct sums *sums, const struct profile *profile, const struct profile_tree *all,
	const struct profile_part *part, struct error *error)
{
	struct profile_tree tree;
	uint32_t *map;
	int rc = profile_tree_of(&tree, profile, part, error);

	if (rc < 0)
		return rc;
	map = calloc(tree.nodes.count, sizeof *map);
	if (map)
		add_tree(sums, all, &tree, map);
	free(map);
	profile_tree_fini(&tree);
	return map ? 0 : error_memory(error);
}

static int add_groups(struct sums *sums, const struct profile *profile, const struct profile_tree *all,
	const struct stream_groups *groups, struct profile_part part, struct error *error)
{
	int rc = 0;

	for (size_t i = 0; i < groups->count && rc == 0; i++) {
		part.streams = groups->streams + groups->groups[i].first;
		part.count = groups->groups[i].count;
		rc = add_group(sums, profile, all, &part, error);
	}
	return rc;
}

/* A row's values are where its node's are. */
static size_t place_of(const struct profile *profile, size_t row)
{
	return (size_t)(profile->rows[row].inclusive - profile->rows[0].inclusive);
}

static int spreads_make(struct profile_over *over, const struct profile *profile, const struct sums *sums,
	struct arena *arena, struct error *error)
{
	size_t width = 2 * profile->metric_count;

	over->spreads = arena_calloc(arena, profile->count * width + 1, sizeof *over->spreads);
	if (!over->spreads)
		return error_memory(error);
	for (size_t row = 0; row < profile->count; row++)
		for (size_t i = 0; i < width; i++)
			over->spreads[row * width + i] =
				spread_of(&sums[place_of(profile, row) + i], (double)over->groups);
	return 0;
}

int profile_over_compute(struct profile *profile, struct profile_over *over, struct run *run,
	const struct select *select, enum profile_view view, enum stream_groups_by by, struct arena *arena,
	struct error *error)
{
	struct profile_part part = {.run = run, .select = select, .view = view, .arena = arena};
	struct stream_groups groups = {0};
	struct profile_tree all;
	struct sums *sums;
	int rc = groups_make(&groups, run, select, by, false, arena, error);

	*over = (struct profile_over){.groups = groups.count};
	if (rc == 0)
		rc = profile_compute_tree(profile, &all, run, select, view, arena, error);
	if (rc < 0)
		return rc;
	sums = calloc((size_t)all.nodes.count * 2 * profile->metric_count + 1, sizeof *sums);
	rc = sums ? add_groups(sums, profile, &all, &groups, part, error) : error_memory(error);
	if (rc == 0)
		rc = spreads_make(over, profile, sums, arena, error);
	free(sums);
	profile_tree_fini(&all);
	return rc;
}

/* ---- each group by itself ---- */

static int each_fill(struct profile_each *each, const struct profile *profile,
	const struct profile_part *part, struct error *error)
{
	struct profile_tree tree;
	int rc;

	each->values = arena_calloc(part->arena, profile->metric_count + 1, sizeof *each->values);
	if (!each->values)
		return error_memory(error);
	rc = profile_tree_of(&tree, profile, part, error);
	if (rc < 0)
		return rc;
	for (size_t m = 0; tree.nodes.count && m < profile->metric_count; m++)
		each->values[m] = profile_value_real(&profile->metrics[m], tree.values[m]);
	profile_tree_fini(&tree);
	return 0;
}

int profile_each_compute(struct profile *profile, struct profile_each **each, size_t *count, struct run *run,
	const struct select *select, enum stream_groups_by by, bool has_labels, struct arena *arena,
	struct error *error)
{
	struct profile_part part = {.run = run, .select = select, .view = PROFILE_TOP_DOWN, .arena = arena};
	struct stream_groups groups = {0};
	int rc = groups_make(&groups, run, select, by, has_labels, arena, error);

	if (rc == 0)
		rc = profile_compute(profile, run, select, PROFILE_TOP_DOWN, arena, error);
	*each = rc ? NULL : arena_calloc(arena, groups.count + 1, sizeof **each);
	*count = groups.count;
	if (rc == 0 && !*each)
		rc = error_memory(error);
	for (uint32_t i = 0; i < groups.count && rc == 0; i++) {
		struct profile_each *group = &(*each)[i];

		group->key = groups.groups[i].label;
		group->streams = groups.groups[i].count;
		part.streams = groups.streams + groups.groups[i].first;
		part.count = group->streams;
		rc = each_fill(group, profile, &part, error);
	}
	return rc;
}
