/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_sort.c - see profile_sort.h: sorts the rows by parent and value, then lays out the tree anew, the
 * children of each row behind it.
 */
#include "timeline/profile/profile_sort.h"

#include <stdlib.h>
#include <string.h>

struct sorting {
	const struct profile *profile;
	const struct profile_sort *sort;
	uint32_t *sorted; /* rows by parent, then as siblings stand */
	uint32_t *first;  /* by row: of its children among `sorted`; one more at the end */
	uint32_t *next;	  /* by row: which of its children comes next */
	uint32_t *row_of; /* by old row: the new one */
};

/* ---- words ---- */

static bool is_metric(const struct profile_metric *metric, const char *word, const char *end)
{
	size_t size = strlen(metric->name);

	return strncmp(word, metric->name, size) == 0 && strcmp(word + size, end) == 0;
}

int profile_sort_find(
	struct profile_sort *sort, const struct profile *profile, const char *word, struct error *error)
{
	*sort = (struct profile_sort){PROFILE_SORT_TOTAL, 0};
	if (strcmp(word, "total") == 0)
		return 0;
	if (strcmp(word, "name") == 0 || strcmp(word, "self") == 0) {
		sort->key = *word == 'n' ? PROFILE_SORT_NAME : PROFILE_SORT_SELF;
		return 0;
	}
	for (size_t m = 0; m < profile->metric_count - profile->has_samples; m++) {
		bool is_self = is_metric(&profile->metrics[m], word, ":excl");

		if (!is_self && !is_metric(&profile->metrics[m], word, ":incl") &&
			!is_metric(&profile->metrics[m], word, ""))
			continue;
		*sort = (struct profile_sort){is_self ? PROFILE_SORT_SELF : PROFILE_SORT_TOTAL, m};
		return 0;
	}
	return error_set(error, ERROR_USAGE,
		"--sort %s: say self, total, name, or a metric of this profile: METRIC, METRIC:excl", word);
}

/* ---- order ---- */

static int compare_values(
	const struct sorting *sorting, const struct profile_row *a, const struct profile_row *b)
{
	size_t m = sorting->sort->metric;
	bool is_self = sorting->sort->key == PROFILE_SORT_SELF;
	union profile_value x, y;

	if (m >= sorting->profile->metric_count)
		return 0;
	x = is_self ? a->exclusive[m] : a->inclusive[m];
	y = is_self ? b->exclusive[m] : b->inclusive[m];

	if (sorting->profile->metrics[m].is_real)
		return (x.real < y.real) - (x.real > y.real);
	return (x.number < y.number) - (x.number > y.number);
}

static int compare_names(const struct profile_row *a, const struct profile_row *b)
{
	size_t size = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
	int order = memcmp(a->name, b->name, size);

	return order ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

static int compare_rows(const void *left, const void *right, void *own)
{
	const struct sorting *sorting = own;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct profile_row *a = &sorting->profile->rows[i], *b = &sorting->profile->rows[j];
	/* the root has no parent, and is the first */
	uint32_t x = a->parent + 1, y = b->parent + 1;
	int order = (x > y) - (x < y);

	if (!order && sorting->sort->key != PROFILE_SORT_NAME)
		order = compare_values(sorting, a, b);
	if (!order)
		order = compare_names(a, b);
	return order ? order : (i > j) - (i < j);
}

static void find_children(struct sorting *sorting)
{
	size_t count = sorting->profile->count;

	for (size_t i = 1; i < count; i++)
		sorting->first[sorting->profile->rows[sorting->sorted[i]].parent + 1]++;
	sorting->first[0] = 1;
	for (size_t i = 0; i < count; i++)
		sorting->first[i + 1] += sorting->first[i];
	for (size_t i = 0; i < count; i++)
		sorting->next[i] = sorting->first[i];
}

static void place(struct sorting *sorting, struct profile_row *rows, uint32_t number, uint32_t old,
	size_t width, const struct profile_over *over, struct profile_spread *spreads)
{
	rows[number] = sorting->profile->rows[old];
	if (old)
		rows[number].parent = sorting->row_of[rows[number].parent];
	sorting->row_of[old] = number;
	if (over)
		memcpy(spreads + number * width, over->spreads + old * width, width * sizeof *spreads);
}

/* Down to the first child, else up to where there is another one. */
static void place_all(struct sorting *sorting, struct profile_row *rows, const struct profile_over *over,
	struct profile_spread *spreads)
{
	const struct profile *profile = sorting->profile;
	size_t width = 2 * profile->metric_count;
	uint32_t at = 0, number = 0;

	place(sorting, rows, number++, at, width, over, spreads);
	for (;;) {
		if (sorting->next[at] < sorting->first[at + 1]) {
			at = sorting->sorted[sorting->next[at]++];
			place(sorting, rows, number++, at, width, over, spreads);
		} else if (!at) {
			return;
		} else {
			at = profile->rows[at].parent;
		}
	}
}

int profile_sort_rows(struct profile *profile, struct profile_over *over, const struct profile_sort *sort,
	struct arena *arena, struct error *error)
{
	size_t count = profile->count, width = 2 * profile->metric_count;
	uint32_t *room = calloc(4 * count + 2, sizeof *room);
	struct profile_row *rows = arena_calloc(arena, count + 1, sizeof *rows);
	struct profile_spread *spreads =
		over ? arena_calloc(arena, count * width + 1, sizeof *spreads) : NULL;
	bool is_done = room && rows && (spreads || !over);

	if (is_done && count) {
		struct sorting sorting = {.profile = profile,
			.sort = sort,
			.sorted = room,
			.first = room + count,
			.next = room + 2 * count + 1,
			.row_of = room + 3 * count + 1};

		for (uint32_t i = 0; i < count; i++)
			sorting.sorted[i] = i;
		qsort_r(sorting.sorted, count, sizeof *sorting.sorted, compare_rows, &sorting);
		find_children(&sorting);
		place_all(&sorting, rows, over, spreads);
		profile->rows = rows;
		if (over)
			over->spreads = spreads;
	}
	free(room);
	return is_done ? 0 : error_memory(error);
}
