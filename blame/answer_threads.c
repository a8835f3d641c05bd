/* SPDX-License-Identifier: Apache-2.0 */
/* answer_threads.c - what threads wait in, and where one works alone: as rows, as sums; a page for runs
 * without GPUs. */
#include <stdio.h>

#include "blame/answer.h"
#include "blame/threads.h"
#include "timeline/coverage.h"
#include "timeline/progress.h"

#define PAGE_ROWS 5
#define BAR 28
#define PART_COUNT 8

static void facts_of(const struct threads *threads, struct answer_fact facts[PART_COUNT])
{
	const struct answer_fact all[PART_COUNT] = {{"work_ns", threads->work_ns},
		{"sync_ns", threads->sync_ns}, {"blocked_ns", threads->blocked_ns},
		{"spin_ns", threads->spin_ns}, {"runnable_ns", threads->runnable_ns},
		{"unknown_ns", threads->unknown_ns}, {"absent_ns", threads->absent_ns},
		{"window_ns", threads->window_ns}};

	for (int i = 0; i < PART_COUNT; i++)
		facts[i] = all[i];
}

static int print_summary(const struct program_call *call, const struct threads *threads, struct error *error)
{
	struct answer_fact facts[PART_COUNT + 4];

	facts_of(threads, facts);
	facts[PART_COUNT] =
		(struct answer_fact){"waiting_ns", threads->sync_ns + threads->blocked_ns + threads->spin_ns};
	facts[PART_COUNT + 1] = (struct answer_fact){"serial_ns", threads->serial_ns};
	facts[PART_COUNT + 2] = (struct answer_fact){"threads", threads->threads};
	facts[PART_COUNT + 3] = (struct answer_fact){"processes", threads->processes};
	return answer_print_facts(call, facts, PART_COUNT + 4, error);
}

static void print_head(const struct program_call *call, const struct ask *ask, const struct threads *threads)
{
	uint64_t waiting_ns = threads->sync_ns + threads->blocked_ns + threads->spin_ns;
	char text[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(text, ask->of == ASK_SERIAL ? threads->serial_ns : waiting_ns);
	if (ask->of == ASK_SERIAL)
		printf("One thread of its process works alone for %s\n", text);
	else
		printf("%u threads wait for %s together: blocked, in synchronization calls or in functions "
		       "that only wait\n",
			threads->threads, text);
}

int answer_threads(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct answer_bucket bucket = {0};
	struct threads threads;
	bool is_serial = ask->of == ASK_SERIAL;
	int result = threads_sweep(&threads, call->run, &question, &call->arena, error);

	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &threads, error);
	bucket.whole_ns =
		is_serial ? threads.serial_ns : threads.sync_ns + threads.blocked_ns + threads.spin_ns;
	print_head(call, ask, &threads);
	return answer_print_shares(call, ask, is_serial ? threads.serial : threads.waited,
		is_serial ? threads.serial_count : threads.waited_count, &bucket, error);
}

/* ---- the page of a run without GPUs ---- */

static void print_parts(const struct threads *threads)
{
	static const char *const texts[PART_COUNT] = {"at work", "in synchronization calls", "blocked",
		"in functions that only wait", "waiting for a core", "unknown, lost or unmonitored",
		"not born yet, or ended", "sum = threads x window"};
	struct answer_fact facts[PART_COUNT];

	facts_of(threads, facts);
	printf("\n%-76s %10s %9s\n", "Where the threads' time went", "time", "share");
	for (int i = 0; i < PART_COUNT; i++) {
		double part = (double)facts[i].value / (double)threads->window_ns;
		char text[REPORT_HUMAN_MAX];

		if (!facts[i].value)
			continue;
		report_human_duration(text, facts[i].value);
		printf("  %-46s", texts[i]);
		for (int at = 0; at < BAR; at++)
			putchar(i < PART_COUNT - 1 && at < (int)(part * BAR + 0.5) ? '#' : ' ');
		printf(" %10s %7.1f %%\n", text, 100 * part);
	}
}

static int print_first(struct program_call *call, const char *head, const struct share *shares, size_t count,
	struct error *error)
{
	struct share_rows rows = {0};
	enum place_by by = PLACE_FUNCTION;
	int result = answer_find_by(call, &by, error);

	if (!result)
		result = share_rows_make(&rows, call->run, shares, count, call->select, by,
			select_depth(call->select), &call->arena, error);
	if (result || !rows.count)
		return result;
	printf("\n%-76s %10s %9s\n", head, "time", "share");
	for (size_t i = 0; i < rows.count && i < PAGE_ROWS && i < select_top(call->select); i++) {
		char text[REPORT_HUMAN_MAX];

		report_human_duration(text, rows.rows[i].time_ns);
		printf("  %zu %-72.72s %10s %7.1f %%\n", i + 1, rows.rows[i].key, text,
			100.0 * (double)rows.rows[i].time_ns / (double)rows.total_ns);
	}
	return 0;
}

static int print_page(struct program_call *call, const struct threads *threads, struct error *error)
{
	char window[REPORT_HUMAN_MAX], coverage_text[COVERAGE_TEXT_MAX];
	uint64_t living_ns = threads->window_ns - threads->absent_ns;
	double known = (double)(living_ns - threads->unknown_ns) / (double)living_ns;
	struct coverage coverage;
	int result = coverage_compute(&coverage, call->run, call->select, error);

	if (result)
		return result;
	progress_end();
	report_human_duration(window, select_end_ns(call->select) - select_begin_ns(call->select));
	printf("%s  %s %s  no GPU monitored, %u CPU thread%s of %u process%s\n", run_path(call->run),
		select_has_time(call->select) ? "window" : "whole run", window, threads->threads,
		threads->threads == 1 ? "" : "s", threads->processes, threads->processes == 1 ? "" : "es");
	if (known < 0.9)
		printf("These numbers miss %.1f %% of the threads' time: it is unknown, lost or "
		       "unmonitored\n(without records of switches a thread that waits looks unknown)\n",
			100 * (1 - known));
	print_parts(threads);
	if (known >= 0.5)
		result = print_first(
			call, "What threads wait in", threads->waited, threads->waited_count, error);
	if (!result && known >= 0.5)
		result = print_first(call, "Where one thread of its process works alone", threads->serial,
			threads->serial_count, error);
	if (result)
		return result;
	printf("\nLook next\n  hpct-blame %s --imbalance   work that is not evenly spread over the threads\n"
	       "  hpct-profile %s   where the CPU time went\n",
		run_path(call->run), run_path(call->run));
	coverage_print(&coverage, coverage_text);
	printf("\nCoverage: %s\n", coverage_text);
	return 0;
}

int answer_threads_page(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct threads threads;
	int result = threads_sweep(&threads, call->run, &question, &call->arena, error);

	if (result)
		return result;
	return call->format == REPORT_TABLE ? print_page(call, &threads, error)
					    : print_summary(call, &threads, error);
}
