/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures over time in a store: any window's least, most, sum, last and growth equal those of all its values
 * one by one, also where counters begin anew, values come late, and the store is read while it is written;
 * and the bytes of a value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/read/reader_internal.h"
#include "store/rollup/rollup.h"
#include "store/rollup/series_read.h"
#include "store/write/writer.h"
#include "tests/unit/seed.h"

#define TICKS 40000u
#define STEP_NS UINT64_C(100000000)
#define BEGIN_NS UINT64_C(5000000000)

enum { RESIDENT, CPU, LOAD, METRICS };

static char path[64];
static uint64_t values[METRICS][TICKS], times[TICKS];

static double real_of(uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof number);
	return number;
}

static void draw(uint64_t *seed)
{
	uint64_t pages = 50000, ticks = 17;
	double load = 0;

	for (unsigned i = 0; i < TICKS; i++) {
		times[i] = BEGIN_NS + i * STEP_NS;
		pages += seed_next(seed) % 64;
		if (seed_next(seed) % 500 == 0)
			pages = 50000;
		ticks += seed_next(seed) % 11;
		if (i % 50 == 0) /* as the kernel works it out: every five seconds */
			load = (double)(seed_next(seed) % 1000) / 100;
		if (i == 17000 || i == 17001) /* another process of that name, or a reset device */
			ticks = 3;
		values[RESIDENT][i] = pages * 4096;
		values[CPU][i] = ticks * 10000000;
		memcpy(&values[LOAD][i], &load, sizeof load);
	}
}

static struct store_writer *create(void)
{
	struct store_stream stream = {.kind = STORE_STREAM_GAUGES,
		.rank = -1,
		.pid = 7,
		.device = UINT32_MAX,
		.begin_ns = BEGIN_NS,
		.end_ns = STORE_OPEN_NS};
	struct store_writer *writer;
	struct error error;

	unlink(path);
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	assert_int_equal(store_writer_figure(writer, "resident", "B", false, STORE_METRIC_GAUGE), RESIDENT);
	assert_int_equal(store_writer_figure(writer, "cpu", "ns", false, STORE_METRIC_COUNTER), CPU);
	assert_int_equal(store_writer_figure(writer, "load", "", true, STORE_METRIC_GAUGE), LOAD);
	assert_int_equal(store_writer_stream(writer, &stream), 0);
	return writer;
}

static void append(struct store_writer *writer, unsigned tick)
{
	struct store_record records[METRICS];

	for (unsigned m = 0; m < METRICS; m++)
		records[m] = (struct store_record){
			.begin_ns = times[tick], .end_ns = times[tick], .what = m, .amount = values[m][tick]};
	store_writer_append(writer, 0, STORE_VALUES, records, METRICS);
}

static void fill(struct store_writer *writer)
{
	struct error error;

	for (unsigned i = 0; i < TICKS; i++) {
		append(writer, i);
		if (i % 100 == 0)
			assert_int_equal(store_writer_commit(writer, &error), 0);
	}
}

/* The truth: value by value. */
static struct store_series plain(unsigned metric, unsigned from, unsigned to)
{
	struct store_series series = {
		.metric = metric, .kind = metric == CPU ? STORE_METRIC_COUNTER : STORE_METRIC_GAUGE};
	double sum = 0;

	for (unsigned i = from; i < to; i++) {
		uint64_t value = values[metric][i];
		bool is_real = metric == LOAD;
		bool is_less = is_real ? real_of(value) < real_of(series.least) : value < series.least;
		bool is_more = is_real ? real_of(value) > real_of(series.most) : value > series.most;

		series.least = i == from || is_less ? value : series.least;
		series.most = i == from || is_more ? value : series.most;
		series.last = value;
		sum += is_real ? real_of(value) : (double)value;
		if (i > from && metric == CPU) {
			uint64_t before = values[metric][i - 1];
			double grown = (double)(value < before ? value : value - before);

			series.grown += grown;
			series.fastest = grown * 1e9 / STEP_NS > series.fastest ? grown * 1e9 / STEP_NS
										: series.fastest;
		}
		series.count++;
	}
	memcpy(&series.sum_low, &sum, sizeof sum);
	return series;
}

static void hold(struct store_reader *reader, unsigned metric, unsigned from, unsigned to)
{
	struct store_series expected = plain(metric, from, to), found;
	uint64_t begin_ns = from < TICKS ? times[from] : times[TICKS - 1] + 1;
	uint64_t end_ns = to < TICKS ? times[to] : STORE_OPEN_NS;
	struct error error;

	assert_int_equal(store_series_of(reader, 0, metric, begin_ns, end_ns, &found, &error), 0);
	assert_int_equal(found.count, expected.count);
	if (!expected.count)
		return;
	assert_false(found.is_mixed);
	assert_int_equal(found.least, expected.least);
	assert_int_equal(found.most, expected.most);
	assert_int_equal(found.last, expected.last);
	assert_int_equal(found.first, values[metric][from]);
	assert_int_equal(found.first_ns, times[from]);
	assert_int_equal(found.last_ns, times[to - 1]);
	assert_true(found.grown == expected.grown);
	assert_true(found.fastest == expected.fastest);
	assert_true(
		store_series_mean(&found) * (double)found.count <= real_of(expected.sum_low) * (1 + 1e-12) &&
		store_series_mean(&found) * (double)found.count >= real_of(expected.sum_low) * (1 - 1e-12));
}

static void hold_windows(uint64_t *seed)
{
	struct store_reader *reader;
	struct error error;

	assert_int_equal(store_reader_open(&reader, path, &error), 0);
	for (unsigned m = 0; m < METRICS; m++)
		hold(reader, m, 0, TICKS);
	for (unsigned i = 0; i < 600; i++) {
		unsigned from = (unsigned)(seed_next(seed) % TICKS);
		unsigned length = (unsigned)(seed_next(seed) % (i % 3 ? TICKS : 300));

		hold(reader, i % METRICS, from, from + length < TICKS ? from + length : TICKS);
	}
	hold(reader, CPU, 16999, 17003);
	assert_int_equal(store_reader_check(reader, &error), 0);
	assert_int_equal(store_rollup_check(reader, &error), 0);
	store_reader_close(reader);
}

static void test_windows(void **unused)
{
	uint64_t seed = seed_take("test_windows", 11);
	struct store_writer *writer = create();
	struct error error;

	(void)unused;
	draw(&seed);
	fill(writer);
	assert_int_equal(store_writer_commit(writer, &error), 0);
	hold_windows(&seed); /* while it is written */
	store_writer_stream_edit(writer, 0)->end_ns = times[TICKS - 1] + 1;
	assert_int_equal(store_writer_close(writer, &error), 0);
	hold_windows(&seed);
}

/* How many rollups a walk over the whole track takes, and how many chunks. */
struct parts {
	unsigned sums, rows;
};

static bool want(void *own, uint64_t begin_ns, uint64_t last_ns)
{
	(void)own, (void)begin_ns, (void)last_ns;
	return true;
}

static int count_sum(void *own, const struct store_series *series)
{
	((struct parts *)own)->sums += series->count > 0;
	return 0;
}

static int count_rows(void *own, const struct store_batch *batch, size_t from, size_t to)
{
	(void)batch;
	((struct parts *)own)->rows += from < to;
	return 0;
}

/* A window costs its edges, a metric does not pay for the others, a value takes no two bytes. */
static void test_cost(void **unused)
{
	uint64_t seed = seed_take("test_cost", 12);
	struct store_writer *writer = create();
	struct parts parts = {0};
	struct store_series_query query = {.metric = RESIDENT,
		.begin_ns = BEGIN_NS + 12345,
		.end_ns = BEGIN_NS + TICKS * STEP_NS - 12345,
		.wants = want,
		.sum = count_sum,
		.rows = count_rows,
		.own = &parts};
	struct error error;
	struct stat file;

	(void)unused;
	draw(&seed);
	fill(writer);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_open(&query.reader, path, &error), 0);
	assert_int_equal(store_series_read(&query, &error), 0);
	assert_true(parts.sums >= 1);
	assert_true(parts.sums + parts.rows <= 16); /* of some thirty chunks of each metric */
	store_reader_close(query.reader);
	assert_int_equal(stat(path, &file), 0);
	printf("%ld bytes of %u values\n", (long)file.st_size, TICKS * METRICS);
	assert_true(file.st_size < 2 * (off_t)TICKS * METRICS + 12288);
}

/* Values that come late: least, most and last are right at once, growth after the next look at the records.
 */
static void test_late(void **unused)
{
	uint64_t seed = seed_take("test_late", 13);
	struct store_writer *writer = create();
	struct store_series series;
	struct store_reader *reader;
	struct error error;

	(void)unused;
	draw(&seed);
	for (unsigned i = 0; i < TICKS; i++)
		if (i != 20000)
			append(writer, i);
	assert_int_equal(store_writer_commit(writer, &error), 0);
	values[RESIDENT][20000] = 1;
	append(writer, 20000);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_open(&reader, path, &error), 0);
	assert_int_equal(store_series_of(reader, 0, RESIDENT, 0, STORE_OPEN_NS, &series, &error), 0);
	assert_int_equal(series.count, TICKS);
	assert_int_equal(series.least, 1);
	assert_int_equal(series.last, values[RESIDENT][TICKS - 1]);
	assert_int_equal(store_reader_check(reader, &error), 0);
	assert_int_equal(store_rollup_check(reader, &error), 0);
	store_reader_close(reader);
}

/* Values that come late, behind rollups that are made and within larger ones that are not yet: all rollups
 * are what the values are in the end, to the last bit of a sum of doubles. */
static void late_within(unsigned late, unsigned first)
{
	uint64_t seed = seed_take("late_within", 14);
	struct store_writer *writer = create();
	struct store_reader *reader;
	struct error error;

	for (unsigned i = 0; i < TICKS; i++) {
		double load = (double)seed_next(&seed) / 3e9;

		times[i] = BEGIN_NS + i * STEP_NS;
		memcpy(&values[LOAD][i], &load, sizeof load);
		if (i % 9000 != first)
			append(writer, i);
		if (i % 9000 == first + late)
			append(writer, i - late);
		if (i % 10 == 9)
			assert_int_equal(store_writer_commit(writer, &error), 0);
	}
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_open(&reader, path, &error), 0);
	if (store_rollup_check(reader, &error))
		fail_msg("%u late from %u on: %s", late, first, error.text);
	store_reader_close(reader);
}

static void test_late_within(void **unused)
{
	(void)unused;
	late_within(1500, 100);
	late_within(1500, 1000);
}

/* Joined in any order of parts it is the same. */
static void test_join(void **unused)
{
	struct store_series a = {.kind = STORE_METRIC_COUNTER}, b = a, c = a, all = a, left, right;
	const uint64_t grows[] = {10, 12, 17, 3, 8, 8, 30};

	(void)unused;
	for (unsigned i = 0; i < 7; i++) {
		store_series_add(&all, 10 + i, grows[i]);
		store_series_add(i < 2 ? &a : i < 5 ? &b : &c, 10 + i, grows[i]);
	}
	assert_true(all.grown == 2 + 5 + 3 + 5 + 0 + 22);
	left = a;
	store_series_join(&left, &b);
	store_series_join(&left, &c);
	right = c;
	store_series_join(&right, &b);
	store_series_join(&right, &a);
	assert_memory_equal(&left, &all, sizeof all);
	assert_memory_equal(&right, &all, sizeof all);
	store_series_join(&right, &b); /* overlaps: growth is not known any more, and said so */
	assert_true(right.is_mixed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_join), cmocka_unit_test(test_windows),
		cmocka_unit_test(test_cost), cmocka_unit_test(test_late), cmocka_unit_test(test_late_within)};
	int result;

	snprintf(path, sizeof path, "/tmp/hpct-series-%d.mdb", (int)getpid());
	result = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	return result;
}
