/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_compare.c - two runs in one session: pairs hold each stream once and a run is paired with itself stream
 * by stream; a run has no difference from itself; shifting there and back, and panning each run alone, gives
 * the first picture again; a long read can be stopped.
 */
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "timeline/base/progress.h"
#include "timeline/scan/scan.h"

static char run_b[64], run_long[64];

static int make(void **state)
{
	(void)state;
	return begin_world(8000, 7) || make_run(run_b, "b", 17, 8000, 11) ||
	       make_run(run_long, "longer", 12, 24000, 7);
}

static void open_both(struct fixture *f, const char *b)
{
	open_session(f, b, (struct session_looks){.colours = 256});
}

static void test_pairs(void **state)
{
	struct fixture f;
	struct compare *compare;
	bool seen[2][64] = {{false}};

	(void)state;
	open_both(&f, run_b);
	draw(&f);
	compare = f.session->compare;
	for (uint32_t i = 0; i < compare->pair_count; i++) {
		uint32_t ids[2] = {compare->pairs[i].a, compare->pairs[i].b};
		struct run *runs[2] = {f.run, compare->other->run};
		assert_true(ids[0] != UINT32_MAX || ids[1] != UINT32_MAX);
		for (int side = 0; side < 2; side++) {
			if (ids[side] == UINT32_MAX)
				continue;
			assert_false(seen[side][ids[side]]);
			seen[side][ids[side]] = true;
		}
		if (ids[0] == UINT32_MAX || ids[1] == UINT32_MAX)
			continue;
		assert_int_equal(run_stream(runs[0], ids[0])->s.kind, run_stream(runs[1], ids[1])->s.kind);
		assert_int_equal(run_stream(runs[0], ids[0])->s.rank, run_stream(runs[1], ids[1])->s.rank);
	}
	for (uint32_t i = 0; i < run_stream_count(f.run); i++)
		assert_true(seen[0][i]);
	for (uint32_t i = 0; i < run_stream_count(compare->other->run); i++)
		assert_true(seen[1][i]);
	close_session(&f);
}

/* Whole pictures of a run beside itself: the same cells in both halves, no difference. */
static void test_itself(void **state)
{
	struct fixture f;
	struct compare *compare;

	(void)state;
	open_both(&f, run_a);
	press(&f, "wwe");
	compare = f.session->compare;
	for (uint32_t i = 0; i < compare->pair_count; i++)
		assert_int_equal(compare->pairs[i].a, compare->pairs[i].b);
	assert_true(compare_take(f.session));
	assert_true(compare->result.count > 3);
	for (size_t i = 0; i < compare->result.count; i++)
		assert_true(compare->result.rows[i].delta_ns == 0);
	assert_int_equal(f.session->frame.begin_ns, compare->other->frame.begin_ns);
	assert_int_equal(f.session->frame.end_ns, compare->other->frame.end_ns);
	close_session(&f);
}

/* What is taken out of the paths of one run is taken out of those of the other. */
static void test_filters(void **state)
{
	struct fixture f;
	struct frame *a, *b;
	bool is_shorter;

	(void)state;
	open_both(&f, run_a);
	press(&f, "wwe:depth 2<Enter>");
	a = &f.session->frame;
	b = &f.session->compare->other->frame;
	for (int turn = 0; turn < 2; turn++) {
		unsigned functions = 0;

		for (uint32_t context = 1; context < run_context_count(f.run); context++) {
			uint32_t function = frame_function(a, context, &is_shorter);

			assert_int_equal(function, frame_function(b, context, &is_shorter));
			functions += function != UINT32_MAX;
		}
		assert_true(functions > 3);
		press(&f, ":hide self main<Enter>");
	}
	close_session(&f);
}

static void test_shift_back(void **state)
{
	struct fixture f;
	struct grid before;
	size_t size = ROWS * COLUMNS * sizeof(struct grid_cell);

	(void)state;
	open_both(&f, run_b);
	press(&f, "wwe");
	assert_int_equal(grid_init(&before, ROWS, COLUMNS, false), 0);
	press(&f, "<C-l>");
	memcpy(before.cells, f.grid.cells, size);
	press(&f, ">>>");
	assert_memory_not_equal(before.cells, f.grid.cells, size);
	press(&f, "<lt><lt><lt>");
	assert_memory_equal(before.cells, f.grid.cells, size);
	press(&f, "<Tab><Tab>d"); /* B alone: A's half stays */
	assert_memory_not_equal(before.cells, f.grid.cells, size);
	press(&f, "a<Tab><C-l>");
	assert_memory_equal(before.cells, f.grid.cells, size);
	grid_fini(&before);
	close_session(&f);
}

/* ---- a B that lasts longer ---- */

static void check_window(const struct fixture *f, uint64_t begin_ns, uint64_t end_ns)
{
	assert_int_equal(f->session->state.begin_ns, begin_ns);
	assert_int_equal(f->session->state.end_ns, end_ns);
}

/* Windows reach the end of the longer run, by every key and command, and those of A alone do not. */
static void test_longer(void **state)
{
	uint64_t begin_ns, end_ns, longer_ns;
	struct compare *compare;
	struct fixture f;
	char keys[64];

	(void)state;
	open_both(&f, run_long);
	draw(&f);
	compare = f.session->compare;
	begin_ns = run_begin_ns(f.run), end_ns = run_end_ns(f.run);
	assert_true(run_begin_ns(compare->other->run) == begin_ns);
	longer_ns = run_end_ns(compare->other->run);
	assert_true(longer_ns > end_ns + (end_ns - begin_ns) / 2);
	check_window(&f, begin_ns, longer_ns);
	assert_true(compare->other->frame.end_ns >= longer_ns);
	press(&f, "wwssss");
	check_window(&f, begin_ns, longer_ns);
	press(&f, "wwDDDDDDDD");
	assert_int_equal(f.session->state.end_ns, longer_ns);
	assert_true(f.session->state.begin_ns > end_ns);
	assert_false(compare_take(f.session)); /* A has no time there */
	press(&f, "0");
	check_window(&f, begin_ns, longer_ns);
	snprintf(keys, sizeof(keys), ":time %lluns..<Enter>",
		(unsigned long long)(end_ns + 1000 - run_origin_ns(f.run)));
	press(&f, keys);
	check_window(&f, end_ns + 1000, longer_ns);
	snprintf(keys, sizeof(keys), "0g%lluns<Enter>",
		(unsigned long long)(end_ns + 1000 - run_origin_ns(f.run)));
	press(&f, keys);
	assert_int_equal(f.session->state.cursor_ns, end_ns + 1000);
	snprintf(keys, sizeof(keys), ":time %lluns..<Enter>",
		(unsigned long long)(end_ns + 1000 - run_origin_ns(f.run)));
	press(&f, keys);
	press(&f, ":time -1000ns..<Enter>"); /* from the end of both */
	assert_int_equal(f.session->state.end_ns, longer_ns);
	assert_true(f.session->state.begin_ns > end_ns + 1000);
	press(&f, keys);
	press(&f, "?q"); /* the help is only in front of it */
	check_window(&f, end_ns + 1000, longer_ns);
	press(&f, "0q");
	check_window(&f, begin_ns, end_ns);
	press(&f, "9");
	check_window(&f, begin_ns, longer_ns);
	press(&f, keys);
	press(&f, "q");
	assert_true(f.session->state.end_ns <= end_ns);
	press(&f, "90wqu"); /* undo brings the whole of both back: alone, that is the whole of A */
	check_window(&f, begin_ns, end_ns);
	press(&f, "9:time 0ns..<Enter>w"); /* ... and what has its end in B alone, moves into A */
	press(&f, keys);
	press(&f, "wqu");
	assert_true(f.session->state.end_ns <= end_ns);
	close_session(&f);
}

/* A shift moves B on a screen that stands still; afterwards the whole is what both have then. */
static void test_longer_shifted(void **state)
{
	uint64_t begin_ns, longer_ns, column_ns;
	struct fixture f;

	(void)state;
	open_both(&f, run_long);
	draw(&f);
	begin_ns = run_begin_ns(f.run), longer_ns = run_end_ns(f.session->compare->other->run);
	column_ns = (f.session->frame.end_ns - f.session->frame.begin_ns) / f.session->frame.columns.count;
	press(&f, ">");
	check_window(&f, begin_ns, longer_ns);
	press(&f, "0");
	check_window(&f, begin_ns, longer_ns + column_ns);
	close_session(&f);
}

/* ---- stopping ---- */

static bool never(void *own, const char *what, uint64_t done, uint64_t all)
{
	assert_non_null(what);
	assert_true(done <= all);
	++*(int *)own;
	return false;
}

static long read_all(struct run *run, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count, all = 0;

	assert_int_equal(scan_open(&scan, run, 0, STORE_SAMPLES, 0, STORE_OPEN_NS, STORE_BEGIN, 0, error), 0);
	while ((count = scan_next(scan, &batch, error)) > 0)
		all += count;
	scan_close(scan);
	return count < 0 ? count : all;
}

/* A watcher that wants no more ends a long read with an error, and the next one is whole. */
static void test_stop(void **state)
{
	char name[64];
	struct simulate_options make = {
		.run = name, .shape = "cpu", .streams = 1, .records = 200000, .seed = 3};
	struct run_options options = {.no_cache = true};
	struct run *run;
	struct error error;
	int asked = 0;

	(void)state;
	snprintf(name, sizeof(name), "%s/long.hpct", directory);
	assert_int_equal(simulate_run(&make, &error), 0);
	assert_int_equal(run_open(&run, name, &options, &error), 0);
	progress_watch(never, &asked, 0);
	assert_int_equal(read_all(run, &error), -ERROR_IO);
	assert_non_null(strstr(error.text, "stopped"));
	assert_int_equal(asked, 1);
	assert_int_equal(read_all(run, &error), -ERROR_IO); /* until the next watch */
	assert_int_equal(asked, 1);
	progress_watch(NULL, NULL, 0);
	assert_true(read_all(run, &error) > 100000);
	run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_itself),
		cmocka_unit_test(test_filters), cmocka_unit_test(test_shift_back),
		cmocka_unit_test(test_longer), cmocka_unit_test(test_longer_shifted),
		cmocka_unit_test(test_stop)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
