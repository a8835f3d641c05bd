/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_gap_windows.c - gaps of idle GPUs in windows of minutes, in which work is queued for up to all of
 * that: those of the whole time, cut where the windows are, with the cause that most of what is left has.
 */
#include "tests/unit/blame_minutes.h"

#include "blame/base/time_slices.h"
#include "blame/idle/gaps.h"

#define ROUNDS 60
#define GAPS (QUEUES * SPANS + 1)

struct list {
	struct gap gaps[GAPS];
	size_t count;
};

static int gap_compare(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* ---- the twin ---- */

static enum gap_cause cause_at(const struct trace *trace, uint64_t time_ns)
{
	if (has_work(trace, time_ns))
		return GAP_LAUNCH;
	for (uint32_t t = 0; t < THREADS; t++) {
		const struct store_record *span = span_at(&trace->lines[t], time_ns, false);

		if (!span || span->what == STORE_OP_SYNC)
			return GAP_CPU;
	}
	return GAP_THREAD;
}

static bool is_busy(const struct trace *trace, uint64_t time_ns)
{
	for (uint32_t q = THREADS; q < LINES; q++)
		if (span_at(&trace->lines[q], time_ns, true))
			return true;
	return false;
}

/* The largest cause; of equal ones the first. */
static void close_gap(struct list *list, const uint64_t causes_ns[GAP_CAUSE_COUNT])
{
	struct gap *gap = &list->gaps[list->count - 1];

	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
		if (causes_ns[cause] > causes_ns[gap->cause])
			gap->cause = (enum gap_cause)cause;
}

static void twin(const struct trace *trace, uint64_t begin_ns, uint64_t end_ns, struct list *list)
{
	uint64_t times_ns[TIMES], causes_ns[GAP_CAUSE_COUNT] = {0};
	size_t count = times_find(trace, begin_ns, end_ns, times_ns);
	bool is_open = false;

	list->count = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t from_ns = times_ns[i], to_ns = times_ns[i + 1];

		if (from_ns < begin_ns || to_ns > end_ns || from_ns == to_ns)
			continue;
		if (is_busy(trace, from_ns)) {
			if (is_open)
				close_gap(list, causes_ns);
			is_open = false;
			continue;
		}
		if (!is_open) {
			assert_true(list->count < GAPS);
			list->gaps[list->count++] = (struct gap){.begin_ns = from_ns};
			memset(causes_ns, 0, sizeof(causes_ns));
		}
		is_open = true;
		list->gaps[list->count - 1].end_ns = to_ns;
		causes_ns[cause_at(trace, from_ns)] += to_ns - from_ns;
	}
	if (is_open)
		close_gap(list, causes_ns);
}

/* ---- against each other ---- */

static void ask(struct trace *trace, uint64_t begin_ns, uint64_t end_ns, bool by_lines, struct list *list)
{
	struct idle_question question = {.streams = trace->streams,
		.stream_count = LINES,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.is_sampled = by_lines,
		.waits = trace->waits};
	struct arena arena = {0};
	struct error error = {0};
	const struct gap *gaps;
	struct idle idle;
	uint64_t sum_ns = 0;

	assert_int_equal(gaps_new(&question.gaps, 0, SIZE_MAX, &error), 0);
	assert_int_equal(idle_sweep(&idle, trace->small.run, &question, &arena, &error), 0);
	gaps = gaps_list(question.gaps, &list->count);
	assert_true(list->count <= GAPS);
	for (size_t i = 0; i < list->count; i++) {
		list->gaps[i] = gaps[i];
		sum_ns += gaps[i].end_ns - gaps[i].begin_ns;
	}
	assert_int_equal(sum_ns, idle.idle_ns);
	qsort(list->gaps, list->count, sizeof(*list->gaps), gap_compare);
	gaps_free(question.gaps);
	arena_fini(&arena);
}

/* Of one that no window cuts all is the same in the whole. */
static void check_uncut(const struct gap *gap, const struct list *whole)
{
	size_t i = 0;

	while (i < whole->count && whole->gaps[i].begin_ns < gap->begin_ns)
		i++;
	assert_true(i < whole->count);
	assert_int_equal(whole->gaps[i].end_ns, gap->end_ns);
	assert_int_equal(whole->gaps[i].stream, gap->stream);
	assert_int_equal(whole->gaps[i].context, gap->context);
}

static void check_window(
	struct trace *trace, uint64_t begin_ns, uint64_t end_ns, bool by_lines, const struct list *whole)
{
	static struct list got, told;

	ask(trace, begin_ns, end_ns, by_lines, &got);
	twin(trace, begin_ns, end_ns, &told);
	assert_int_equal(got.count, told.count);
	for (size_t i = 0; i < got.count; i++) {
		const struct gap *gap = &got.gaps[i];

		assert_int_equal(gap->begin_ns, told.gaps[i].begin_ns);
		assert_int_equal(gap->end_ns, told.gaps[i].end_ns);
		assert_string_equal(gap_cause_name(gap->cause), gap_cause_name(told.gaps[i].cause));
		if (gap->begin_ns > begin_ns && gap->end_ns < end_ns)
			check_uncut(gap, whole);
	}
}

static void test_gaps(void **unused)
{
	uint64_t records = time_slices_records;
	size_t launched = 0;

	(void)unused;
	small_seed("blame.gap_windows");
	for (int round = 0; round < ROUNDS; round++) {
		static struct trace trace;
		static struct list whole;

		trace_begin(&trace);
		for (int by_lines = 0; by_lines < 2; by_lines++) {
			uint64_t cuts_ns[WINDOWS + 1];

			time_slices_records = records;
			ask(&trace, 0, END_NS, by_lines, &whole);
			time_slices_records = small_below(2) ? records : 1 + small_below(40);
			check_window(&trace, 0, END_NS, by_lines, &whole);
			draw_cuts(cuts_ns);
			for (uint32_t i = 0; i < WINDOWS; i++)
				if (cuts_ns[i] < cuts_ns[i + 1])
					check_window(&trace, cuts_ns[i], cuts_ns[i + 1], by_lines, &whole);
		}
		for (size_t i = 0; i < whole.count; i++)
			launched += whole.gaps[i].cause == GAP_LAUNCH;
		time_slices_records = records;
		trace_end(&trace);
	}
	assert_true(launched > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
