/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_flame.c - see page_flame.h: paths become the rows of a top-down profile, a row per function and
 * caller, which flame.h lays out.
 */
#include "formats/page/page_flame.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/profile/profile.h"

struct tree {
	const struct path_sums *sums;
	struct key_ids keys; /* caller's row, function: a row */
	struct profile_row *rows;
	union profile_value *values; /* inclusive, of each row */
	size_t row_room, value_room;
	uint32_t *scopes; /* scratch: a path from the leaf up */
	size_t scope_room;
};

static bool is_time_source(const struct path_sums *sums, uint32_t metric)
{
	uint32_t count;
	const uint32_t *streams = select_streams(sums->select, &count);

	for (uint32_t i = 0; i < count; i++)
		if (strcmp(run_stream_read(sums->run, streams[i])->metric,
			    run_metric_name(sums->run, metric)) == 0)
			return true;
	return false;
}

/* The lower, the rather. */
static int rank_of(const struct path_sums *sums, size_t at)
{
	uint32_t metric = sums->metrics[at];

	if (metric >= run_metric_count(sums->run))
		return metric == UINT32_MAX ? 3 : 2;
	return is_time_source(sums, metric) ? 0 : 1;
}

size_t page_flame_metric(const struct path_sums *sums)
{
	size_t best = 0;

	for (size_t i = 1; i < sums->metric_count; i++) {
		int rank = rank_of(sums, i), before = rank_of(sums, best);

		if (rank < before ||
			(rank == before && rank < 2 &&
				run_metric_compare(sums->run, sums->metrics[i], sums->metrics[best]) < 0))
			best = i;
	}
	return best;
}

static bool find_row(struct tree *tree, uint32_t parent, uint32_t function, uint32_t *row)
{
	const uint32_t key[2] = {parent, function};
	const struct run_function *of = run_function(tree->sums->run, function);
	bool is_new;

	*row = key_ids_put(&tree->keys, key, &is_new);
	if (*row == KEY_IDS_NONE || !array_widen(&tree->rows, &tree->row_room, *row, sizeof *tree->rows) ||
		!array_reserve_zero(&tree->values, &tree->value_room, (size_t)*row + 1, sizeof *tree->values))
		return false;
	if (is_new)
		tree->rows[*row] = (struct profile_row){.parent = parent,
			.kind = parent == UINT32_MAX ? PROFILE_ROOT : PROFILE_FUNCTION,
			.name = of->name,
			.name_bytes = of->name_bytes,
			.module = of->module,
			.file = of->file};
	return true;
}

static bool add_path(struct tree *tree, uint32_t path, uint64_t value)
{
	const struct run *run = tree->sums->run;
	uint32_t line, scope = path_sums_leaf(tree->sums, path, &line), row = UINT32_MAX;
	size_t count = 0;

	for (; scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(run, scope)->parent) {
		if (!array_widen(&tree->scopes, &tree->scope_room, count, sizeof *tree->scopes))
			return false;
		tree->scopes[count++] = scope;
	}
	/* Below the program's root, also what has no path to it, since a picture has one root. */
	if (!find_row(tree, UINT32_MAX, run_scope(run, RUN_SCOPE_PROGRAM_ROOT)->function, &row))
		return false;
	tree->values[row].number += value;
	for (size_t i = count; i-- > 0;) {
		if (!find_row(tree, row, run_scope(run, tree->scopes[i])->function, &row))
			return false;
		tree->values[row].number += value;
	}
	return true;
}

static int lay(
	struct tree *tree, struct flame *flame, size_t metric, struct arena *arena, struct error *error)
{
	struct profile_metric of = {
		.name = path_sums_name(tree->sums, metric), .unit = path_sums_unit(tree->sums, metric)};
	struct profile profile = {
		.metrics = &of, .metric_count = 1, .rows = tree->rows, .count = tree->keys.count};

	for (uint32_t i = 0; i < tree->keys.count; i++)
		tree->rows[i].inclusive = tree->rows[i].exclusive = &tree->values[i];
	return flame_lay(flame, &profile, false, 0, arena, error);
}

int page_flame_lay(struct flame *flame, const struct path_sums *sums, size_t metric, struct arena *arena,
	struct error *error)
{
	struct tree tree = {.sums = sums};
	bool ok = true;
	int rc;

	*flame = (struct flame){0};
	if (metric >= sums->metric_count)
		return 0;
	key_ids_init(&tree.keys, 2 * sizeof(uint32_t));
	for (uint32_t path = 0; path < sums->contexts.count && ok; path++) {
		uint64_t value = sums->values[path * sums->metric_count + metric];

		ok = !value || add_path(&tree, path, value);
	}
	rc = ok ? lay(&tree, flame, metric, arena, error) : error_memory(error);
	key_ids_fini(&tree.keys);
	free(tree.rows);
	free(tree.values);
	free(tree.scopes);
	return rc;
}
