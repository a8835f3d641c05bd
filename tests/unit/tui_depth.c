/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_depth.c - the depth view's laws on a simulated run: every frame drawn stands below its own parent, on a
 * path that the column really holds, and no other child has more time; sums at a depth come to the window.
 */
#include "tests/unit/tui_world.h"

#include "tui/timeline/depth.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 11);
}

static uint32_t function_at(struct run *run, uint32_t context, uint32_t depth)
{
	uint32_t scope = context ? run_context(run, context)->scope : UINT32_MAX;

	if (scope == UINT32_MAX || run_scope(run, scope)->depth < depth)
		return UINT32_MAX;
	return run_scope(run, run_scope_at(run, scope, depth))->function;
}

/* Time in the column of the paths that go through all functions drawn down to the level. */
static uint64_t time_below(struct frame *frame, const struct frame_line *line,
	const struct depth_picture *picture, uint32_t column, uint32_t level)
{
	uint64_t time_ns = 0;

	for (uint32_t e = line->first[column]; e < line->first[column + 1]; e++) {
		bool is_on = true;
		for (uint32_t l = 0; l <= level && is_on; l++)
			is_on = function_at(frame->run, line->entries[e].context, l + 1) ==
				depth_row(picture, l)[column].function;
		time_ns += is_on ? line->entries[e].time_ns : 0;
	}
	return time_ns;
}

static unsigned check_column(struct frame *frame, const struct frame_line *line,
	const struct depth_picture *picture, uint32_t column)
{
	unsigned drawn = 0;

	for (uint32_t level = 0; level < picture->levels; level++) {
		const struct cell *cell = &depth_row(picture, level)[column];
		uint64_t below_ns;
		if (cell->function == UINT32_MAX)
			break;
		drawn++;
		/* a function called from two places may be on two paths: then the sum is larger */
		below_ns = time_below(frame, line, picture, column, level);
		assert_true(below_ns >= cell->time_ns && cell->time_ns > 0);
	}
	for (uint32_t level = drawn; level < picture->levels; level++) /* nothing below the end */
		assert_true(depth_row(picture, level)[column].function == UINT32_MAX);
	return drawn;
}

static void check_sums(struct frame *frame, const struct frame_line *line)
{
	struct depth_sum *sums;
	uint64_t sum_ns = 0;
	size_t count;

	assert_int_equal(depth_add_up(&sums, &count, frame, line), 0);
	for (size_t i = 0; i < count; i++) {
		sum_ns += sums[i].inclusive_ns;
		assert_true(sums[i].exclusive_ns <= sums[i].inclusive_ns);
		assert_true(sums[i].longest_ns <= sums[i].inclusive_ns);
		assert_true(sums[i].runs > 0 && sums[i].longest_ns * sums[i].runs >= sums[i].inclusive_ns);
		assert_true(i == 0 || sums[i].inclusive_ns <= sums[i - 1].inclusive_ns);
	}
	assert_int_equal(sum_ns, frame->end_ns - frame->begin_ns);
	free(sums);
}

static void test_laws(void **state)
{
	struct tiles *tiles;
	struct frame frame;
	struct error error;
	struct run *run;
	unsigned drawn = 0;

	(void)state;
	open_run(&run, run_a);
	assert_int_equal(tiles_new(&tiles, run, 64 << 20, &error), 0);
	assert_int_equal(frame_init(&frame, run, tiles, &error), 0);
	assert_int_equal(frame_lay(&frame, run_begin_ns(run), run_end_ns(run), 97, &error), 0);
	for (uint32_t stream = 0; stream < run_stream_count(run); stream++) {
		const struct frame_line *line;
		struct depth_picture picture;

		assert_int_equal(frame_read(&frame, stream, &line, &error), 0);
		assert_int_equal(depth_compute(&picture, &frame, line), 0);
		assert_int_equal(picture.columns, frame.columns.count);
		for (uint32_t column = 0; column < picture.columns; column++)
			drawn += check_column(&frame, line, &picture, column);
		depth_fini(&picture);
		for (uint32_t depth = 1; depth < 30; depth += 4) {
			frame_set_depth(&frame, depth);
			check_sums(&frame, line);
		}
	}
	assert_true(drawn > 1000);
	frame_fini(&frame);
	tiles_free(tiles);
	run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws)};

	return cmocka_run_group_tests(tests, make, end_world);
}
