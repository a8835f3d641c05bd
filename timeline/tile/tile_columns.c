/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_columns.c - maps a window to the columns of a screen so that every edge is a tile edge and a pan by
 * whole columns keeps all other edges (tui/SCREEN.md, "Columns"): column j of the run, counted from its
 * origin, begins at tile floor(j * T), T tiles per column.
 */
#include "timeline/tile/tile.h"

/* T = num / den */
struct ratio {
	uint64_t num, den;
};

static __int128 floor_divide(__int128 a, __int128 b)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a ratio has no 0, which it cannot know */
	return a / b - (a % b < 0);
}

/* Near 2 or 3, T is just that, and columns are all equal: |S - w D| * 50 <= w D. */
static void round_ratio(struct ratio *t)
{
	for (uint64_t whole = 2; whole <= 3; whole++) {
		__int128 exact = (__int128)whole * t->den;
		__int128 off = (__int128)t->num - exact;

		if ((off < 0 ? -off : off) * 50 <= exact)
			*t = (struct ratio){whole, 1};
	}
}

/* First tile of column j, counted in tiles from the tile that holds the origin. */
static __int128 column_tile(__int128 j, const struct ratio *t)
{
	return floor_divide(j * t->num, t->den);
}

/* The last column that begins at or before the tile. */
static __int128 column_of(__int128 tile, const struct ratio *t)
{
	/* floor(j T) <= tile  <=>  j < (tile + 1) / T */
	return floor_divide((tile + 1) * t->den - 1, t->num);
}

void tile_columns_fit(
	struct tile_columns *columns, uint64_t begin_ns, uint64_t end_ns, uint32_t width, uint64_t origin_ns)
{
	uint64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
	uint32_t count = span_ns < width ? (uint32_t)span_ns : width;
	uint64_t base, last;
	struct ratio t;
	__int128 first;

	count = count ? count : 1;
	columns->count = count;
	columns->shift = 0;
	while (columns->shift < 62 && ((unsigned __int128)count << (columns->shift + 2)) <= span_ns)
		columns->shift++;
	t = (struct ratio){span_ns, (uint64_t)count << columns->shift};
	round_ratio(&t);
	base = origin_ns >> columns->shift;
	last = UINT64_MAX >> columns->shift; /* no edge is after the last possible time */
	first = column_of((__int128)(begin_ns >> columns->shift) - base, &t);
	for (uint32_t i = 0; i <= count; i++) {
		__int128 edge = column_tile(first + i, &t) + base;

		columns->edges[i] = edge < 0 ? 0 : edge > last ? last : (uint64_t)edge;
	}
}

uint32_t tile_columns_at(const struct tile_columns *columns, uint64_t time_ns)
{
	uint32_t low = 0, high = columns->count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tile_columns_ns(columns, middle) <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}
