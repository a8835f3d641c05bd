/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_twin.h - a run opened twice, with its rollups and without: what it did in a window and the tiles
 * of a screen must be the same, to the last ns and record.
 */
#ifndef TESTS_TIMELINE_TWIN_H
#define TESTS_TIMELINE_TWIN_H

#include "tests/unit/timeline_small_run.h"

#include "timeline/sum/window.h"
#include "timeline/tile/tile.h"

#define TWIN_TILES_MAX 64u

static inline int twin_compare(const void *x, const void *y)
{
	const struct window_time *a = x, *b = y;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

/* Sorted; the caller frees them. */
static inline struct window_time *twin_times(struct run *run, const uint32_t *streams, uint32_t streams_count,
	uint64_t begin_ns, uint64_t end_ns, size_t *count)
{
	const struct window_time *rows;
	struct window_time *copy;
	struct window *window;
	struct error error = {0};

	if (window_new(&window, run, &error) ||
		window_add_times(window, streams, streams_count, begin_ns, end_ns, &error))
		fail_msg("%s", error.text);
	rows = window_times(window, count);
	copy = calloc(*count + 1, sizeof *copy);
	assert_non_null(copy);
	if (*count)
		memcpy(copy, rows, *count * sizeof *copy);
	qsort(copy, *count, sizeof *copy, twin_compare);
	window_free(window);
	return copy;
}

/* All of the window's time, and the same of both. */
static inline void twin_check_times(struct run *rolled, struct run *naive, const uint32_t *streams,
	uint32_t streams_count, uint64_t begin_ns, uint64_t end_ns)
{
	size_t counts[2];
	struct window_time *rows[2] = {
		twin_times(rolled, streams, streams_count, begin_ns, end_ns, &counts[0]),
		twin_times(naive, streams, streams_count, begin_ns, end_ns, &counts[1])};
	uint64_t all_ns = 0;

	for (size_t i = 0; i < counts[0] && i < counts[1]; i++) {
		const struct window_time *a = &rows[0][i], *b = &rows[1][i];

		all_ns += a->time_ns;
		if (twin_compare(a, b) || a->time_ns != b->time_ns || a->records != b->records)
			fail_msg("%u streams from %u on, %" PRIu64 "..%" PRIu64
				 ": context %u state %d op %u: %" PRIu64 " ns in %" PRIu64
				 " records, not context %u state %d op %u: %" PRIu64 " ns in %" PRIu64,
				streams_count, streams[0], begin_ns, end_ns, a->context, (int)a->state, a->op,
				a->time_ns, a->records, b->context, (int)b->state, b->op, b->time_ns,
				b->records);
	}
	assert_int_equal(counts[0], counts[1]);
	if (begin_ns < end_ns)
		assert_true(all_ns == (end_ns - begin_ns) * streams_count);
	free(rows[0]);
	free(rows[1]);
}

static inline void twin_check_tile(const struct tile *x, const struct tile *y)
{
	assert_int_equal(x->count, y->count);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct tile_entry *a = &x->entries[i], *b = &y->entries[i];

		assert_int_equal(a->context, b->context);
		assert_int_equal(a->op, b->op);
		assert_int_equal(a->state, b->state);
		assert_int_equal(a->records, b->records);
		assert_true(a->time_ns == b->time_ns);
	}
}

/* Contexts that are one: by their remainder, 0 by itself. */
static inline uint32_t twin_stand_in(void *own, uint32_t context)
{
	(void)own;
	return context ? 1 + (context - 1) % 3 : 0;
}

static inline bool twin_is_part(const struct tile_entry *part, const struct tile_entry *of)
{
	return part->state == of->state && part->op == of->op &&
	       twin_stand_in(NULL, part->context) == of->context;
}

/* Is each entry what entries of its contexts come to, and has each an entry? */
static inline void twin_check_projected(const struct tile *projected, const struct tile *leaves)
{
	uint32_t parts = 0;

	for (uint32_t i = 0; i < projected->count; i++) {
		const struct tile_entry *entry = &projected->entries[i];
		uint64_t time_ns = 0;
		uint32_t records = 0;

		for (uint32_t l = 0; l < leaves->count; l++)
			if (twin_is_part(&leaves->entries[l], entry)) {
				time_ns += leaves->entries[l].time_ns;
				records += leaves->entries[l].records;
				parts++;
			}
		assert_true(entry->time_ns == time_ns);
		assert_int_equal(entry->records, records);
	}
	assert_int_equal(parts, leaves->count);
}

/* Cells of up to five tiles from `first` on, as they are, as contexts that are one, and once more. */
static inline void twin_check_cells(struct run *rolled, struct run *naive, uint32_t stream, unsigned shift,
	uint64_t first, unsigned count)
{
	static const struct tile_projection projection = {NULL, twin_stand_in, 7},
					    *by[] = {NULL, &projection};
	struct run *runs[2] = {rolled, naive};
	struct tile out[2][2][TWIN_TILES_MAX];
	uint64_t edges[TWIN_TILES_MAX + 1] = {first};
	const struct tile_columns columns = {shift, count, edges};
	struct tiles *tiles[2];
	struct error error = {0};

	for (unsigned i = 0; i < count; i++)
		edges[i + 1] = edges[i] + 1 + small_below(5);
	for (int i = 0; i < 2; i++) {
		if (tiles_new(&tiles[i], runs[i], 1 << 24, &error))
			fail_msg("%s", error.text);
		for (int round = 0; round < 4; round++)
			if (tiles_project(tiles[i], by[round % 2], &error) ||
				tiles_cells(tiles[i], stream, &columns, out[i][round % 2], &error))
				fail_msg("%s", error.text);
	}
	for (unsigned t = 0; t < count; t++) {
		twin_check_tile(&out[0][0][t], &out[1][0][t]);
		twin_check_tile(&out[0][1][t], &out[1][1][t]);
		twin_check_projected(&out[0][1][t], &out[0][0][t]);
	}
	tiles_free(tiles[0]);
	tiles_free(tiles[1]);
}

static inline void twin_check_tiles(struct run *rolled, struct run *naive, uint32_t stream, unsigned shift,
	uint64_t first, unsigned count)
{
	struct run *runs[2] = {rolled, naive};
	struct tile out[2][TWIN_TILES_MAX];
	struct tiles *tiles[2];
	struct error error = {0};

	for (int i = 0; i < 2; i++)
		if (tiles_new(&tiles[i], runs[i], 1 << 20, &error) ||
			tiles_row(tiles[i], stream, shift, first, count, out[i], &error))
			fail_msg("%s", error.text);
	for (unsigned t = 0; t < count; t++)
		twin_check_tile(&out[0][t], &out[1][t]);
	tiles_free(tiles[0]);
	tiles_free(tiles[1]);
}

#endif
