/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_tile_cut.c - columns whose edges cut chunks of samples: they are made of the chunks' sums less a
 * few rows, and must be those of a run that is read without any sums, entry by entry.
 */
#include "tests/unit/timeline_small_run.h"

#include "tests/simulate.h"
#include "timeline/tile/tile.h"

#define ROUNDS 80
#define COLUMNS_MAX 60u

static char directory[] = "/tmp/hpct-cut.XXXXXX";
static char run_name[64];

static int make_run(void **state)
{
	struct simulate_options options = {
		.run = run_name, .shape = "cpu", .streams = 3, .records = 240000, .seed = 9};
	struct error error;

	(void)state;
	small_seed("timeline_tile_cut");
	if (!mkdtemp(directory))
		return -1;
	snprintf(run_name, sizeof run_name, "%s/run.hpct", directory);
	return simulate_run(&options, &error);
}

static int remove_run(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

/* Merges contexts. */
static uint32_t stand_in(void *own, uint32_t context)
{
	return context % *(const uint32_t *)own;
}

static void check_columns(struct run *runs[2], struct tiles *tiles[2], const struct tile_columns *columns)
{
	uint32_t stream = (uint32_t)small_below(run_stream_count(runs[0]));
	struct tile cells[2][COLUMNS_MAX];
	struct error error;

	for (int i = 0; i < 2; i++)
		assert_int_equal(tiles_cells(tiles[i], stream, columns, cells[i], &error), 0);
	for (uint32_t c = 0; c < columns->count; c++) {
		assert_int_equal(cells[0][c].count, cells[1][c].count);
		for (uint32_t e = 0; e < cells[0][c].count; e++)
			assert_memory_equal(
				&cells[0][c].entries[e], &cells[1][c].entries[e], sizeof(struct tile_entry));
	}
}

static void test_cut(void **state)
{
	static uint32_t merges[] = {UINT32_MAX, 2, 17};
	struct run_options options[2] = {{.no_cache = true}, {.no_cache = true, .no_rollups = true}};
	uint64_t edges[COLUMNS_MAX + 1];
	struct tile_columns columns = {.edges = edges};
	struct tiles *tiles[2];
	struct run *runs[2];
	struct error error;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(run_open(&runs[i], run_name, &options[i], &error), 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t length_ns = run_end_ns(runs[0]) - run_begin_ns(runs[0]);
		uint64_t begin_ns = run_begin_ns(runs[0]) + (round % 4 ? small_below(length_ns) : 0);
		uint64_t end_ns = begin_ns + 1 + (round % 4 ? small_below(length_ns) : length_ns);
		struct tile_projection projection = {&merges[round % 3], stand_in, 2, false};

		for (int i = 0; i < 2; i++) {
			assert_int_equal(tiles_new(&tiles[i], runs[i], 64u << 20, &error), 0);
			if (round % 3)
				assert_int_equal(tiles_project(tiles[i], &projection, &error), 0);
		}
		tile_columns_fit(&columns, begin_ns, end_ns, 1 + (uint32_t)small_below(COLUMNS_MAX),
			run_origin_ns(runs[0]));
		check_columns(runs, tiles, &columns);
		for (int i = 0; i < 2; i++)
			tiles_free(tiles[i]);
	}
	for (int i = 0; i < 2; i++)
		run_close(runs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut)};

	return cmocka_run_group_tests(tests, make_run, remove_run);
}
