/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_tile.c - tiles against walks over their own few nanoseconds, whatever is cached, evicted or
 * renewed; and the rule that lays a window on columns.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/base/progress.h"
#include "timeline/sum/window.h"
#include "timeline/tile/tile.h"

#define ROUNDS 60
#define LENGTH 1000u
#define TILES 80
#define WIDTH_MAX 300

static void write_more(struct small_run *small, uint64_t from, uint64_t to)
{
	uint32_t contexts[4] = {small_path(small->writer, "main"), small_path(small->writer, "main;a"),
		small_path(small->writer, "main;b"), small_path(small->writer, "main;b;c")};

	for (uint64_t at = from; at < to; at += 1 + small_below(30)) {
		small_sample(small->writer, 0, at, contexts[small_below(4)], 0, 5);
		if (!small_below(9) && at + 20 < to)
			small_span(small->writer, 0, at + 3, at + 3 + small_below(17), STORE_OP_SYNC,
				contexts[small_below(4)], "");
		small_span(small->writer, 1, at, at + small_below(40),
			STORE_OP_KERNEL + (uint32_t)small_below(3), contexts[small_below(4)], "");
	}
	for (uint32_t stream = 0; stream < 2; stream++)
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			store_writer_stream_edit(small->writer, stream)->complete_ns[track] = to;
	small_commit(small);
}

static void write_begin(struct small_run *small)
{
	struct store_record monitored = {.end_ns = STORE_OPEN_NS,
		.what = STORE_OP_MONITORED,
		.attributes = small_text(small->writer, "period_ns=9")};

	store_writer_metric(small->writer, "CPUTIME", "ns", false);
	small_cpu(small->writer, 0, 0, STORE_OPEN_NS);
	small_gpu(small->writer, 0, 0, STORE_OPEN_NS);
	for (uint32_t stream = 0; stream < 2; stream++)
		store_writer_span_open(small->writer, stream, UINT64_MAX, &monitored);
}

/* The tile's sums by a walk over it alone. */
static void expect_tile(
	struct run *run, uint32_t stream, uint64_t begin, uint64_t end, const struct tile *tile)
{
	struct window *window;
	struct error error = {0};
	const struct window_time *rows;
	size_t count, found = 0;
	uint64_t sum = 0;

	assert_int_equal(window_new(&window, run, &error), 0);
	assert_int_equal(window_add_time(window, stream, begin, end, &error), 0);
	rows = window_times(window, &count);
	assert_int_equal(tile->count, count);
	for (uint32_t i = 0; i < tile->count; i++) {
		const struct tile_entry *e = &tile->entries[i];

		sum += e->time_ns;
		assert_true(!i || e->context >= tile->entries[i - 1].context);
		for (size_t k = 0; k < count; k++)
			found += rows[k].context == e->context && rows[k].op == e->op &&
				 rows[k].state == e->state && rows[k].time_ns == e->time_ns &&
				 rows[k].records == e->records;
	}
	assert_int_equal(found, count);
	assert_int_equal(sum, end - begin);
	window_free(window);
}

static void check_row(struct tiles *tiles, struct run *run)
{
	uint32_t stream = (uint32_t)small_below(2);
	unsigned shift = (unsigned)small_below(7);
	uint64_t first = small_below((LENGTH >> shift) + 4);
	size_t count = 1 + small_below(TILES);
	struct tile row[TILES];
	struct error error = {0};

	assert_int_equal(tiles_row(tiles, stream, shift, first, count, row, &error), 0);
	for (size_t i = 0; i < count; i++)
		expect_tile(run, stream, (first + i) << shift, (first + i + 1) << shift, &row[i]);
}

static void test_twin(void **unused)
{
	(void)unused;
	small_seed("tile.twin");
	for (int round = 0; round < ROUNDS; round++) {
		size_t memory = small_below(3) ? small_below(20000) : 1u << 24;
		struct error error = {0};
		struct small_run small;
		struct tiles *tiles;

		small_begin(&small);
		write_begin(&small);
		write_more(&small, 0, 300);
		small_open(&small);
		assert_int_equal(tiles_new(&tiles, small.run, memory, &error), 0);
		for (uint64_t at = 300; at <= LENGTH; at += 350) {
			bool changed;

			for (int i = 0; i < 20; i++)
				check_row(tiles, small.run);
			write_more(&small, at, at + 350);
			assert_int_equal(run_renew(small.run, &changed, &error), 0);
			assert_true(changed);
			tiles_renew(tiles);
		}
		tiles_free(tiles);
		small_end(&small);
	}
}

static void test_cells(void **unused)
{
	static uint64_t edges[WIDTH_MAX + 1];
	static struct tile cells[WIDTH_MAX];
	struct tile_columns columns = {.edges = edges};
	struct error error = {0};
	struct small_run small;
	struct tiles *tiles;

	(void)unused;
	small_seed("tile.cells");
	small_begin(&small);
	write_begin(&small);
	write_more(&small, 0, LENGTH);
	small_open(&small);
	assert_int_equal(tiles_new(&tiles, small.run, 1u << 20, &error), 0);
	for (int i = 0; i < 200; i++) {
		uint64_t begin = small_below(LENGTH), end = begin + 1 + small_below(LENGTH);
		uint32_t stream = (uint32_t)small_below(2);

		tile_columns_fit(&columns, begin, end, 1 + (uint32_t)small_below(60), small_below(50));
		assert_int_equal(tiles_cells(tiles, stream, &columns, cells, &error), 0);
		for (uint32_t c = 0; c < columns.count; c++)
			expect_tile(small.run, stream, edges[c] << columns.shift,
				edges[c + 1] << columns.shift, &cells[c]);
	}
	tiles_free(tiles);
	small_end(&small);
}

/* ---- columns ---- */

/* All contexts but 0 are one from `own` on. */
static uint32_t first_of(void *own, uint32_t context)
{
	uint32_t from = *(const uint32_t *)own;

	return context > from ? from : context;
}

static void expect_projected(const struct tile *leaves, const struct tile *cell, uint32_t from)
{
	uint64_t time_ns = 0, records = 0;

	for (uint32_t i = 0; i < cell->count; i++) {
		const struct tile_entry *e = &cell->entries[i];

		for (uint32_t k = 0; k < leaves->count; k++) {
			const struct tile_entry *leaf = &leaves->entries[k];

			if (first_of(&from, leaf->context) != e->context || leaf->op != e->op ||
				leaf->state != e->state)
				continue;
			time_ns += leaf->time_ns;
			records += leaf->records;
		}
		assert_true(e->time_ns == time_ns && e->records == records);
		assert_true(!i || e->context >= cell->entries[i - 1].context);
		time_ns = records = 0;
	}
	for (uint32_t k = 0; k < leaves->count; k++)
		time_ns += leaves->entries[k].time_ns;
	for (uint32_t i = 0; i < cell->count; i++)
		time_ns -= cell->entries[i].time_ns;
	assert_int_equal(time_ns, 0);
}

static bool refuse(void *own, const char *what, uint64_t done, uint64_t all)
{
	(void)own, (void)what, (void)done, (void)all;
	return false;
}

/* What is projected is its leaves, however it was made; of kept leaves it is made without reading. */
static void test_projected(void **unused)
{
	static uint64_t edges[WIDTH_MAX + 1];
	static struct tile leaves[WIDTH_MAX], cells[WIDTH_MAX];
	struct tile_columns columns = {.edges = edges};
	struct error error = {0};
	struct small_run small;

	(void)unused;
	small_seed("tile.projected");
	small_begin(&small);
	write_begin(&small);
	write_more(&small, 0, LENGTH);
	small_open(&small);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t from[2] = {1 + (uint32_t)small_below(4), 1 + (uint32_t)small_below(4)};
		struct tile_projection by[2] = {{&from[0], first_of, 2, true}, {&from[1], first_of, 3, true}};
		uint64_t begin = small_below(LENGTH / 2), end = begin + 1 + small_below(LENGTH / 2);
		uint32_t stream = (uint32_t)small_below(2);
		struct tiles *tiles, *others;

		tile_columns_fit(&columns, begin, end, 1 + (uint32_t)small_below(60), small_below(50));
		assert_int_equal(tiles_new(&tiles, small.run, 1u << 24, &error), 0);
		assert_int_equal(tiles_new(&others, small.run, small_below(20000), &error), 0);
		assert_int_equal(tiles_cells(others, stream, &columns, leaves, &error), 0);
		for (int i = 0; i < 6; i++) {
			by[i % 2].keeps_leaves = i != 5;
			assert_int_equal(tiles_project(tiles, &by[i % 2], &error), 0);
			assert_int_equal(tiles_cells(tiles, stream, &columns, cells, &error), 0);
			for (uint32_t c = 0; c < columns.count; c++)
				expect_projected(&leaves[c], &cells[c], from[i % 2]);
			/* From here on whoever reads fails. */
			progress_watch(refuse, NULL, 0);
		}
		assert_true(tiles_row(tiles, stream, 0, LENGTH, 1, cells, &error) < 0);
		progress_watch(NULL, NULL, 0);
		tiles_free(tiles);
		tiles_free(others);
	}
	small_end(&small);
}

static void check_columns(const struct tile_columns *c, uint64_t begin, uint64_t end, uint32_t width)
{
	uint64_t least = UINT64_MAX, most = 0, span = end - begin;
	uint64_t unit = 1ull << c->shift;

	assert_int_equal(c->count, span < width ? span : width);
	for (uint32_t i = 0; i < c->count; i++) {
		uint64_t tiles = c->edges[i + 1] - c->edges[i];

		least = tiles < least ? tiles : least;
		most = tiles > most ? tiles : most;
	}
	assert_true(least >= (c->shift ? 2 : 1));
	assert_true(most <= 4 && most - least <= 1);
	/* k is the largest with 2^k <= S / W / 2. */
	assert_true(!c->shift || 2 * unit * c->count <= span);
	assert_true((unsigned __int128)4 * unit * c->count > span);
	/* The first column holds the begin. */
	assert_true(c->edges[0] <= begin >> c->shift && c->edges[1] > begin >> c->shift);
	/* As wide as the window: within one tile, or 2 % where T is rounded. */
	{
		uint64_t shown = (c->edges[c->count] - c->edges[0]) * unit;
		uint64_t off = shown > span ? shown - span : span - shown;

		assert_true(off <= span / 50 + unit + 1);
	}
}

static void test_columns(void **unused)
{
	static uint64_t edges[WIDTH_MAX + 1], panned[WIDTH_MAX + 1];
	struct tile_columns c = {.edges = edges}, d = {.edges = panned};

	(void)unused;
	small_seed("tile.columns");
	for (int round = 0; round < 100000; round++) {
		uint32_t width = 1 + (uint32_t)small_below(WIDTH_MAX);
		uint64_t span = 1 + (small_draw() >> 24 >> small_below(39));
		uint64_t origin = small_below(2) ? small_draw() >> 20 : 0;
		uint64_t begin = origin + (small_draw() >> 24 >> small_below(39));
		uint32_t steps;

		tile_columns_fit(&c, begin, begin + span, width, origin);
		check_columns(&c, begin, begin + span, width);
		/* A pan by whole columns keeps the edges that stay on screen. */
		steps = (uint32_t)small_below(c.count);
		tile_columns_fit(
			&d, edges[steps] << c.shift, (edges[steps] << c.shift) + span, width, origin);
		assert_int_equal(c.shift, d.shift);
		for (uint32_t i = steps; i <= c.count; i++)
			assert_int_equal(edges[i], panned[i - steps]);
	}
}

static void test_columns_before_origin(void **unused)
{
	uint64_t edges[11];
	struct tile_columns c = {.edges = edges};

	(void)unused;
	tile_columns_fit(&c, 1000, 1200, 10, 5000);
	check_columns(&c, 1000, 1200, 10);
	tile_columns_fit(&c, 0, 10, 10, 5000);
	assert_int_equal(edges[0], 0);
	tile_columns_fit(&c, 0, UINT64_MAX, 10, 0);
	assert_true(c.shift <= 62);
	tile_columns_fit(&c, 7, 7, 0, 0);
	assert_int_equal(c.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_projected), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_before_origin)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
