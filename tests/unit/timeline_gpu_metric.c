/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_gpu_metric.c - the metrics of S4 tables 8.1 to 8.6: a run with one operation of each kind, whose
 * sums are written down here; random ones against a plain sum, windows adding up to the whole; the ratio of a
 * row.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/profile/profile.h"
#include "timeline/sum/gpu_metric.h"

#define CLOCK 1000

/* Profile of these metrics; the root's inclusive values are those of the window. */
static void profile_of(struct profile *profile, struct small_run *small, const char *metrics,
	const char *time, const char *context, struct arena *arena)
{
	struct select *select;
	struct error error = {0};

	assert_int_equal(select_new(&select, &error), 0);
	select_take_state_metrics(select);
	select_take_gpu(select);
	assert_int_equal(select_option(select, "metric", metrics, &error), 0);
	if (time)
		assert_int_equal(select_option(select, "time", time, &error), 0);
	if (context)
		assert_int_equal(select_option(select, "context", context, &error), 0);
	if (select_bind(select, small->run, &error) ||
		profile_compute(profile, small->run, select, PROFILE_TOP_DOWN, arena, &error))
		fail_msg("%s", error.text);
	select_free(select);
}

/* Of all operations; UINT64_MAX: the profile has no such column. */
static uint64_t total(struct small_run *small, const char *metric)
{
	struct arena arena = {0};
	struct profile profile;
	uint64_t value;

	profile_of(&profile, small, metric, NULL, NULL, &arena);
	value = profile.metric_count ? profile.count ? profile.rows[0].inclusive[0].number : 0 : UINT64_MAX;
	arena_fini(&arena);
	return value;
}

static void put(struct small_run *small, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, uint32_t op,
	const char *path, uint64_t bytes, const char *attributes)
{
	struct store_record span = {.begin_ns = begin_ns,
		.end_ns = end_ns,
		.what = op,
		.bytes = bytes,
		.context = small_path(small->writer, path),
		.attributes = store_writer_text(small->writer, attributes, strlen(attributes))};

	store_writer_append(small->writer, stream, STORE_SPANS, &span, 1);
}

/* ---- one of each ---- */

static const char *const memory_kinds[] = {"UNK", "PAG", "PIN", "DEV", "ARY", "MAN", "DST", "MST"};
static const char *const copy_kinds[] = {
	"UNK", "H2D", "D2H", "H2A", "A2H", "A2A", "A2D", "D2A", "D2D", "H2H", "P2P"};
static const char *const sync_kinds[] = {"UNK", "EVT", "STRE", "STR", "CTX"};

static void put_kinds(
	struct small_run *small, uint32_t stream, uint32_t op, const char *const *kinds, unsigned count)
{
	char text[32];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "kind=%s", kinds[i]);
		put(small, stream, 10 * i, 10 * i + i + 1, op, "main;go", 100 + i, text);
	}
}

static void check_kinds(struct small_run *small, const char *group, const char *const *kinds, unsigned count,
	uint64_t first, uint64_t step)
{
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s:%s", group, kinds[i]);
		assert_int_equal(total(small, name), first + i * step);
	}
}

static void test_tables(void **state)
{
	struct small_run small;
	uint32_t thread, queue;

	(void)state;
	small_begin(&small);
	thread = small_cpu(small.writer, 0, 0, CLOCK);
	queue = small_gpu(small.writer, 1, 0, CLOCK);
	put_kinds(&small, queue, STORE_OP_COPY, copy_kinds, 11);
	put_kinds(&small, queue, STORE_OP_SET, memory_kinds, 8);
	put_kinds(&small, thread, STORE_OP_ALLOC, memory_kinds, 8);
	put_kinds(&small, thread, STORE_OP_FREE, memory_kinds, 8);
	put_kinds(&small, thread, STORE_OP_SYNC, sync_kinds, 5);
	put(&small, queue, 500, 540, STORE_OP_COPY, "main;odd", 7, "kind=NEW");
	put(&small, queue, 600, 620, STORE_OP_KERNEL, "main;go;axpy", 0,
		"grid=4:2:1,block=32:2:1,registers=20,shared_static=64,shared_dynamic=1000,local=8,"
		"occupancy_permille=500");
	put(&small, queue, 600, 640, STORE_OP_KERNEL, "main;go;axpy", 0,
		"grid=1:1:1,block=128:1:1,registers=30,occupancy_permille=250");
	put(&small, queue, 600, 607, STORE_OP_KERNEL, "main;odd", 0, "");
	put(&small, queue, 700, 900, STORE_OP_GRAPH, "main", 0, "graph=1");
	small_ready(&small);

	check_kinds(&small, "GMEM", memory_kinds, 8, 200, 2);
	check_kinds(&small, "GMSET", memory_kinds, 8, 100, 1);
	check_kinds(&small, "GXCOPY", copy_kinds + 1, 10, 101, 1);
	check_kinds(&small, "GSYNC", sync_kinds, 5, 1, 1);
	assert_int_equal(total(&small, "GXCOPY:UNK"), 100 + 7); /* a kind that no table knows is unknown */
	assert_int_equal(total(&small, "GMEM:COUNT"), 16);
	assert_int_equal(total(&small, "GMSET:COUNT"), 8);
	assert_int_equal(total(&small, "GXCOPY:COUNT"), 12);
	assert_int_equal(total(&small, "GSYNC:COUNT"), 5);
	assert_int_equal(total(&small, "GKER"), 67);
	assert_int_equal(total(&small, "GMEM"), 2 * 36);
	assert_int_equal(total(&small, "GMSET"), 36);
	assert_int_equal(total(&small, "GXCOPY"), 66 + 40);
	assert_int_equal(total(&small, "GSYNC"), 15);
	assert_int_equal(total(&small, "GPUOP"), 67 + 72 + 36 + 106 + 15);
	assert_int_equal(total(&small, "GKER:COUNT"), 3);
	assert_int_equal(total(&small, "GKER:STMEM"), 64);
	assert_int_equal(total(&small, "GKER:DYMEM"), 1000);
	assert_int_equal(total(&small, "GKER:LMEM"), 8);
	assert_int_equal(total(&small, "GKER:THR_REG"), 50);
	assert_int_equal(total(&small, "GKER:BLK_THR"), 64 + 128);
	assert_int_equal(total(&small, "GKER:BLK"), 8 + 1);
	assert_int_equal(total(&small, "GKER:BLK_SM"), 1064);
	assert_int_equal(total(&small, "GKER:FGP_ACT"), 750);
	assert_int_equal(total(&small, "GKER:FGP_MAX"), 2000); /* the third did not say */
	small_end(&small);
}

/* ---- columns ---- */

static void test_columns(void **state)
{
	struct small_run small;
	struct arena arena = {0};
	struct profile profile;
	uint32_t queue;

	(void)state;
	small_begin(&small);
	queue = small_gpu(small.writer, 1, 0, CLOCK);
	put(&small, queue, 0, 20, STORE_OP_KERNEL, "main;a", 0, "occupancy_permille=800");
	put(&small, queue, 20, 40, STORE_OP_KERNEL, "main;b", 0, "occupancy_permille=400");
	put(&small, queue, 40, 50, STORE_OP_COPY, "main;b", 64, "kind=D2H");
	small_ready(&small);

	/* Of a pattern what there is, of a name always; in the order asked for. */
	profile_of(&profile, &small, "GXCOPY:*,GMSET:DEV,GKER", NULL, NULL, &arena);
	assert_int_equal(profile.metric_count, 4);
	assert_string_equal(profile.metrics[0].name, "GXCOPY:D2H");
	assert_string_equal(profile.metrics[1].name, "GXCOPY:COUNT");
	assert_string_equal(profile.metrics[2].name, "GMSET:DEV");
	assert_string_equal(profile.metrics[3].name, "GKER");

	/* The ratio is each row's own, not a sum. */
	profile_of(&profile, &small, "GKER:OCC_THR", NULL, NULL, &arena);
	assert_int_equal(profile.metric_count, 3);
	assert_string_equal(profile.metrics[0].name, "GKER:OCC_THR");
	for (size_t i = 0; i < profile.count; i++) {
		const struct profile_row *row = &profile.rows[i];
		char name = row->name[row->name_bytes - 1];

		assert_true(row->inclusive[0].real == (name == 'a' ? 80 : name == 'b' ? 40 : 60));
	}
	profile_of(&profile, &small, "GKER:OCC_THR", NULL, "main;a", &arena);
	assert_true(profile.rows[0].inclusive[0].real == 80);
	arena_fini(&arena);
	small_end(&small);
}

static void test_refused(void **state)
{
	struct small_run small;
	struct select *select;
	struct error error;

	(void)state;
	small_begin(&small);
	small_gpu(small.writer, 1, 0, CLOCK);
	small_ready(&small);
	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_option(select, "metric", "GKER", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "hpct-profile"));
	select_take_gpu(select);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(select_option(select, "metric", "GKERS", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), -ERROR_USAGE);
	select_free(select);
	small_end(&small);
}

/* ---- windows ---- */

/* Any cut of the time gives parts that add up. */
static void test_windows_add_up(void **state)
{
	static const char names[] = "GKER,GXCOPY,GPUOP,GKER:COUNT,GKER:BLK,GXCOPY:H2D,GXCOPY:COUNT";
	struct small_run small;
	struct arena arena = {0};
	struct profile whole, part;
	uint64_t sums[7] = {0}, expected_ns = 0;
	uint32_t queues[2];

	(void)state;
	small_seed(__func__);
	small_begin(&small);
	for (unsigned q = 0; q < 2; q++) {
		queues[q] = small_gpu(small.writer, 1 + q, 0, CLOCK);
		for (unsigned i = 0; i < 200; i++) {
			uint64_t begin_ns = small_below(CLOCK - 60), end_ns = begin_ns + small_below(60);
			bool is_kernel = small_below(2);

			expected_ns += end_ns - begin_ns;
			put(&small, queues[q], begin_ns, end_ns, is_kernel ? STORE_OP_KERNEL : STORE_OP_COPY,
				is_kernel ? "main;k" : "main;c", 8, is_kernel ? "grid=3:1:1" : "kind=H2D");
		}
	}
	small_ready(&small);
	profile_of(&whole, &small, names, NULL, NULL, &arena);
	assert_int_equal(whole.metric_count, 7);
	assert_int_equal(whole.rows[0].inclusive[2].number, expected_ns);
	assert_int_equal(whole.rows[0].inclusive[3].number + whole.rows[0].inclusive[6].number, 400);
	for (uint64_t at_ns = 0; at_ns < CLOCK;) {
		uint64_t end_ns = at_ns + 1 + small_below(200);
		char time[64];

		end_ns = end_ns < CLOCK ? end_ns : CLOCK;
		snprintf(time, sizeof(time), "%" PRIu64 "ns..%" PRIu64 "ns", at_ns, end_ns);
		profile_of(&part, &small, names, time, NULL, &arena);
		for (unsigned m = 0; m < 7 && part.count; m++)
			sums[m] += part.rows[0].inclusive[m].number;
		at_ns = end_ns;
	}
	for (unsigned m = 0; m < 7; m++)
		assert_int_equal(sums[m], whole.rows[0].inclusive[m].number);
	arena_fini(&arena);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_windows_add_up)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
