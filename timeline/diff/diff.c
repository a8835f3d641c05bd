/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - see diff.h: a column of cells per repeat, rows numbered by the hash of their key, joined at the
 * end; how sure a difference is.
 */
#include "timeline/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/diff/diff_internal.h"

#define NORMAL 1.959964 /* 97.5 % quantile */

/* Student's 97.5 % quantiles of 1.. degrees of freedom. */
static const double students[] = {
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
#define STUDENTS (sizeof students / sizeof *students)

/* Degrees in between count as the next lower number: rather too wide. Beyond the table: Cornish-Fisher. */
static double quantile(double freedom)
{
	const double z = NORMAL, cube = z * z * z;
	const size_t count = STUDENTS;
	double n = floor(freedom);

	if (n < 1)
		n = 1;
	if (n <= (double)count)
		return students[(size_t)n - 1];
	return z + (cube + z) / (4 * n) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * n * n);
}

struct diff_estimate diff_estimate_of(const double *values, const double *sampled, size_t count)
{
	struct diff_estimate estimate = {.repeats = count};
	double squares = 0, known = 0, n = (double)count, scatter;

	for (size_t i = 0; i < count; i++)
		estimate.mean += values[i] / n;
	for (size_t i = 0; i < count; i++) {
		squares += (values[i] - estimate.mean) * (values[i] - estimate.mean);
		known += sampled[i];
	}
	estimate.variance = known / (n * n);
	scatter = count > 1 ? squares / (n - 1) / n : 0;
	if (scatter > estimate.variance) {
		estimate.variance = scatter;
		estimate.freedom = n - 1;
	}
	return estimate;
}

double diff_noise(const struct diff_estimate *a, const struct diff_estimate *b)
{
	double variance = a->variance + b->variance, freedoms = 0;

	if (a->freedom > 0)
		freedoms += a->variance * a->variance / a->freedom;
	if (b->freedom > 0)
		freedoms += b->variance * b->variance / b->freedom;
	return (freedoms > 0 ? quantile(variance * variance / freedoms) : NORMAL) * sqrt(variance);
}

static bool is_exact(const struct diff_estimate *side)
{
	return side->repeats < 2 && !side->is_sampled && side->mean != 0;
}

bool diff_noise_is_known(const struct diff_estimate *a, const struct diff_estimate *b)
{
	if (is_exact(a) || is_exact(b))
		return false;
	return a->variance > 0 || b->variance > 0 || (a->repeats > 1 && b->repeats > 1);
}

int diff_new(struct diff **out, const struct diff_question *question, struct error *error)
{
	bool has_callers =
		!question->is_mark && (question->by == STATS_FUNCTION || question->by == STATS_PATH);
	struct diff *diff;

	if (!question->is_mark && question->by == STATS_STREAM)
		return error_set(error, ERROR_USAGE,
			"--by stream: no two runs have a stream in common; say function, "
			"path, module, line, op or mark");
	if (!has_callers && (question->is_inclusive || question->scaling))
		return error_set(
			error, ERROR_USAGE, "--inclusive and --scaling go with --by function or path");
	diff = calloc(1, sizeof *diff);
	if (!diff)
		return error_memory(error);
	diff->question = *question;
	diff->unit = "ns";
	key_ids_init(&diff->keys, sizeof(struct diff_key));
	*out = diff;
	return 0;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->repeat_count; i++)
		free(diff->repeats[i].cells);
	free(diff->repeats);
	key_ids_fini(&diff->keys);
	free(diff->texts);
	store_bytes_fini(&diff->key);
	arena_fini(&diff->arena);
	free(diff);
}

/* ---- the join ---- */

struct join {
	const struct diff *diff;
	double *values, *sampled; /* scratch: one per repeat */
	double parts[DIFF_SIDES]; /* by which each side is divided */
	double total_ns;	  /* of B, divided */
};

static struct diff_estimate estimate(
	const struct join *join, enum diff_side side, uint32_t row, bool is_inclusive)
{
	double parts = join->parts[side];
	struct diff_estimate of;
	bool is_sampled = false;
	uint64_t records = 0;
	size_t count = 0;

	for (size_t i = 0; i < join->diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &join->diff->repeats[i];
		struct diff_cell cell = row < repeat->capacity ? repeat->cells[row] : (struct diff_cell){0};

		if (repeat->side != side)
			continue;
		join->values[count] = (double)(is_inclusive ? cell.inclusive_ns : cell.exclusive_ns) / parts;
		join->sampled[count++] =
			(is_inclusive ? cell.inclusive_variance : cell.exclusive_variance) / (parts * parts);
		is_sampled |= (is_inclusive ? cell.inclusive_sampled_ns : cell.exclusive_sampled_ns) > 0;
		records += cell.records;
	}
	of = diff_estimate_of(join->values, join->sampled, count);
	of.is_sampled = is_sampled;
	if (join->diff->question.is_mark)
		of.repeats = records;
	return of;
}

static double loss_of(const struct join *join, double delta)
{
	return join->total_ns > 0 ? 100 * delta / join->total_ns : 0;
}

static void put_losses(const struct join *join, struct diff_row *out, uint32_t row)
{
	struct diff_estimate a = estimate(join, DIFF_A, row, false), b = estimate(join, DIFF_B, row, false);
	double delta;

	out->exclusive_loss = loss_of(join, b.mean - a.mean);
	a = estimate(join, DIFF_A, row, true);
	b = estimate(join, DIFF_B, row, true);
	delta = b.mean - a.mean;
	out->loss = loss_of(join, delta);
	out->verdict = fabs(delta) <= diff_noise(&a, &b) ? 0 : delta > 0 ? 1 : -1;
}

static void put_row(const struct join *join, struct diff_row *out, uint32_t row)
{
	const struct diff *diff = join->diff;
	const struct diff_key *key = key_ids_key(&diff->keys, row);
	struct diff_estimate a = estimate(join, DIFF_A, row, diff->question.is_inclusive);
	struct diff_estimate b = estimate(join, DIFF_B, row, diff->question.is_inclusive);

	*out = (struct diff_row){.key = diff->texts[row],
		.is_state = key->is_state,
		.time_ns = {(uint64_t)llround(a.mean), (uint64_t)llround(b.mean)},
		.noise_ns = (uint64_t)llround(diff_noise(&a, &b)),
		.is_noise_known = diff_noise_is_known(&a, &b)};
	out->delta_ns = (int64_t)(out->time_ns[DIFF_B] - out->time_ns[DIFF_A]);
	for (size_t i = 0; i < diff->repeat_count; i++)
		if (row < diff->repeats[i].capacity)
			out->records[diff->repeats[i].side] += diff->repeats[i].cells[row].records;
	if (diff->question.scaling)
		put_losses(join, out, row);
}

static int row_compare(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	uint64_t size_a = (uint64_t)llabs(a->delta_ns), size_b = (uint64_t)llabs(b->delta_ns);
	int order;

	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	if (fabs(a->loss) != fabs(b->loss))
		return fabs(a->loss) > fabs(b->loss) ? -1 : 1;
	order = strcmp(a->key, b->key);
	return order ? order : (int)a->is_state - (int)b->is_state;
}

/* Repeats of one experiment have the same number of parts: the largest counts. */
static uint64_t parts_of(const struct diff *diff, enum diff_side side, bool of_processes)
{
	uint64_t most = 1;

	for (size_t i = 0; i < diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &diff->repeats[i];
		uint64_t parts = of_processes ? repeat->processes : repeat->threads;

		if (repeat->side == side && parts > most)
			most = parts;
	}
	return most;
}

/* Weak scaling is over processes where their number changes, else over threads. */
static void find_parts(const struct diff *diff, struct diff_result *result)
{
	bool of_processes = parts_of(diff, DIFF_A, true) != parts_of(diff, DIFF_B, true);

	result->part_name = of_processes ? "processes" : "threads";
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		uint64_t given = diff->question.parts[side];

		result->parts[side] = given ? given : parts_of(diff, (enum diff_side)side, of_processes);
		if (given)
			result->part_name = "parts";
	}
}

static void find_coverage(const struct diff *diff, struct diff_result *result)
{
	result->coverage[DIFF_A] = result->coverage[DIFF_B] = 1;
	for (size_t i = 0; i < diff->repeat_count; i++) {
		const struct diff_repeat *repeat = &diff->repeats[i];
		double coverage = (double)repeat->known_ns / (double)repeat->lived_ns;

		if (coverage < result->coverage[repeat->side])
			result->coverage[repeat->side] = coverage;
	}
}

/* B's cost, of the mean repeat. */
static double total_of(const struct diff *diff)
{
	double total = 0, count = 0;

	for (size_t i = 0; i < diff->repeat_count; i++) {
		if (diff->repeats[i].side != DIFF_B)
			continue;
		total += (double)diff->repeats[i].cost_ns;
		count++;
	}
	return total / count;
}

static bool is_shown(const struct diff_row *row)
{
	return row->time_ns[DIFF_A] || row->time_ns[DIFF_B] || row->loss != 0;
}

int diff_finish(struct diff *diff, struct diff_result *result, struct arena *arena, struct error *error)
{
	struct join join = {.diff = diff,
		.values = arena_calloc(arena, diff->repeat_count, sizeof *join.values),
		.sampled = arena_calloc(arena, diff->repeat_count, sizeof *join.sampled),
		.parts = {1, 1}};

	*result = (struct diff_result){
		.rows = arena_calloc(arena, (size_t)diff->keys.count + 1, sizeof *result->rows),
		.part_name = "",
		.unit = diff->unit};
	if (!join.values || !join.sampled || !result->rows)
		return error_memory(error);
	find_coverage(diff, result);
	if (diff->question.scaling == DIFF_SCALING_WEAK) {
		find_parts(diff, result);
		for (int side = DIFF_A; side <= DIFF_B; side++)
			join.parts[side] = (double)result->parts[side];
	}
	join.total_ns = total_of(diff) / join.parts[DIFF_B];
	for (uint32_t row = 0; row < diff->keys.count; row++) {
		put_row(&join, &result->rows[result->count], row);
		result->count += is_shown(&result->rows[result->count]);
	}
	qsort(result->rows, result->count, sizeof *result->rows, row_compare);
	return 0;
}
