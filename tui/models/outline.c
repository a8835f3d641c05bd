/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline.c - the tree. Rows are sorted, opened and listed by index; outline_columns.c computes their values
 * once per profile and set of columns.
 */
#include "tui/models/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"

#define NONE UINT32_MAX

void outline_fini(struct outline *outline)
{
	for (size_t i = 0; i < outline->column_count; i++)
		formula_free(outline->columns[i].formula);
	free(outline->values);
	free(outline->hashes);
	free(outline->order);
	free(outline->first_child);
	free(outline->next);
	free(outline->open.items);
	free(outline->lines);
	*outline = (struct outline){0};
}

/* ---- sets of rows ---- */

static size_t set_find(const struct outline_set *set, uint64_t hash)
{
	size_t at = 0;

	while (at < set->count && set->items[at] != hash)
		at++;
	return at;
}

static void set_change(struct outline_set *set, uint64_t hash, bool is_in)
{
	size_t at = set_find(set, hash);

	if (!is_in && at < set->count) {
		set->items[at] = set->items[--set->count];
	} else if (is_in && at == set->count) {
		if (!array_widen((void **)&set->items, &set->capacity, set->count, sizeof *set->items))
			return; /* the row stays closed */
		set->items[set->count++] = hash;
	}
}

void outline_set_open(struct outline *outline, uint32_t row, bool is_open)
{
	set_change(&outline->open, outline->hashes[row], is_open);
}

bool outline_is_open(const struct outline *outline, uint32_t row)
{
	return set_find(&outline->open, outline->hashes[row]) < outline->open.count;
}

bool outline_is_hot(const struct outline *outline, uint32_t row)
{
	for (size_t i = 0; i < outline->hot_count; i++)
		if (outline->hot[i] == outline->hashes[row])
			return true;
	return false;
}

bool outline_has_children(const struct outline *outline, uint32_t row)
{
	return outline->first_child[row] != NONE;
}

uint32_t outline_find_hash(const struct outline *outline, uint64_t hash)
{
	for (uint32_t i = 0; i < outline->profile.count; i++)
		if (outline->hashes[i] == hash)
			return i;
	return NONE;
}

/* ---- order ---- */

/* By the sort column; what has no value comes last either way. */
static int compare_values(const struct outline *outline, uint32_t x, uint32_t y)
{
	double value_x = outline_value(outline, x, outline->sort);
	double value_y = outline_value(outline, y, outline->sort);

	if (isnan(value_x) || isnan(value_y))
		return !!isnan(value_x) - !!isnan(value_y);
	if (value_x == value_y)
		return 0;
	return (value_x > value_y) != outline->is_ascending ? -1 : 1;
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct outline *outline = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct profile_row *row_x = &outline->profile.rows[x], *row_y = &outline->profile.rows[y];
	int order;

	if (row_x->parent != row_y->parent)
		return row_x->parent < row_y->parent ? -1 : 1;
	order = compare_values(outline, x, y);
	if (!order)
		order = strcmp(row_x->name, row_y->name);
	return order ? order : x < y ? -1 : x > y;
}

void outline_sort(struct outline *outline, size_t column)
{
	size_t count = outline->profile.count;

	outline->sort = column < outline->column_count ? column : 0;
	for (uint32_t i = 0; i < count; i++) {
		outline->order[i] = i;
		outline->first_child[i] = outline->next[i] = NONE;
	}
	if (count > 1)
		qsort_r(outline->order + 1, count - 1, sizeof(*outline->order), compare_rows, outline);
	for (size_t i = count; i-- > 1;) { /* backwards: each becomes the first of its siblings so far */
		uint32_t row = outline->order[i], parent = outline->profile.rows[row].parent;
		outline->next[row] = outline->first_child[parent];
		outline->first_child[parent] = row;
	}
}

/* ---- loading ---- */

static uint64_t hash_row(const struct outline *outline, uint32_t at)
{
	const struct profile_row *row = &outline->profile.rows[at];
	uint64_t hash = at ? outline->hashes[row->parent] : 1;

	hash = store_hash64(row->name, row->name_bytes, hash + row->kind);
	hash = store_hash64(row->file, strlen(row->file), hash);
	return store_hash64(row->module, strlen(row->module), hash) ^ (row->line * 0x9e3779b97f4a7c15u);
}

int outline_load(struct outline *outline, const struct profile *profile, struct error *error)
{
	size_t count = profile->count;
	double *values = calloc(count + 1, OUTLINE_COLUMNS * sizeof(*values));
	uint64_t *hashes = calloc(count + 1, sizeof(*hashes));
	uint32_t *order = calloc(count + 1, sizeof(*order)), *first = calloc(count + 1, sizeof(*first));
	uint32_t *next = calloc(count + 1, sizeof(*next));

	free(outline->values);
	free(outline->hashes);
	free(outline->order);
	free(outline->first_child);
	free(outline->next);
	outline->values = values;
	outline->hashes = hashes;
	outline->order = order;
	outline->first_child = first;
	outline->next = next;
	outline->line_count = 0;
	outline->profile = *profile;
	if (!values || !hashes || !order || !first || !next) {
		outline->profile.count = 0;
		return error_memory(error);
	}
	outline_make_columns(outline);
	for (uint32_t i = 0; i < count; i++)
		hashes[i] = hash_row(outline, i);
	outline_sort(outline, outline->sort);
	return 0;
}

/* ---- lines ---- */

static bool has_row(const struct outline *outline, uint64_t hash, uint32_t *row)
{
	*row = outline_find_hash(outline, hash);
	return *row != NONE;
}

static void add_line(struct outline *outline, uint32_t row, uint32_t level)
{
	outline->lines[outline->line_count++] = (struct outline_line){row, level};
}

/* The row and, where it is open, those below it. */
static void list_below(struct outline *outline, uint32_t top, uint32_t level)
{
	uint32_t row = top;

	for (;;) {
		add_line(outline, row, level);
		if (outline->first_child[row] != NONE && outline_is_open(outline, row)) {
			row = outline->first_child[row];
			level++;
			continue;
		}
		while (row != top && outline->next[row] == NONE) {
			row = outline->profile.rows[row].parent;
			level--;
		}
		if (row == top)
			return;
		row = outline->next[row];
	}
}

/* The rows so many levels below the top, and the leaves above them, by value. */
static size_t flat_tops(const struct outline *outline, uint32_t top, uint32_t *tops)
{
	uint32_t base = outline->profile.rows[top].depth, row = top;
	size_t count = 0;

	for (;;) {
		uint32_t depth = outline->profile.rows[row].depth - base;
		if (depth > outline->flatten || outline->first_child[row] == NONE) {
			if (row != top)
				tops[count++] = row;
		} else {
			row = outline->first_child[row];
			continue;
		}
		while (row != top && outline->next[row] == NONE)
			row = outline->profile.rows[row].parent;
		if (row == top)
			return count;
		row = outline->next[row];
	}
}

static int compare_tops(const void *a, const void *b, void *data)
{
	const struct outline *outline = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_values(outline, x, y);

	return order ? order : x < y ? -1 : x > y;
}

int outline_list(struct outline *outline, struct error *error)
{
	size_t count = outline->profile.count, top_count;
	uint32_t top = 0, *tops;

	free(outline->lines);
	outline->line_count = 0;
	outline->lines = calloc(count + 1, sizeof(*outline->lines));
	if (!outline->lines)
		return error_memory(error);
	if (count == 0)
		return 0;
	while (outline->zoom_count && !has_row(outline, outline->zooms[outline->zoom_count - 1], &top))
		outline->zoom_count--;
	if (!outline->zoom_count)
		top = 0;
	if (outline->flatten == 0) {
		outline_set_open(outline, top, true);
		list_below(outline, top, 0);
		return 0;
	}
	tops = calloc(count + 1, sizeof(*tops));
	if (!tops)
		return error_memory(error);
	top_count = flat_tops(outline, top, tops);
	qsort_r(tops, top_count, sizeof(*tops), compare_tops, outline);
	for (size_t i = 0; i < top_count; i++)
		list_below(outline, tops[i], 0);
	free(tops);
	return 0;
}

size_t outline_line_of(const struct outline *outline, uint32_t row)
{
	for (; row != NONE && row < outline->profile.count; row = outline->profile.rows[row].parent)
		for (size_t i = 0; i < outline->line_count; i++)
			if (outline->lines[i].row == row)
				return i;
	return 0;
}

void outline_reveal(struct outline *outline, uint32_t row)
{
	uint32_t top;

	for (uint32_t up = outline->profile.rows[row].parent; up != NONE;
		up = outline->profile.rows[up].parent)
		outline_set_open(outline, up, true);
	while (outline->zoom_count) {
		uint32_t up = row;
		if (has_row(outline, outline->zooms[outline->zoom_count - 1], &top))
			while (up != NONE && up != top)
				up = outline->profile.rows[up].parent;
		else
			up = NONE;
		if (up != NONE)
			return;
		outline->zoom_count--;
	}
}

uint32_t outline_hot_path(struct outline *outline, uint32_t row, double share)
{
	outline->hot_count = 0;
	for (;;) {
		uint32_t best = outline->first_child[row];

		if (outline->hot_count < sizeof(outline->hot) / sizeof(outline->hot[0]))
			outline->hot[outline->hot_count++] = outline->hashes[row];
		for (uint32_t child = best; child != NONE; child = outline->next[child])
			if (outline_value(outline, child, outline->sort) >
				outline_value(outline, best, outline->sort))
				best = child;
		if (best == NONE ||
			!(outline_value(outline, best, outline->sort) >=
				share * outline_value(outline, row, outline->sort)) ||
			!(outline_value(outline, best, outline->sort) > 0))
			return row;
		outline_set_open(outline, row, true);
		row = best;
	}
}

uint32_t outline_next_row(const struct outline *outline, uint32_t row, bool is_back)
{
	const struct profile_row *rows = outline->profile.rows;

	if (!is_back) {
		if (outline->first_child[row] != NONE)
			return outline->first_child[row];
		while (row && outline->next[row] == NONE)
			row = rows[row].parent;
		return row ? outline->next[row] : NONE;
	}
	if (row == 0)
		return NONE;
	if (outline->first_child[rows[row].parent] == row)
		return rows[row].parent;
	for (uint32_t before = outline->first_child[rows[row].parent];; before = outline->next[before]) {
		if (outline->next[before] != row)
			continue;
		while (outline->first_child[before] != NONE) {
			before = outline->first_child[before];
			while (outline->next[before] != NONE)
				before = outline->next[before];
		}
		return before;
	}
}
