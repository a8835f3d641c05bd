/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c - see scaling.h: sides in the order of their parts, joined by key as two runs are. */
#include "timeline/diff/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/diff/diff_internal.h"

struct making {
	struct scaling *scaling;
	const struct diff *diff;
	uint64_t *parts;   /* by side */
	uint32_t *point;   /* by side */
	uint32_t *repeats; /* by point */
	double *points;	   /* the scaling's parts */
	size_t sides;
	struct arena *arena;
	bool is_weak;
};

/* ---- points ---- */

/* Repeats of one side have as many parts as the largest of them. */
static void count_parts(struct making *making)
{
	const struct diff *diff = making->diff;
	uint64_t first = 0;
	bool of_processes = false;

	for (size_t i = 0; i < diff->repeat_count; i++) {
		first = first ? first : diff->repeats[i].processes;
		of_processes |= diff->repeats[i].processes != first;
	}
	for (size_t i = 0; i < diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &diff->repeats[i];
		uint64_t *parts = &making->parts[repeat->side];
		uint64_t here = of_processes ? repeat->processes : repeat->threads;

		*parts = here > *parts ? here : *parts;
	}
	making->scaling->part_name = of_processes ? "processes" : "threads";
}

static int compare_parts(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* A point for each number of parts. */
static int find_points(struct making *making, struct error *error)
{
	struct scaling *scaling = making->scaling;
	size_t count = 0;

	for (size_t side = 0; side < making->sides; side++)
		making->points[side] = making->parts[side] ? (double)making->parts[side] : 1;
	qsort(making->points, making->sides, sizeof *making->points, compare_parts);
	for (size_t i = 0; i < making->sides; i++)
		if (!count || making->points[i] != making->points[count - 1])
			making->points[count++] = making->points[i];
	if (count < SCALING_POINTS_LEAST)
		return error_set(error, ERROR_USAGE,
			"--scaling: a fit over several runs needs %u different numbers of %s at least, these "
			"have "
			"%zu; name two runs for their difference, or the numbers with weak:P,Q,... or "
			"strong:P,Q,...",
			SCALING_POINTS_LEAST, scaling->part_name, count);
	for (size_t side = 0; side < making->sides; side++)
		while (making->points[making->point[side]] <
			(making->parts[side] ? (double)making->parts[side] : 1))
			making->point[side]++;
	for (size_t i = 0; i < making->diff->repeat_count; i++)
		making->repeats[making->point[making->diff->repeats[i].side]]++;
	scaling->parts = making->points;
	scaling->points = count;
	return 0;
}

/* ---- rows ---- */

static void divide(const struct making *making, double *costs)
{
	for (size_t i = 0; i < making->scaling->points; i++)
		costs[i] /= making->repeats[i] * (making->is_weak ? making->points[i] : 1);
}

static bool make_costs(struct making *making, double **costs, double **own)
{
	size_t points = making->scaling->points;

	*costs = arena_calloc(making->arena, points, sizeof **costs);
	*own = arena_calloc(making->arena, points, sizeof **own);
	return *costs && *own;
}

static void finish_row(struct making *making, struct scaling_row *row, double *costs, double *own)
{
	const struct scaling *scaling = making->scaling;
	size_t last = scaling->points - 1;
	double all;

	divide(making, costs);
	divide(making, own);
	row->costs = costs;
	row->own = own;
	all = row == &scaling->whole ? costs[last] : scaling->whole.costs[last];
	row->fit = scaling_fit_make(scaling->parts, costs, scaling->points);
	row->own_fit = scaling_fit_make(scaling->parts, own, scaling->points);
	row->loss = all > 0 ? 100 * (costs[last] - costs[0]) / all : 0;
	row->own_loss = all > 0 ? 100 * (own[last] - own[0]) / all : 0;
	row->share = all > 0 ? 100 * costs[last] / all : 0;
}

static bool put_whole(struct making *making)
{
	double *costs, *own;

	if (!make_costs(making, &costs, &own))
		return false;
	for (size_t i = 0; i < making->diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &making->diff->repeats[i];

		costs[making->point[repeat->side]] += (double)repeat->cost_ns;
	}
	finish_row(making, &making->scaling->whole, costs, own);
	return true;
}

static bool put_row(struct making *making, uint32_t number)
{
	struct scaling *scaling = making->scaling;
	struct scaling_row *row = &scaling->rows[scaling->count];
	double *costs, *own, sum = 0;

	if (!make_costs(making, &costs, &own))
		return false;
	for (size_t i = 0; i < making->diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &making->diff->repeats[i];

		if (number >= repeat->capacity)
			continue;
		costs[making->point[repeat->side]] += (double)repeat->cells[number].inclusive_ns;
		own[making->point[repeat->side]] += (double)repeat->cells[number].exclusive_ns;
		sum += (double)repeat->cells[number].inclusive_ns;
	}
	if (sum <= 0 || ((const struct diff_key *)key_ids_key(&making->diff->keys, number))->is_state)
		return true;
	row->key = making->diff->texts[number];
	finish_row(making, row, costs, own);
	scaling->count++;
	return true;
}

static int compare_rows(const void *left, const void *right)
{
	const struct scaling_row *a = left, *b = right;

	if (fabs(a->loss) != fabs(b->loss))
		return fabs(a->loss) > fabs(b->loss) ? -1 : 1;
	return strcmp(a->key, b->key);
}

int scaling_make(struct scaling *scaling, const struct diff *diff, size_t sides, const uint64_t *parts,
	struct arena *arena, struct error *error)
{
	struct making making = {.scaling = scaling,
		.diff = diff,
		.sides = sides,
		.arena = arena,
		.is_weak = diff->question.scaling == DIFF_SCALING_WEAK,
		.parts = arena_calloc(arena, sides + 1, sizeof *making.parts),
		.point = arena_calloc(arena, sides + 1, sizeof *making.point),
		.repeats = arena_calloc(arena, sides + 1, sizeof *making.repeats),
		.points = arena_calloc(arena, sides + 1, sizeof *making.points)};
	bool is_there;
	int code;

	*scaling = (struct scaling){.unit = diff->unit,
		.part_name = "parts",
		.rows = arena_calloc(arena, (size_t)diff->keys.count + 1, sizeof *scaling->rows)};
	if (!making.parts || !making.point || !making.repeats || !making.points || !scaling->rows)
		return error_memory(error);
	if (parts)
		memcpy(making.parts, parts, sides * sizeof *parts);
	else
		count_parts(&making);
	code = find_points(&making, error);
	if (code)
		return code;
	is_there = put_whole(&making);
	for (uint32_t row = 0; row < diff->keys.count && is_there; row++)
		is_there = put_row(&making, row);
	qsort(scaling->rows, scaling->count, sizeof *scaling->rows, compare_rows);
	return is_there ? 0 : error_memory(error);
}
