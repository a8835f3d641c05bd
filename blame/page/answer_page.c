/* SPDX-License-Identifier: Apache-2.0 */
/* answer_page.c - the page without options: three blocks for people, the same as rows for
 * scripts. */
#include <stdio.h>
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/page/answer.h"
#include "blame/page/page.h"
#include "blame/page/page_text.h"
#include "timeline/base/progress.h"
#include "timeline/report/terminal.h"

#define GAINS 3
#define GAIN_LEAST 1000 /* of the window: a thousandth */

static double percent(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? 100.0 * (double)part_ns / (double)whole_ns : 0;
}

/* What the numbers hold for. */
static const char *page_asked(struct program_call *call, const struct ask *ask)
{
	const char *rest = page_options(call, ask, "waits", NULL);

	return arena_printf(&call->arena, "--group %s  --busy %s%s%s",
		ask->group == IDLE_GROUP_ALL ? "all" : "process",
		ask->busy == IDLE_BUSY_KERNEL ? "kernel" : "any", *rest ? " " : "", rest);
}

/* ---- for people ---- */

static void print_title(struct program_call *call, const struct ask *ask, const struct page *page)
{
	char window[REPORT_HUMAN_MAX];
	const char *path = run_path(call->run), *slash = strrchr(path, '/');

	report_human_duration(window, select_end_ns(call->select) - select_begin_ns(call->select));
	page_width_say(
		arena_printf(&call->arena, "%s  %s %s  %u GPU queue%s, %u CPU thread%s  %s",
			slash ? slash + 1 : path, select_has_time(call->select) ? "window" : "whole run",
			window, page->queues, page->queues == 1 ? "" : "s", page->threads,
			page->threads == 1 ? "" : "s", page_asked(call, ask)),
		2);
	if (page->known < PAGE_COVERAGE_LEAST)
		page_width_say(arena_printf(&call->arena,
				       "These numbers miss %.1f %% of the window: the GPUs were lost or "
				       "unmonitored there%s",
				       100 * (1 - page->known),
				       page->coverage.thinned_ns ? "\n(" PAGE_THINNED ")" : ""),
			0);
}

static void print_time(uint64_t time_ns, uint64_t whole_ns)
{
	page_time_print(time_ns, percent(time_ns, whole_ns));
}

static void print_parts(const struct page *page)
{
	const struct idle *idle = &page->idle;
	char head[64];

	snprintf(head, sizeof head, "Where the wall clock went%s",
		idle->groups > 1 ? " (mean of the groups)" : "");
	page_head_print(head, "time", "");
	for (size_t i = 0; i < page->part_count; i++) {
		const struct page_part *part = &page->parts[i];

		if (!part->time_ns)
			continue;
		printf("  %-46s", part->text);
		page_bar_print(part->time_ns, idle->window_ns);
		/* Shares by the sums: the mean is rounded for show alone. */
		page_time_print(part->time_ns / idle->groups, percent(part->time_ns, idle->window_ns));
		putchar('\n');
	}
	printf("  %-*s", page_width_left() - 2, "sum = window");
	print_time(idle->window_ns / idle->groups, idle->window_ns / idle->groups);
	putchar('\n');
}

static void print_cause(const struct program_call *call, const struct page *page,
	const struct page_cause *cause, size_t number)
{
	char gap[REPORT_HUMAN_MAX], at[REPORT_HUMAN_MAX];

	printf("  %zu ", number);
	page_key_print(cause->row->key, page_width_left() - 4);
	print_time(cause->row->time_ns, page->idle.idle_ns);
	if (cause->largest) {
		report_human_duration(gap, cause->largest->end_ns - cause->largest->begin_ns);
		report_human_duration(at, cause->largest->begin_ns - run_origin_ns(call->run));
		if (page_width_fits_gap())
			printf("   %s at %s", gap, at);
	}
	putchar('\n');
	page_path_print(cause->path);
	if (cause->largest && !page_width_fits_gap())
		printf("       largest gap: %s at %s\n", gap, at);
}

static void print_nobody(struct program_call *call, const struct page *page)
{
	char text[PAGE_TEXT_MAX];

	if (!page->idle.all_idle_ns)
		return;
	page_nobody(call, page, text);
	printf("    nobody active: %-*.*s", page_width_left() - 19, page_width_left() - 19, text);
	print_time(page->idle.all_idle_ns, page->idle.idle_ns);
	putchar('\n');
}

static void print_causes(struct program_call *call, const struct page *page)
{
	const struct idle *idle = &page->idle;
	uint64_t rest_ns = page->rows.total_ns;
	char head[96], idle_text[REPORT_HUMAN_MAX];

	if (page->known < PAGE_COVERAGE_CAUSES) {
		printf("\nToo little is known of the window to name causes; hpct-info --streams shows what "
		       "is "
		       "missing\n");
		return;
	}
	report_human_duration(idle_text, idle->idle_ns);
	snprintf(head, sizeof head, "Who the idle GPUs waited for (idle %s together)", idle_text);
	page_head_print(head, "blame", page_width_fits_gap() ? "   largest gap" : "");
	for (size_t i = 0; i < page->cause_count; i++) {
		print_cause(call, page, &page->causes[i], i + 1);
		rest_ns -= page->causes[i].row->time_ns;
	}
	if (rest_ns) {
		snprintf(head, sizeof head, "%zu more cause%s", page->rows.count - page->cause_count,
			page->rows.count - page->cause_count == 1 ? "" : "s");
		printf("    %-*s", page_width_left() - 4, head);
		print_time(rest_ns, idle->idle_ns);
		putchar('\n');
	}
	if (page->others_ns) {
		printf("    %-*s", page_width_left() - 4, "streams that the selector leaves out");
		print_time(page->others_ns, idle->idle_ns);
		putchar('\n');
	}
	print_nobody(call, page);
}

/* Worth a line: one that could save a thousandth of the window, and is not the one before by another name. */
static bool is_gain(const struct page *page, size_t i)
{
	const struct finding *finding = &page->findings.list[i];

	if (finding->save_ns < page->idle.window_ns / page->idle.groups / GAIN_LEAST || !finding->save_ns)
		return false;
	return !i || finding->save_ns != finding[-1].save_ns || finding->context != finding[-1].context ||
	       !finding->context;
}

/* Upper bounds, the largest first. */
static void print_gains(struct program_call *call, const struct page *page)
{
	for (size_t i = 0, shown = 0; i < page->findings.count && shown < GAINS; i++) {
		const struct finding *finding = &page->findings.list[i];
		char text[REPORT_HUMAN_MAX];

		if (!is_gain(page, i))
			continue;
		if (!shown++)
			printf("\n%sWhat could be gained at most%s\n", terminal_style(stdout, TERMINAL_HEAD),
				terminal_style(stdout, TERMINAL_PLAIN));
		report_human_duration(text, finding->save_ns);
		page_width_say(
			arena_printf(&call->arena, "  %10s  %s (%llu): %s", text, finding_text(finding->kind),
				(unsigned long long)finding->count, finding_advice(finding->kind)),
			14);
		if (finding->context)
			page_path_print(run_context_path(call->run,
				runtime_calls_context(call->run, finding->context), UINT32_MAX,
				&call->arena));
	}
}

static void print_next(struct program_call *call, const struct ask *ask, const struct page *page)
{
	struct page_hint hints[PAGE_HINTS];
	size_t count = page_hints(call, ask, page, hints);

	page_hints_print(hints, count);
}

static void print_coverage(struct program_call *call, const struct page *page)
{
	char text[COVERAGE_TEXT_MAX];

	coverage_print(&page->coverage, text);
	putchar('\n');
	page_width_say(
		arena_printf(&call->arena, "Coverage: %s; GPUs %.1f %% known", text, 100 * page->known), 2);
	page_width_say(PAGE_SHARED, 0);
	if (page->idle.unused_ns)
		page_width_say(PAGE_UNUSED, 0);
	if (page->by == ROW_KEY_SCRIPT)
		page_width_say(PAGE_SCRIPT, 0);
}

static void print_page(struct program_call *call, const struct ask *ask, const struct page *page)
{
	print_title(call, ask, page);
	page_faults_print(call, &page->findings);
	print_parts(page);
	print_causes(call, page);
	if (page->known >= PAGE_COVERAGE_CAUSES)
		print_gains(call, page);
	print_next(call, ask, page);
	print_coverage(call, page);
}

/* ---- for scripts: the same numbers and sentences ---- */

static void script_coverage(struct report *report, struct program_call *call, const struct page *page)
{
	const struct idle *idle = &page->idle;

	page_rows_window(report, call, idle->groups);
	page_row_put(report, call,
		&(struct page_row){.section = "coverage",
			.key = "gpu",
			.time_ns = idle->busy_ns + idle->idle_ns,
			.has_time = true,
			.whole_ns = idle_used_ns(idle),
			.has_count = true,
			.count = page->queues});
	page_rows_coverage(report, call, &page->coverage);
}

static void script_causes(struct report *report, struct program_call *call, const struct page *page)
{
	const struct idle *idle = &page->idle;
	uint64_t rest_ns = page->rows.total_ns;
	char text[PAGE_TEXT_MAX];

	for (size_t i = 0; i < page->cause_count; i++) {
		const struct page_cause *cause = &page->causes[i];

		rest_ns -= cause->row->time_ns;
		page_row_put(report, call,
			&(struct page_row){.section = "cause",
				.key = cause->row->key,
				.time_ns = cause->row->time_ns,
				.has_time = true,
				.whole_ns = idle->idle_ns,
				.path = cause->path,
				.gap = cause->largest});
	}
	if (rest_ns && page->known >= PAGE_COVERAGE_CAUSES)
		page_row_put(report, call,
			&(struct page_row){.section = "cause",
				.key = "<more causes>",
				.time_ns = rest_ns,
				.has_time = true,
				.whole_ns = idle->idle_ns,
				.has_count = true,
				.count = page->rows.count - page->cause_count});
	if (!page->cause_count && !idle->all_idle_ns)
		return;
	page_nobody(call, page, text);
	page_row_put(report, call,
		&(struct page_row){.section = "cause",
			.key = "<nobody active>",
			.time_ns = idle->all_idle_ns,
			.has_time = true,
			.whole_ns = idle->idle_ns,
			.text = idle->all_idle_ns ? text : NULL});
}

static void script_gains(struct report *report, struct program_call *call, const struct page *page)
{
	for (size_t i = 0; i < page->findings.count && page->known >= PAGE_COVERAGE_CAUSES; i++) {
		const struct finding *finding = &page->findings.list[i];

		if (finding->kind == FINDING_GPU_FAULT)
			continue;
		page_row_put(report, call,
			&(struct page_row){.section = "gain",
				.key = finding_name(finding->kind),
				.time_ns = finding->save_ns,
				.has_time = true,
				.whole_ns = page->idle.window_ns,
				.path = finding->context ? run_context_path(call->run, finding->context,
								   UINT32_MAX, &call->arena)
							 : NULL,
				.has_count = true,
				.count = finding->count,
				.text = arena_printf(&call->arena, "%s: %s", finding_text(finding->kind),
					finding_advice(finding->kind))});
	}
}

static int print_script(
	struct program_call *call, const struct ask *ask, const struct page *page, struct error *error)
{
	struct page_hint hints[PAGE_HINTS];
	struct report *report;
	int result = page_rows_open(&report, call, error);

	if (result)
		return result;
	page_rows_faults(report, call, &page->findings);
	script_coverage(report, call, page);
	page_rows_parts(report, call, "wall", page->parts, page->part_count, page->idle.window_ns);
	script_causes(report, call, page);
	script_gains(report, call, page);
	page_rows_hints(report, call, hints, page_hints(call, ask, page, hints));
	page_rows_definition(report, call, page_asked(call, ask));
	page_rows_definition(report, call, PAGE_SHARED);
	if (page->idle.unused_ns)
		page_rows_definition(report, call, PAGE_UNUSED);
	if (page->by == ROW_KEY_SCRIPT)
		page_rows_definition(report, call, PAGE_SCRIPT);
	return report_close(report, error);
}

int answer_page(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	enum row_key_by by = ROW_KEY_FUNCTION;
	struct page page = {0};
	int result = answer_find_by(call, &by, error);

	if (!result)
		result = page_make(&page, call->run, call->select, &question,
			select_by(call->select) ? &by : NULL, &call->arena, error);
	progress_end();
	if (!result && !page.is_part && call->format == REPORT_TABLE)
		print_page(call, ask, &page);
	else if (!result && !page.is_part)
		result = print_script(call, ask, &page, error);
	page_fini(&page);
	return result;
}
