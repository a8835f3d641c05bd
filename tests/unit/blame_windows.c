/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_windows.c - idleness of traces of minutes, in which work is queued for up to all of that: any window
 * says what a plain twin says that knows the whole trace, so that windows add up, swept or by kept sums, at
 * once or in blocks.
 */
#include "tests/unit/blame_minutes.h"

#include <glob.h>
#include <limits.h>

#include "blame/base/time_slices.h"
#include "blame/idle/idle.h"
#include "blame/idle/idle_cache.h"
#include "blame/page/page.h"

#define ROUNDS 60
#define CONTEXTS 16u

struct answer {
	uint64_t busy_ns, idle_ns, blamed_ns, all_idle_ns;
	uint64_t halves[2][CONTEXTS]; /* of a ns: blamed, waited; by run context */
};

/* ---- the twin ---- */

static uint32_t run_context_at(const struct trace *trace, const struct store_record *span)
{
	return run_context_of(trace->small.run, 0, span ? span->context : trace->main);
}

static void charge(const struct trace *trace, struct answer *answer, uint64_t begin_ns, uint64_t length_ns)
{
	uint32_t contexts[2][THREADS], count[2] = {0, 0};
	bool is_working = has_work(trace, begin_ns);

	for (uint32_t q = THREADS; q < LINES; q++)
		if (span_at(&trace->lines[q], begin_ns, true)) {
			answer->busy_ns += length_ns;
			return;
		}
	for (uint32_t t = 0; t < THREADS; t++) {
		const struct store_record *span = span_at(&trace->lines[t], begin_ns, false);
		bool waits = span && (span->what == STORE_OP_BLOCKED || is_working);

		contexts[waits][count[waits]++] = run_context_at(trace, span);
	}
	answer->idle_ns += length_ns;
	*(count[0] ? &answer->blamed_ns : &answer->all_idle_ns) += length_ns;
	for (uint32_t i = 0, who = !count[0]; i < count[who]; i++)
		answer->halves[who][contexts[who][i]] += 2 * length_ns / count[who];
}

/* Between two of all times at which anything changes nothing does. */
static void twin(const struct trace *trace, uint64_t begin_ns, uint64_t end_ns, struct answer *answer)
{
	uint64_t times_ns[TIMES];
	size_t count = times_find(trace, begin_ns, end_ns, times_ns);

	memset(answer, 0, sizeof(*answer));
	for (size_t i = 0; i + 1 < count; i++)
		if (times_ns[i] >= begin_ns && times_ns[i + 1] <= end_ns && times_ns[i] < times_ns[i + 1])
			charge(trace, answer, times_ns[i], times_ns[i + 1] - times_ns[i]);
}

/* ---- against each other ---- */

static void take_shares(const struct exact_share *shares, size_t count, uint64_t halves[CONTEXTS])
{
	for (size_t i = 0; i < count; i++) {
		assert_true(shares[i].context < CONTEXTS);
		halves[shares[i].context] = (uint64_t)(shares[i].amount >> 63);
		assert_int_equal((uint64_t)(shares[i].amount << 1), 0);
	}
}

static void ask(struct trace *trace, uint64_t begin_ns, uint64_t end_ns, bool by_lines, struct answer *answer)
{
	const struct idle_question question = {.streams = trace->streams,
		.stream_count = LINES,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.is_sampled = by_lines,
		.waits = trace->waits};
	struct arena arena = {0};
	struct error error = {0};
	struct idle idle;

	memset(answer, 0, sizeof(*answer));
	assert_int_equal(idle_sweep(&idle, trace->small.run, &question, &arena, &error), 0);
	*answer = (struct answer){.busy_ns = idle.busy_ns,
		.idle_ns = idle.idle_ns,
		.blamed_ns = idle.blamed_ns,
		.all_idle_ns = idle.all_idle_ns};
	take_shares(idle.blamed, idle.blamed_count, answer->halves[0]);
	take_shares(idle.waited, idle.waited_count, answer->halves[1]);
	arena_fini(&arena);
}

static void sum_up(struct answer *sum, const struct answer *part)
{
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}

static void check_windows(struct trace *trace, bool by_lines)
{
	uint64_t cuts_ns[WINDOWS + 1];
	struct answer whole, sum = {0};

	ask(trace, 0, END_NS, by_lines, &whole);
	draw_cuts(cuts_ns);
	for (uint32_t i = 0; i < WINDOWS; i++) {
		struct answer part, told;

		if (cuts_ns[i] >= cuts_ns[i + 1])
			continue;
		ask(trace, cuts_ns[i], cuts_ns[i + 1], by_lines, &part);
		sum_up(&sum, &part);
		twin(trace, cuts_ns[i], cuts_ns[i + 1], &told);
		assert_memory_equal(&part, &told, sizeof(part));
	}
	assert_memory_equal(&whole, &sum, sizeof(whole));
}

static bool has_sums(const struct trace *trace)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool is_there;

	snprintf(pattern, sizeof(pattern), "%s/cache-idle-*", run_path(trace->small.run));
	is_there = !glob(pattern, 0, NULL, &found);
	globfree(&found);
	return is_there;
}

static void test_windows(void **unused)
{
	uint64_t records = time_slices_records, least = idle_cache_records_least;
	int waited = 0;

	(void)unused;
	small_seed("blame.windows");
	for (int round = 0; round < ROUNDS; round++) {
		static struct trace trace;
		struct answer whole, told;

		trace_begin(&trace);
		twin(&trace, 0, END_NS, &told);
		waited += told.halves[1][run_context_of(trace.small.run, 0, trace.sync)] != 0;
		for (int by_lines = 0; by_lines < 2; by_lines++) {
			time_slices_records = small_below(2) ? records : 1 + small_below(40);
			ask(&trace, 0, END_NS, by_lines, &whole);
			assert_memory_equal(&whole, &told, sizeof(whole));
			check_windows(&trace, by_lines);
		}
		idle_cache_records_least = 16;
		ask(&trace, 0, END_NS, false, &whole);
		assert_memory_equal(&whole, &told, sizeof(whole));
		assert_true(has_sums(&trace));
		check_windows(&trace, false);
		idle_cache_records_least = least;
		time_slices_records = records;
		trace_end(&trace);
	}
	assert_true(waited > ROUNDS / 2);
}

/* ---- the page ---- */

static void add_page(struct trace *trace, uint64_t begin_ns, uint64_t end_ns, const struct select *select,
	struct page *sum)
{
	const struct idle_question question = {.streams = trace->streams,
		.stream_count = LINES,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.waits = trace->waits};
	struct arena arena = {0};
	struct error error = {0};
	struct page page;

	assert_int_equal(page_make(&page, trace->small.run, select, &question, NULL, &arena, &error), 0);
	sum->part_count = page.part_count;
	sum->idle.window_ns += page.idle.window_ns;
	for (size_t i = 0; i < page.part_count; i++)
		sum->parts[i].time_ns += page.parts[i].time_ns;
	page_fini(&page);
	arena_fini(&arena);
}

/* Its parts, kernels and communication among them, add up, too. */
static void test_page(void **unused)
{
	(void)unused;
	small_seed("blame.windows.page");
	for (int round = 0; round < ROUNDS / 3; round++) {
		static struct trace trace;
		struct page whole = {0}, sum = {0};
		struct select *select;
		struct error error = {0};
		uint64_t cuts_ns[WINDOWS + 1];

		trace_begin(&trace);
		assert_int_equal(select_new(&select, &error), 0);
		assert_int_equal(select_bind(select, trace.small.run, &error), 0);
		add_page(&trace, 0, END_NS, select, &whole);
		draw_cuts(cuts_ns);
		for (uint32_t i = 0; i < WINDOWS; i++)
			if (cuts_ns[i] < cuts_ns[i + 1])
				add_page(&trace, cuts_ns[i], cuts_ns[i + 1], select, &sum);
		assert_int_equal(sum.idle.window_ns, whole.idle.window_ns);
		for (size_t i = 0; i < whole.part_count; i++)
			assert_int_equal(sum.parts[i].time_ns, whole.parts[i].time_ns);
		select_free(select);
		trace_end(&trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_page)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
