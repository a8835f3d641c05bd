/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_filter.c - one pass over the rows, parents first: a removed row leaves its children or its costs to
 * the nearest row above that stays.
 */
#include "timeline/profile/frame_filter.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/base/glob.h"

static const char *const kind_names[] = {"self", "below", "all"};

const char *frame_filter_kind_name(enum frame_filter_kind kind)
{
	return kind_names[kind];
}

int frame_filter_kind_find(const char *name, size_t name_bytes)
{
	for (int i = 0; i < FRAME_FILTER_KIND_COUNT; i++)
		if (strlen(kind_names[i]) == name_bytes && strncmp(kind_names[i], name, name_bytes) == 0)
			return i;
	return -1;
}

struct work {
	struct profile *profile;
	bool is_top_down;
	uint32_t *stays_as; /* index of the row that a row's children hang below; by old index */
	uint8_t *is_cut;    /* the whole subtree below goes */
	struct profile_row *rows;
	union profile_value *exclusive; /* of the rows that stay */
	size_t count;
};

static int match(const struct profile_row *row, const struct frame_filter_pattern *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!patterns[i].is_off && glob_match(patterns[i].glob, row->name))
			return (int)patterns[i].kind;
	return -1;
}

static void give(struct work *work, uint32_t to, const union profile_value *values)
{
	size_t metrics = work->profile->metric_count;

	for (size_t m = 0; m < metrics; m++) {
		union profile_value *sum = &work->exclusive[to * metrics + m];
		if (work->profile->metrics[m].is_real)
			sum->real += values[m].real;
		else
			sum->number += values[m].number;
	}
}

static void keep(struct work *work, size_t at, uint32_t parent)
{
	size_t metrics = work->profile->metric_count;
	const struct profile_row *row = &work->profile->rows[at];
	uint32_t index = (uint32_t)work->count++;

	work->rows[index] = *row;
	if (at > 0) {
		work->rows[index].parent = parent;
		work->rows[index].depth = work->rows[parent].depth + 1;
	}
	if (metrics)
		memcpy(&work->exclusive[index * metrics], row->exclusive, metrics * sizeof(*work->exclusive));
	work->rows[index].exclusive = &work->exclusive[index * metrics];
	work->stays_as[at] = index;
}

/* The cost of a line, and of an instruction, is in its function's already. */
static bool has_cost_of_its_own(const struct profile_row *row)
{
	return row->kind != PROFILE_LINE && row->kind != PROFILE_INSTRUCTION;
}

static void take_row(struct work *work, size_t at, int kind)
{
	const struct profile_row *row = &work->profile->rows[at];
	uint32_t parent = work->stays_as[row->parent];

	if (work->is_cut[row->parent]) {
		work->is_cut[at] = 1;
		work->stays_as[at] = parent;
		return;
	}
	if (kind < 0 || kind == FRAME_FILTER_BELOW) {
		keep(work, at, parent);
		work->is_cut[at] = kind == FRAME_FILTER_BELOW;
		if (kind == FRAME_FILTER_BELOW && work->is_top_down && work->profile->metric_count)
			memcpy(&work->exclusive[work->stays_as[at] * work->profile->metric_count],
				row->inclusive, work->profile->metric_count * sizeof(*row->inclusive));
		return;
	}
	if (work->is_top_down && has_cost_of_its_own(row))
		give(work, parent, kind == FRAME_FILTER_ALL ? row->inclusive : row->exclusive);
	work->stays_as[at] = parent;
	work->is_cut[at] = kind == FRAME_FILTER_ALL;
}

/* Children of a row that went come behind those of its parent: parents first, each subtree together again. */
static int order_rows(struct work *work, struct arena *arena)
{
	size_t count = work->count;
	struct profile_row *rows = arena_alloc(arena, (count + 1) * sizeof(*rows));
	uint32_t *first = malloc((count + 1) * 4 * sizeof(*first)), *next, *last, *place;
	uint32_t at = 0, used = 0;

	if (!rows || !first) {
		free(first);
		return -1;
	}
	next = first + count, last = next + count, place = last + count;
	memset(first, 0xff, count * 3 * sizeof(*first));
	for (uint32_t i = 1; i < count; i++) {
		uint32_t parent = work->rows[i].parent;
		if (first[parent] == UINT32_MAX)
			first[parent] = i;
		else
			next[last[parent]] = i;
		last[parent] = i;
	}
	while (at != UINT32_MAX && count) {
		place[at] = used;
		rows[used] = work->rows[at];
		if (at)
			rows[used].parent = place[work->rows[at].parent];
		used++;
		if (first[at] != UINT32_MAX) {
			at = first[at];
			continue;
		}
		while (at != UINT32_MAX && next[at] == UINT32_MAX)
			at = at ? work->rows[at].parent : UINT32_MAX;
		at = at == UINT32_MAX ? at : next[at];
	}
	free(first);
	work->profile->rows = rows;
	work->profile->count = used;
	return 0;
}

int frame_filter_rows(struct profile *profile, bool is_top_down, const struct frame_filter_pattern *patterns,
	size_t count, struct arena *arena, struct error *error)
{
	struct work work = {.profile = profile, .is_top_down = is_top_down};
	int result = -1;

	if (profile->count == 0 || count == 0)
		return 0;
	work.stays_as = calloc(profile->count, sizeof(*work.stays_as));
	work.is_cut = calloc(profile->count, 1);
	work.rows = calloc(profile->count, sizeof(*work.rows));
	work.exclusive =
		arena_calloc(arena, profile->count * profile->metric_count + 1, sizeof(*work.exclusive));
	if (work.stays_as && work.is_cut && work.rows && work.exclusive) {
		keep(&work, 0, 0);
		for (size_t i = 1; i < profile->count; i++)
			take_row(&work, i, match(&profile->rows[i], patterns, count));
		result = order_rows(&work, arena);
	}
	free(work.stays_as);
	free(work.is_cut);
	free(work.rows);
	return result ? error_memory(error) : 0;
}
