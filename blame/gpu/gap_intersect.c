/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap_intersect.c - see queues_internal.h: intersects two lists of gaps, repeatedly until two are left.
 * Every step passes one span and writes a gap, which counts only if it is not empty: with two queues in step
 * a branch on which span is next, or whether it ends a common gap, could not be predicted.
 *
 *   queue 0   |##|     |##|        gap   max(open) to min(begin); then the queue whose span begins first
 *   queue 1     |###|  |##|              advances
 */
#include <string.h>

#include "blame/gpu/queues_internal.h"

static const uint64_t never_ns = UINT64_MAX, always_ns;
/* A queue that never runs. */
static const struct view nothing = {&always_ns, &never_ns, &never_ns, &never_ns, UINT64_MAX, 0};

#define INLINE static inline __attribute__((always_inline))

/* Without a branch: the compiler would branch, and the branch predictor would fail. */
INLINE uint64_t choose(bool is_a, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & (0 - (uint64_t)is_a));
}

/* How far two lists are met, and where the next gap goes. */
struct course {
	size_t i, j, n;
};

/* One step on, which writes a gap, or what is none and is written over. What is passed is a copy of the
 * caller's, which what is written is no part of. */
INLINE void course_step(struct course *at, const struct view *a, const struct view *b,
	const struct gap_columns *to, bool has_since, bool has_origin)
{
	uint64_t a_ns = a->begin_ns[at->i], b_ns = b->begin_ns[at->j];
	uint64_t from_ns = queues_later(a->open_ns[at->i], b->open_ns[at->j]);
	bool is_a = a_ns <= b_ns;

	to->begin_ns[at->n] = from_ns;
	to->end_ns[at->n] = queues_earlier(a_ns, b_ns);
	to->queued_ns[at->n] =
		has_since ? queues_earlier(a->since_ns[at->i], b->since_ns[at->j]) : UINT64_MAX;
	if (has_origin)
		to->origin[at->n] = choose(is_a, a->origin[at->i], b->origin[at->j]);
	at->n += (from_ns < a_ns) & (from_ns < b_ns);
	at->i += is_a;
	at->j += !is_a;
}

/* Where so many steps from the begin lead to. */
static struct course course_after(const struct view *a, const struct view *b, size_t steps)
{
	size_t low = steps > b->count ? steps - b->count : 0, high = steps < a->count ? steps : a->count;

	while (low < high) {
		size_t i = low + (high - low) / 2;

		if (a->begin_ns[i] <= b->begin_ns[steps - i - 1])
			low = i + 1;
		else
			high = i;
	}
	return (struct course){.i = low, .j = steps - low};
}

/* Rows [from, from + count) to row `at`, which is not behind. */
static void gap_columns_close_up(const struct gap_columns *columns, size_t at, size_t from, size_t count)
{
	memmove(columns->begin_ns + at, columns->begin_ns + from, count * sizeof(*columns->begin_ns));
	memmove(columns->end_ns + at, columns->end_ns + from, count * sizeof(*columns->end_ns));
	memmove(columns->queued_ns + at, columns->queued_ns + from, count * sizeof(*columns->queued_ns));
	if (columns->origin)
		memmove(columns->origin + at, columns->origin + from, count * sizeof(*columns->origin));
}

/* A step waits for the one before: the lists' second halves are met at the same time. */
INLINE void intersect(const struct view *left, const struct view *right, struct gap_columns *out,
	bool has_since, bool has_origin)
{
	const struct view a = *left, b = *right;
	const struct gap_columns to = *out;
	size_t steps = a.count + b.count, half = steps / 2, second_at = to.count + half;
	struct course first = {.n = to.count}, second = course_after(&a, &b, half);

	to.queued_ns[to.count - 1] =
		queues_earlier(to.queued_ns[to.count - 1], queues_earlier(a.before_ns, b.before_ns));
	second.n = second_at;
	while (half--) {
		course_step(&first, &a, &b, &to, has_since, has_origin);
		course_step(&second, &a, &b, &to, has_since, has_origin);
	}
	if (steps % 2)
		course_step(&second, &a, &b, &to, has_since, has_origin);
	gap_columns_close_up(&to, first.n, second_at, second.n - second_at);
	out->count = first.n + (second.n - second_at);
}

void gap_intersect(const struct view *a, const struct view *b, struct gap_columns *to)
{
	b = b ? b : &nothing;
	if (a->origin)
		intersect(a, b, to, true, true);
	else if (a->since_ns)
		intersect(a, b, to, true, false);
	else
		intersect(a, b, to, false, false);
}

/* What two views come to, appended to the scratch memory, as a view. */
static struct view intersect_aside(const struct view *a, const struct view *b, struct gap_columns *scratch)
{
	size_t at = scratch->count;
	struct gap_columns to = {scratch->begin_ns + at, scratch->end_ns + at, scratch->queued_ns + at,
		a->origin ? scratch->origin + at : NULL, NULL, 1, 0};

	to.queued_ns[0] = UINT64_MAX;
	gap_intersect(a, b, &to);
	to.begin_ns[to.count] = queues_later(a->open_ns[a->count], b->open_ns[b->count]);
	to.end_ns[to.count] = to.queued_ns[to.count] = UINT64_MAX;
	scratch->count += to.count + 1;
	return (struct view){to.begin_ns + 1, to.end_ns + 1, a->since_ns ? to.queued_ns + 1 : NULL,
		a->origin ? to.origin + 1 : NULL, to.queued_ns[0], to.count - 1};
}

/* Neighbours by pairs, until two are left, so that queues stay in order where begins are equal. */
bool gap_intersect_pairs(struct queues *queues, uint32_t *count, size_t rows, const struct gap_columns *like)
{
	struct view *views = queues->views;

	for (int which = 0; *count > 2; which = !which) {
		struct gap_columns *scratch = &queues->scratch[which];
		uint32_t pairs = *count / 2;

		scratch->count = 0;
		if (!gap_columns_reserve(scratch, rows + 2 * (size_t)*count, like))
			return false;
		for (uint32_t p = 0; p < pairs; p++)
			views[p] = intersect_aside(&views[2 * p], &views[2 * p + 1], scratch);
		if (*count % 2)
			views[pairs] = views[*count - 1];
		*count = pairs + *count % 2;
	}
	return true;
}
