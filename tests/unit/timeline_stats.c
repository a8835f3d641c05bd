/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_stats.c - statistics against a twin that asks for every nanosecond of every stream what holds
 * there, and makes the key by hand; and the laws: rows sum to streams x window, windows sum to the whole.
 */
#include "tests/unit/timeline_small_run.h"

#include "tests/simulate.h"
#include "timeline/stats/stats.h"

#define STREAMS 3
#define CLOCK 600
#define ROWS_MAX 256

static const char *const paths[] = {
	"main", "main;solve", "main;solve;smooth", "main;norm", "main;solve;norm"};

static void put_cpu(struct store_writer *writer, uint32_t stream, uint32_t metric)
{
	uint64_t at_ns = 0;

	small_span(writer, stream, 0, CLOCK - 50, STORE_OP_MONITORED, 0, "metric=CPUTIME,period_ns=20");
	while (at_ns < CLOCK - 60) {
		uint32_t context = small_path(writer, paths[small_below(5)]);

		at_ns += 1 + small_below(30);
		if (small_below(6) == 0)
			small_span(writer, stream, at_ns, at_ns + 1 + small_below(40),
				small_below(2) ? STORE_OP_BLOCKED : STORE_OP_RUNNABLE, context, "");
		else
			small_sample(writer, stream, at_ns, context, metric, 20);
	}
}

static void put_gpu(struct store_writer *writer, uint32_t stream)
{
	small_span(writer, stream, 0, CLOCK, STORE_OP_MONITORED, 0, "");
	for (int i = 0; i < 25; i++) {
		uint64_t at_ns = small_below(CLOCK - 50);

		small_span(writer, stream, at_ns, at_ns + 1 + small_below(40),
			small_below(2) ? STORE_OP_KERNEL : STORE_OP_COPY,
			small_below(5) ? small_path(writer, paths[small_below(5)]) : 0,
			small_below(2) ? "kind=htod" : "kind=dtoh");
	}
}

static void run_begin(struct small_run *small)
{
	uint32_t metric;

	small_begin(small);
	metric = store_writer_metric(small->writer, "CPUTIME", "ns", false);
	put_cpu(small->writer, small_cpu(small->writer, 0, 0, CLOCK), metric);
	put_cpu(small->writer, small_cpu(small->writer, 1, 0, CLOCK), metric);
	put_gpu(small->writer, small_gpu(small->writer, 1, 0, CLOCK));
	small_ready(small);
}

/* ---- the twin ---- */

struct twin_row {
	char key[128];
	uint64_t time_ns;
};

static void add_to(struct twin_row *rows, size_t *count, const char *key)
{
	size_t i = 0;

	while (i < *count && strcmp(rows[i].key, key) != 0)
		i++;
	if (i == *count) {
		assert_true(*count < ROWS_MAX);
		snprintf(rows[(*count)++].key, sizeof rows[i].key, "%s", key);
	}
	rows[i].time_ns++;
}

/* The path cut below `depth` frames; names here need no escapes. */
static void cut_path(char *path, uint32_t depth)
{
	for (; *path; path++)
		if (*path == ';' && --depth == 0)
			*path = '\0';
}

static void key_at(struct run *run, uint32_t stream, const struct extent *extent, enum stats_by by,
	uint32_t depth, char key[128])
{
	struct arena arena = {0};
	const char *last;

	snprintf(key, 128, "%s", extent_state_name(extent->state));
	if (!extent_state_is_busy(extent->state))
		return;
	if (by == STATS_OP) {
		if (extent->op != STORE_OP_NONE)
			snprintf(key, 128, "%s", run_op_name(run, extent->op));
	} else if (by == STATS_STREAM) {
		snprintf(key, 128, "%s", run_stream(run, stream)->text);
	} else if (extent->context != 0) {
		snprintf(key, 128, "%s", run_context_path(run, extent->context, UINT32_MAX, &arena));
		cut_path(key, depth);
		last = strrchr(key, ';');
		if (by == STATS_FUNCTION && last)
			memmove(key, last + 1, strlen(last + 1) + 1);
	}
	arena_fini(&arena);
}

static size_t twin_of(struct run *run, uint64_t begin_ns, uint64_t end_ns, enum stats_by by, uint32_t depth,
	struct twin_row *rows)
{
	size_t count = 0;

	for (uint32_t stream = 0; stream < run_stream_count(run); stream++)
		for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns++) {
			struct extent extent;
			struct error error;
			char key[128];

			assert_int_equal(extent_at(run, stream, at_ns, &extent, &error), 0);
			key_at(run, stream, &extent, by, depth, key);
			add_to(rows, &count, key);
		}
	return count;
}

static struct stats ask(struct run *run, uint64_t begin_ns, uint64_t end_ns, enum stats_by by, uint32_t depth,
	struct arena *arena)
{
	const uint32_t streams[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct error error = {0};
	struct stats stats;

	if (stats_compute(
		    &stats, run, streams, run_stream_count(run), begin_ns, end_ns, by, depth, arena, &error))
		fail_msg("%s", error.text);
	return stats;
}

static uint64_t time_of(const struct stats *stats, const char *key)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < stats->count; i++)
		if (strcmp(stats->rows[i].key, key) == 0)
			time_ns += stats->rows[i].time_ns;
	return time_ns;
}

static void assert_twin(struct run *run, uint64_t begin_ns, uint64_t end_ns, enum stats_by by, uint32_t depth)
{
	struct twin_row rows[ROWS_MAX] = {{{0}}};
	struct arena arena = {0};
	struct stats stats = ask(run, begin_ns, end_ns, by, depth, &arena);
	size_t count = twin_of(run, begin_ns, end_ns, by, depth, rows);
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++) {
		if (time_of(&stats, rows[i].key) != rows[i].time_ns)
			fail_msg("%s by %s depth %u: %" PRIu64 ", twin %" PRIu64, rows[i].key,
				stats_by_name(by), depth, time_of(&stats, rows[i].key), rows[i].time_ns);
	}
	for (size_t i = 0; i < stats.count; i++) {
		sum_ns += stats.rows[i].time_ns;
		if (i > 0)
			assert_true(stats.rows[i - 1].time_ns >= stats.rows[i].time_ns);
	}
	assert_int_equal(sum_ns, stats.total_ns);
	assert_int_equal(stats.total_ns, (end_ns - begin_ns) * run_stream_count(run));
	arena_fini(&arena);
}

static void test_twin(void **state)
{
	static const enum stats_by bys[] = {STATS_FUNCTION, STATS_PATH, STATS_STREAM, STATS_OP};

	(void)state;
	small_seed("twin");
	for (int round = 0; round < 4; round++) {
		struct small_run small;

		run_begin(&small);
		for (size_t i = 0; i < 4; i++) {
			uint64_t begin_ns = small_below(CLOCK - 100);

			assert_twin(small.run, 0, CLOCK + 20, bys[i], UINT32_MAX);
			assert_twin(small.run, begin_ns, begin_ns + 1 + small_below(100), bys[i], UINT32_MAX);
			assert_twin(small.run, 0, CLOCK, bys[i], 1 + (uint32_t)small_below(3));
		}
		small_end(&small);
	}
}

/* Windows that part the run: times, and records, which begin in one of them, sum to the whole, key by key. */
static void test_windows_sum(void **state)
{
	(void)state;
	small_seed("windows_sum");
	for (unsigned i = 0; simulate_shape_name(i); i++) {
		char path[] = "/tmp/hpct-test-stats-XXXXXX";
		struct simulate_options options = {.run = path,
			.shape = simulate_shape_name(i),
			.streams = 3,
			.records = 3000,
			.seed = i + 1};
		struct arena arena = {0};
		struct error error = {0};
		uint64_t begin_ns = 900000000, end_ns = 1500000000, cut_ns, records = 0, parts = 0;
		struct stats all, left, right;
		struct run *run;

		assert_non_null(mkdtemp(path));
		rmdir(path);
		if (simulate_run(&options, &error) || run_open(&run, path, NULL, &error))
			fail_msg("%s", error.text);
		if (run_end_ns(run) < end_ns) {
			begin_ns = run_begin_ns(run);
			end_ns = run_end_ns(run);
		}
		cut_ns = begin_ns + 1 + small_below(end_ns - begin_ns - 1);
		all = ask(run, begin_ns, end_ns, STATS_PATH, UINT32_MAX, &arena);
		left = ask(run, begin_ns, cut_ns, STATS_PATH, UINT32_MAX, &arena);
		right = ask(run, cut_ns, end_ns, STATS_PATH, UINT32_MAX, &arena);
		assert_true(all.count > 3);
		for (size_t row = 0; row < all.count; row++) {
			const char *key = all.rows[row].key;

			assert_int_equal(time_of(&all, key), time_of(&left, key) + time_of(&right, key));
			records += all.rows[row].records;
		}
		for (size_t row = 0; row < left.count; row++)
			parts += left.rows[row].records;
		for (size_t row = 0; row < right.count; row++)
			parts += right.rows[row].records;
		assert_int_equal(parts, records);
		assert_int_equal(all.monitored_ns, left.monitored_ns + right.monitored_ns);
		run_close(run);
		arena_fini(&arena);
		small_remove(path);
	}
}

static void test_names(void **state)
{
	(void)state;
	for (int by = 0; by < STATS_BY_COUNT; by++)
		assert_int_equal(stats_by_find(stats_by_name((enum stats_by)by)), by);
	assert_int_equal(stats_by_find("colour"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin),
		cmocka_unit_test(test_windows_sum),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
