/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_steps.c - differences per step. If both runs are aligned at a repeated mark, a window holds a
 * number of steps of each run. The faster run has more steps in the same time, so times are compared per
 * step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/select/bookmark.h"
#include "tui/models/compare.h"

/* Steps in [begin, end) by the distance of the marks there, of one stream: each rank may set its own. 0:
 * fewer than two marks. */
static double count_steps(struct run *run, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct arena arena = {0};
	const struct mark *marks;
	uint64_t first_ns = 0, last_ns = 0;
	uint32_t stream = UINT32_MAX;
	size_t count, found = 0;
	struct error error;

	if (mark_list(run, &arena, &marks, &count, &error))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(marks[i].name, name) != 0 || marks[i].begin_ns < begin_ns ||
			marks[i].begin_ns >= end_ns)
			continue;
		if (!found)
			stream = marks[i].stream, first_ns = marks[i].begin_ns;
		if (marks[i].stream != stream)
			continue;
		last_ns = marks[i].begin_ns;
		found++;
	}
	arena_fini(&arena);
	if (found < 2 || last_ns <= first_ns)
		return 0;
	return (double)(end_ns - begin_ns) * (double)(found - 1) / (double)(last_ns - first_ns);
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	uint64_t x_ns = (uint64_t)llabs(x->delta_ns), y_ns = (uint64_t)llabs(y->delta_ns);

	return x_ns != y_ns ? (x_ns < y_ns ? 1 : -1) : strcmp(x->key, y->key);
}

static void divide(struct diff_row *row, const double *steps)
{
	double fewest = steps[DIFF_A] < steps[DIFF_B] ? steps[DIFF_A] : steps[DIFF_B];

	for (int side = DIFF_A; side <= DIFF_B; side++)
		row->time_ns[side] = (uint64_t)llround((double)row->time_ns[side] / steps[side]);
	row->delta_ns = (int64_t)(row->time_ns[DIFF_B] - row->time_ns[DIFF_A]);
	row->noise_ns = (uint64_t)llround((double)row->noise_ns / fewest); /* not less than it is */
}

void compare_take_steps(struct session *session)
{
	struct compare *compare = session->compare;
	const struct frame *frames[DIFF_SIDES] = {&session->frame, &compare->other->frame};
	struct run *runs[DIFF_SIDES] = {session->run, compare->other->run};
	char name[COMPARE_MARK];

	compare->steps[DIFF_A] = compare->steps[DIFF_B] = 0;
	if (compare->align != COMPARE_MARKS || compare->mark[0] != '@')
		return;
	strcpy(name, compare->mark + 1);
	if (strrchr(name, '#'))
		*strrchr(name, '#') = '\0';
	for (int side = DIFF_A; side <= DIFF_B; side++)
		compare->steps[side] =
			count_steps(runs[side], name, frames[side]->begin_ns, frames[side]->end_ns);
	if (compare->steps[DIFF_A] == 0 || compare->steps[DIFF_B] == 0) {
		compare->steps[DIFF_A] = compare->steps[DIFF_B] = 0;
		return;
	}
	for (size_t i = 0; i < compare->result.count; i++)
		divide(&compare->result.rows[i], compare->steps);
	if (compare->result.count)
		qsort(compare->result.rows, compare->result.count, sizeof(*compare->result.rows),
			compare_rows);
}
