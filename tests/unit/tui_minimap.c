/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_minimap.c - the minimap against a twin that walks every extent of every device; read at once, in small
 * steps and at several widths, the sums are the same. That of many threads, from the sums of all streams or
 * in wide tiles, against every thread.
 */
#include "tests/unit/tui_world.h"

#include "tui/timeline/minimap.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 5);
}

/* Busy time of one stream in [begin, end), a nanosecond's truth: every extent. */
static void twin_add(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, uint64_t *busy_ns,
	bool *has_lost)
{
	struct extent extents[64];
	struct extent_walk *walk;
	struct error error;
	long count;

	assert_int_equal(extent_open(&walk, run, stream, begin_ns, end_ns, &error), 0);
	while ((count = extent_next(walk, extents, 64, &error)) > 0) {
		for (long i = 0; i < count; i++) {
			if (extent_state_is_busy(extents[i].state))
				*busy_ns += extents[i].end_ns - extents[i].begin_ns;
			*has_lost = *has_lost || extents[i].state == EXTENT_LOST;
		}
	}
	extent_close(walk);
}

static void check_column(
	const struct minimap *minimap, struct run *run, const struct rows *rows, uint32_t column)
{
	uint64_t begin_ns = minimap_column_ns(minimap, column), sum_ns = 0;
	uint64_t end_ns = minimap_column_ns(minimap, column + 1);
	bool has_lost = false;

	for (uint32_t device = 0; device < rows->node_count; device++) {
		uint64_t busy_ns = 0;
		if (rows->nodes[device].kind != ROWS_DEVICE)
			continue;
		for (uint32_t i = device + 1; i < rows->nodes[device].next; i++)
			twin_add(run, rows->nodes[i].stream, begin_ns, end_ns, &busy_ns, &has_lost);
		sum_ns += busy_ns < end_ns - begin_ns ? busy_ns : end_ns - begin_ns;
	}
	assert_int_equal(minimap->columns[column].busy_ns, sum_ns);
	assert_int_equal(minimap->columns[column].has_lost, has_lost);
	assert_true(minimap->columns[column].is_read);
}

static void test_twin(void **state)
{
	static const uint32_t widths[] = {34, 48, 67, 68, 200};
	struct minimap minimap = {0};
	struct tiles *tiles;
	struct rows rows;
	struct error error;
	struct run *run;

	(void)state;
	open_run(&run, run_a);
	assert_int_equal(rows_init(&rows, run, &error), 0);
	assert_int_equal(tiles_new(&tiles, run, 64 << 20, &error), 0);
	assert_true(rows.device_count > 0);
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		uint64_t all_ns = 0;
		assert_int_equal(minimap_lay(&minimap, run, &rows, widths[w], &error), 0);
		assert_false(minimap.is_done);
		for (int steps = 0; !minimap.is_done && steps < 100000; steps++)
			assert_int_equal(minimap_read(&minimap, tiles, &rows, w % 2, &error), 0);
		assert_true(minimap.is_done);
		assert_true(minimap_column_ns(&minimap, 0) <= run_begin_ns(run));
		assert_true(minimap_column_ns(&minimap, minimap.edges.count) >= run_end_ns(run));
		for (uint32_t c = 0; c < minimap.edges.count; c++) {
			check_column(&minimap, run, &rows, c);
			all_ns += minimap.columns[c].busy_ns;
			assert_int_equal(minimap_column_at(&minimap, minimap_column_ns(&minimap, c)), c);
		}
		assert_true(all_ns > 0);
	}
	minimap_fini(&minimap);
	tiles_free(tiles);
	rows_fini(&rows);
	run_close(run);
}

static void check_threads(unsigned streams, unsigned records, uint32_t width, bool is_about)
{
	char path[64];
	struct simulate_options make = {
		.run = path, .shape = "cpu", .streams = streams, .records = records, .seed = 5};
	uint64_t busy_ns = 0, twin_ns = 0, column_ns;
	struct minimap minimap = {0};
	struct tiles *tiles;
	struct rows rows;
	struct error error;
	struct run *run;
	bool has_lost = false;

	snprintf(path, sizeof(path), "%s/threads-%u.hpct", directory, streams);
	assert_int_equal(simulate_run(&make, &error), 0);
	open_run(&run, path);
	assert_int_equal(rows_init(&rows, run, &error), 0);
	assert_int_equal(tiles_new(&tiles, run, 64 << 20, &error), 0);
	assert_int_equal(minimap_lay(&minimap, run, &rows, width, &error), 0);
	assert_int_equal(minimap_read(&minimap, tiles, &rows, 0, &error), 0);
	assert_true(minimap.is_done);
	assert_int_equal(minimap.is_about, is_about);
	for (uint32_t c = 0; c < minimap.edges.count; c++) {
		column_ns = 0;
		for (uint32_t i = 0; i < run_stream_count(run); i++)
			twin_add(run, i, minimap_column_ns(&minimap, c), minimap_column_ns(&minimap, c + 1),
				&column_ns, &has_lost);
		if (!is_about)
			assert_int_equal(minimap.columns[c].busy_ns, column_ns);
		busy_ns += minimap.columns[c].busy_ns;
		twin_ns += column_ns;
	}
	assert_true(busy_ns > twin_ns / 10 * 8 && busy_ns < twin_ns / 10 * 12);
	minimap_fini(&minimap);
	tiles_free(tiles);
	rows_fini(&rows);
	run_close(run);
}

static void test_threads(void **state)
{
	(void)state;
	check_threads(2000, 200000, 8, false);
	check_threads(24, 24 * 24000, 40, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_threads)};

	return cmocka_run_group_tests(tests, make, end_world);
}
