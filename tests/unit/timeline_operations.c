/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_operations.c - what is said of the operations of random queues against plain sums over all of
 * them, in windows that cut them, within memory or beside it.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/stats/operations.h"

#define ROUNDS 60
#define QUEUES 3u
#define NAMES 3u
#define END_NS 4000u
#define LEAST 20u
#define MOST 9000u /* more than two stretches beside memory (spill.c) */

struct one {
	uint64_t begin_ns, end_ns, link, bytes;
	uint32_t queue, name;
};

struct launch {
	uint64_t begin_ns, end_ns, link;
};

static const char *const names[NAMES] = {"a", "b", "c"};
static struct one ones[MOST];
static struct launch launches[MOST / 2];
static size_t count, launch_count;

/* ---- a run ---- */

static void put_random(struct small_run *small)
{
	static const uint64_t lengths_ns[] = {1, 3, 200};
	uint32_t thread = small_cpu(small->writer, 0, 0, END_NS), queues[QUEUES];
	uint64_t longest_ns = lengths_ns[small_below(3)];

	for (uint32_t i = 0; i < QUEUES; i++)
		queues[i] = small_gpu(small->writer, i, 0, END_NS);
	count = small_below(4) ? LEAST + small_below(LEAST) : MOST - small_below(LEAST);
	launch_count = small_below(count / 2) + 1;
	for (size_t i = 0; i < launch_count; i++) {
		struct launch *launch = &launches[i];
		struct store_record record = {.what = STORE_OP_LAUNCH};

		launch->begin_ns = record.begin_ns = small_below(END_NS - 10);
		launch->end_ns = record.end_ns = launch->begin_ns + small_below(10);
		launch->link = record.link = small_below(count);
		store_writer_append(small->writer, thread, STORE_SPANS, &record, 1);
	}
	for (size_t i = 0; i < count; i++) {
		struct one *one = &ones[i];
		struct store_record record = {.what = STORE_OP_KERNEL};

		one->queue = (uint32_t)small_below(QUEUES);
		one->name = (uint32_t)small_below(NAMES);
		one->begin_ns = record.begin_ns = small_below(END_NS - longest_ns);
		one->end_ns = record.end_ns = one->begin_ns + small_below(longest_ns);
		one->link = record.link = small_below(count);
		one->bytes = record.bytes = small_below(100);
		record.context = small_path(small->writer, names[one->name]);
		store_writer_append(small->writer, queues[one->queue], STORE_SPANS, &record, 1);
	}
}

/* ---- the twin ---- */

struct twin {
	uint64_t begin_ns, end_ns;
	struct operations_row rows[NAMES];
	uint64_t at_work_ns[QUEUES + 1], queued_max;
	uint64_t times[NAMES][MOST], delays[NAMES][MOST];
	bool is_at_work[QUEUES][END_NS];
	int64_t change[END_NS + 1]; /* of what is queued, from that moment on */
};

static struct twin twin;

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t quantile(uint64_t *times, size_t of, size_t percent)
{
	if (!of)
		return 0;
	qsort(times, of, sizeof *times, compare);
	return times[(of * percent + 99) / 100 - 1];
}

/* UINT64_MAX: none is known. */
static uint64_t launched(uint64_t link)
{
	uint64_t end_ns = UINT64_MAX;

	for (size_t i = 0; i < launch_count; i++)
		if (link && launches[i].link == link && launches[i].begin_ns < twin.end_ns &&
			launches[i].end_ns < end_ns)
			end_ns = launches[i].end_ns;
	return end_ns;
}

static void twin_take(const struct one *one)
{
	struct operations_row *row = &twin.rows[one->name];
	uint64_t begin_ns = one->begin_ns < twin.begin_ns ? twin.begin_ns : one->begin_ns;
	uint64_t end_ns = one->end_ns > twin.end_ns ? twin.end_ns : one->end_ns, launched_ns;

	if (one->begin_ns >= twin.end_ns || (one->end_ns <= twin.begin_ns && one->begin_ns < twin.begin_ns))
		return;
	launched_ns = launched(one->link);
	twin.times[one->name][row->count++] = end_ns - begin_ns;
	row->total_ns += end_ns - begin_ns;
	row->bytes += one->bytes;
	if (launched_ns != UINT64_MAX)
		twin.delays[one->name][row->launched++] = begin_ns > launched_ns ? begin_ns - launched_ns : 0;
	for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns++)
		twin.is_at_work[one->queue][at_ns] = true;
	twin.change[launched_ns < begin_ns ? launched_ns : begin_ns]++;
	twin.change[end_ns]--;
}

static void twin_make(uint64_t begin_ns, uint64_t end_ns)
{
	int64_t queued = 0;

	memset(&twin, 0, sizeof twin);
	twin.begin_ns = begin_ns;
	twin.end_ns = end_ns;
	for (size_t i = 0; i < count; i++)
		twin_take(&ones[i]);
	for (uint32_t i = 0; i < NAMES; i++) {
		struct operations_row *row = &twin.rows[i];

		row->p50_ns = quantile(twin.times[i], row->count, 50);
		row->p99_ns = quantile(twin.times[i], row->count, 99);
		row->max_ns = quantile(twin.times[i], row->count, 100);
		row->delay_p50_ns = quantile(twin.delays[i], row->launched, 50);
		row->delay_p99_ns = quantile(twin.delays[i], row->launched, 99);
	}
	for (uint64_t at_ns = 0; at_ns < END_NS; at_ns++) {
		uint32_t busy = 0;

		for (uint32_t i = 0; i < QUEUES; i++)
			busy += twin.is_at_work[i][at_ns];
		twin.at_work_ns[busy] += at_ns >= begin_ns && at_ns < end_ns;
		queued += twin.change[at_ns];
		if (queued > (int64_t)twin.queued_max)
			twin.queued_max = (uint64_t)queued;
	}
}

/* ---- side by side ---- */

static void check_row(const struct operations_row *row)
{
	const struct operations_row *told = &twin.rows[row->key[0] - 'a'];

	assert_int_equal(row->op, STORE_OP_KERNEL);
	assert_int_equal(row->count, told->count);
	assert_int_equal(row->total_ns, told->total_ns);
	assert_int_equal(row->bytes, told->bytes);
	assert_int_equal(row->p50_ns, told->p50_ns);
	assert_int_equal(row->p99_ns, told->p99_ns);
	assert_int_equal(row->max_ns, told->max_ns);
	assert_int_equal(row->launched, told->launched);
	assert_int_equal(row->delay_p50_ns, told->delay_p50_ns);
	assert_int_equal(row->delay_p99_ns, told->delay_p99_ns);
}

static void check(struct run *run, const char *time)
{
	struct operations operations;
	struct select *select;
	struct arena arena = {0};
	struct error error = {0};
	size_t rows = 0;

	assert_int_equal(select_new(&select, &error), 0);
	if (time)
		assert_int_equal(select_option(select, "time", time, &error), 0);
	if (select_bind(select, run, &error) || operations_count(&operations, run, select, &arena, &error))
		fail_msg("%s", error.text);
	twin_make(select_begin_ns(select), select_end_ns(select));
	for (uint32_t i = 0; i < NAMES; i++)
		rows += twin.rows[i].count > 0;
	assert_int_equal(operations.count, rows);
	for (size_t i = 0; i < operations.count; i++)
		check_row(&operations.rows[i]);
	assert_int_equal(operations.queues, QUEUES);
	for (uint32_t i = 0; i <= QUEUES; i++)
		assert_int_equal(operations.at_work_ns[i], twin.at_work_ns[i]);
	assert_int_equal(operations.queued_max, twin.queued_max);
	arena_fini(&arena);
	select_free(select);
}

/* Some take no time at all, and in some runs none does. */
static void test_random(void **unused)
{
	(void)unused;
	small_seed("timeline.operations");
	for (int round = 0; round < ROUNDS; round++) {
		const struct run_options least = {.mem_bytes = 64}; /* lists as short as they come */
		struct small_run small;
		struct error error = {0};
		struct run *bounded;
		char time[64];

		small_begin(&small);
		put_random(&small);
		small_ready(&small);
		if (run_open(&bounded, small.path, &least, &error))
			fail_msg("%s", error.text);
		check(small.run, NULL);
		check(bounded, NULL);
		for (int window = 0; window < 2; window++) {
			uint64_t begin_ns = small_below(END_NS - 1);

			snprintf(time, sizeof time, "%" PRIu64 "ns..%" PRIu64 "ns", begin_ns,
				begin_ns + 1 + small_below(END_NS - begin_ns - 1));
			check(small.run, time);
			check(bounded, time);
		}
		run_close(bounded);
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
