/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_dense.c - lines of many records are read projected to the frame's depth, out of leaves that are kept or
 * not, in steps, and hinted at before: cells, shares and sums at any depth must be those of the line with all
 * its leaf contexts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/simulate.h"
#include "tui/timeline/frame.h"
#include "tui/timeline/sums.h"

#define WIDTH 61u
#define DEPTHS 9u
#define SHARES 512u

static char directory[] = "/tmp/hpct-dense.XXXXXX";
static char run_name[64];

static int make_run(void **state)
{
	struct simulate_options options = {
		.run = run_name, .shape = "mixed", .streams = 12, .records = 60000, .seed = 5};
	struct error error;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(run_name, sizeof(run_name), "%s/run.hpct", directory);
	return simulate_run(&options, &error);
}

static int remove_run(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* Two frames of a run: all its lines are dense in one, none is in the other. */
struct twins {
	struct run *run;
	struct tiles *tiles[2];
	struct frame frames[2];
};

static void twins_open(struct twins *twins, bool keeps_leaves)
{
	struct run_options options = {.no_cache = true};
	struct error error;

	assert_int_equal(run_open(&twins->run, run_name, &options, &error), 0);
	for (int i = 0; i < 2; i++) {
		uint64_t begin_ns = run_begin_ns(twins->run), end_ns = run_end_ns(twins->run);

		assert_int_equal(tiles_new(&twins->tiles[i], twins->run, 64 << 20, &error), 0);
		assert_int_equal(frame_init(&twins->frames[i], twins->run, twins->tiles[i], &error), 0);
		twins->frames[i].dense_records = i ? UINT32_MAX : 0;
		twins->frames[i].rolled_records = keeps_leaves ? UINT32_MAX : 0;
		assert_int_equal(frame_lay(&twins->frames[i], begin_ns, end_ns, WIDTH, &error), 0);
	}
}

static void twins_close(struct twins *twins)
{
	for (int i = 0; i < 2; i++) {
		frame_fini(&twins->frames[i]);
		tiles_free(twins->tiles[i]);
	}
	run_close(twins->run);
}

static void same_cell(struct twins *twins, const struct frame_line *const lines[2], uint32_t column)
{
	static struct cell_share shares[2][SHARES];
	struct cell cells[2];
	size_t counts[2];

	for (int i = 0; i < 2; i++) {
		cells[i] = frame_cell(&twins->frames[i], lines[i], column);
		counts[i] = frame_shares(&twins->frames[i], lines[i], column, shares[i], SHARES);
	}
	assert_int_equal(cells[0].kind, cells[1].kind);
	assert_int_equal(cells[0].state, cells[1].state);
	assert_int_equal(cells[0].nick, cells[1].nick);
	assert_int_equal(cells[0].eighths, cells[1].eighths);
	assert_int_equal(cells[0].function, cells[1].function);
	assert_true(cells[0].time_ns == cells[1].time_ns);
	assert_int_equal(counts[0], counts[1]);
	for (size_t s = 0; s < counts[0]; s++) {
		assert_int_equal(shares[0][s].function, shares[1][s].function);
		assert_int_equal(shares[0][s].state, shares[1][s].state);
		assert_true(shares[0][s].time_ns == shares[1][s].time_ns);
		assert_int_equal(shares[0][s].records, shares[1][s].records);
	}
}

/* By steps where the depth is odd. */
static const struct frame_line *read_line(struct frame *frame, uint32_t stream)
{
	const struct frame_line *line;
	struct error error;
	bool is_done = frame->depth % 2 == 0;

	for (unsigned step = 0; !is_done; step++) {
		assert_int_equal(frame_read_step(frame, stream, 7, &is_done, &error), 0);
		assert_true(is_done || !frame_line(frame, stream));
		assert_true(step <= WIDTH / 7);
	}
	assert_int_equal(frame_read(frame, stream, &line, &error), 0);
	assert_non_null(line);
	return line;
}

static void same_lines(struct twins *twins, uint32_t stream)
{
	const struct frame_line *lines[2] = {
		read_line(&twins->frames[0], stream), read_line(&twins->frames[1], stream)};
	uint32_t last = twins->frames[0].columns.count;

	assert_int_equal(lines[0]->level, frame_level(&twins->frames[0]));
	assert_int_equal(lines[1]->level, 0);
	assert_true(lines[0]->first[last] <= lines[1]->first[last]);
	assert_true(lines[0]->there_ns == lines[1]->there_ns && lines[0]->known_ns == lines[1]->known_ns &&
		    lines[0]->lost_ns == lines[1]->lost_ns);
	for (uint32_t column = 0; column < last; column++)
		same_cell(twins, lines, column);
}

/* One column of leaves is the same as in the line with all of them. */
static void same_leaves(struct twins *twins, uint32_t stream, uint32_t column)
{
	const struct tile_entry *leaves[2];
	uint32_t counts[2] = {0};
	struct error error;

	for (int i = 0; i < 2; i++) {
		leaves[i] = frame_leaves_at(&twins->frames[i], stream, column, &counts[i], &error);
		assert_non_null(leaves[i]);
	}
	assert_null(twins->frames[0].leaves[stream]);
	assert_int_equal(counts[0], counts[1]);
	assert_memory_equal(leaves[0], leaves[1], counts[0] * sizeof(**leaves));
}

static int compare_sums(const void *x, const void *y)
{
	const struct sums_line *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->class > b->class) - (a->class < b->class);
}

static void same_sums(struct twins *twins, const uint32_t *streams, uint32_t count, enum stats_by by)
{
	struct sums_line *lines[2];
	size_t counts[2];

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			sums_add_up(&lines[i], &counts[i], &twins->frames[i], streams, count, by), 0);
		qsort(lines[i], counts[i], sizeof(**lines), compare_sums);
	}
	assert_int_equal(counts[0], counts[1]);
	for (size_t s = 0; s < counts[0]; s++) {
		assert_true(lines[0][s].id == lines[1][s].id);
		assert_int_equal(lines[0][s].class, lines[1][s].class);
		assert_true(lines[0][s].time_ns == lines[1][s].time_ns);
		assert_true(lines[0][s].records == lines[1][s].records);
	}
	free(lines[0]);
	free(lines[1]);
}

static void test_same_of(bool keeps_leaves)
{
	static const enum stats_by by[] = {
		STATS_FUNCTION, STATS_PATH, STATS_MODULE, STATS_LINE, STATS_STREAM, STATS_OP};
	uint32_t streams[64], count;
	struct twins twins;

	twins_open(&twins, keeps_leaves);
	count = run_stream_count(twins.run) < 64 ? run_stream_count(twins.run) : 64;
	/* up, down and up again: what was read at a depth is of use at that one alone */
	for (uint32_t turn = 1; turn < 3 * DEPTHS; turn++) {
		uint32_t depth = turn < 2 * DEPTHS ? 1 + turn % DEPTHS : 3 * DEPTHS - turn;

		for (int i = 0; i < 2; i++)
			frame_set_depth(&twins.frames[i], depth);
		for (uint32_t stream = 0; stream < count; stream++) {
			streams[stream] = stream;
			same_lines(&twins, stream);
		}
		for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
			same_sums(&twins, streams, count, by[i]);
	}
	twins_close(&twins);
}

static void test_same(void **state)
{
	(void)state;
	test_same_of(false);
}

static void test_same_kept(void **state)
{
	(void)state;
	test_same_of(true);
}

static void test_leaves_of(bool keeps_leaves)
{
	struct twins twins;

	twins_open(&twins, keeps_leaves);
	for (int i = 0; i < 2; i++)
		frame_set_depth(&twins.frames[i], 3);
	for (uint32_t stream = 0; stream < run_stream_count(twins.run); stream++) {
		for (int i = 0; i < 2; i++)
			read_line(&twins.frames[i], stream);
		for (uint32_t column = 0; column < WIDTH; column += 3)
			if (column < twins.frames[0].columns.count)
				same_leaves(&twins, stream, column);
	}
	twins_close(&twins);
}

static void test_leaves(void **state)
{
	(void)state;
	test_leaves_of(false);
	test_leaves_of(true);
}

static void test_depths_of(bool keeps_leaves)
{
	struct twins twins;
	uint32_t deepest[2];

	twins_open(&twins, keeps_leaves);
	for (int i = 0; i < 2; i++) {
		for (uint32_t stream = 0; stream < run_stream_count(twins.run); stream++)
			read_line(&twins.frames[i], stream);
		deepest[i] = frame_deepest(&twins.frames[i]);
	}
	assert_int_equal(deepest[0], deepest[1]);
	assert_true(deepest[0] > 1);
	twins_close(&twins);
}

static void test_depths(void **state)
{
	(void)state;
	test_depths_of(false);
	test_depths_of(true);
}

/* A hint is what a tile that holds most of the column shows, and gone when the depth is another. */
static void test_coarse(void **state)
{
	struct twins twins;
	struct frame *frame = &twins.frames[0];
	struct error error;
	unsigned hints = 0;

	(void)state;
	twins_open(&twins, false);
	frame_set_depth(frame, 3);
	for (uint32_t stream = 0; stream < run_stream_count(twins.run); stream++) {
		const struct cell *cells;

		assert_null(frame_coarse(frame, stream));
		assert_int_equal(frame_read_coarse(frame, stream, &error), 0);
		assert_null(frame_line(frame, stream));
		cells = frame_coarse(frame, stream);
		assert_non_null(cells);
		for (uint32_t column = 0; column < frame->columns.count; column++)
			hints += cells[column].kind != CELL_STATE;
		assert_int_equal(frame_read_coarse(&twins.frames[1], stream, &error), 0);
		assert_null(frame_coarse(&twins.frames[1], stream));
	}
	assert_true(hints > WIDTH);
	frame_set_depth(frame, 4);
	assert_null(frame_coarse(frame, 0));
	twins_close(&twins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_same_kept),
		cmocka_unit_test(test_leaves), cmocka_unit_test(test_depths), cmocka_unit_test(test_coarse)};

	return cmocka_run_group_tests(tests, make_run, remove_run);
}
