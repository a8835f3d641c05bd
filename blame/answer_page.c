/* SPDX-License-Identifier: Apache-2.0 */
/* answer_page.c - the page without options (screens.md 5): three blocks for people, the same as rows for
 * scripts. */
#include <stdio.h>
#include <string.h>

#include "blame/answer.h"
#include "blame/page.h"
#include "timeline/progress.h"

#define GAINS 3
#define GAIN_LEAST 1000 /* of the window: a thousandth */
#define BAR 28
#define PATH_WIDTH 100

static double percent(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? 100.0 * (double)part_ns / (double)whole_ns : 0;
}

/* ---- for people ---- */

static void print_title(const struct program_call *call, const struct ask *ask, const struct page *page)
{
	char window[REPORT_HUMAN_MAX];
	const char *path = run_path(call->run), *slash = strrchr(path, '/');

	report_human_duration(window, select_end_ns(call->select) - select_begin_ns(call->select));
	printf("%s  %s %s  %u GPU queue%s, %u CPU thread%s  --group %s  --busy %s\n",
		slash ? slash + 1 : path, select_has_time(call->select) ? "window" : "whole run", window,
		page->queues, page->queues == 1 ? "" : "s", page->threads, page->threads == 1 ? "" : "s",
		ask->group == IDLE_GROUP_ALL ? "all" : "process",
		ask->busy == IDLE_BUSY_KERNEL ? "kernel" : "any");
	if (page->known < PAGE_COVERAGE_LEAST)
		printf("These numbers miss %.1f %% of the window: the GPUs were lost or unmonitored there\n",
			100 * (1 - page->known));
}

static void print_bar(uint64_t part_ns, uint64_t whole_ns)
{
	int width = (int)((double)part_ns * BAR / (double)whole_ns + 0.5);

	for (int i = 0; i < BAR; i++)
		putchar(i < width ? '#' : ' ');
}

static void print_time(uint64_t time_ns, uint64_t whole_ns)
{
	char text[REPORT_HUMAN_MAX];

	report_human_duration(text, time_ns);
	printf(" %10s %7.1f %%", text, percent(time_ns, whole_ns));
}

static void print_parts(const struct page *page)
{
	const struct idle *idle = &page->idle;
	char head[64];

	snprintf(head, sizeof head, "Where the wall clock went%s",
		idle->groups > 1 ? " (mean of the groups)" : "");
	printf("\n%-76s %10s %9s\n", head, "time", "share");
	for (size_t i = 0; i < page->part_count; i++) {
		const struct page_part *part = &page->parts[i];

		if (!part->time_ns)
			continue;
		printf("  %-46s", part->text);
		print_bar(part->time_ns, idle->window_ns);
		/* Shares by the sums: the mean is rounded for show alone. */
		char text[REPORT_HUMAN_MAX];

		report_human_duration(text, part->time_ns / idle->groups);
		printf(" %10s %7.1f %%\n", text, percent(part->time_ns, idle->window_ns));
	}
	printf("  %-74s", "sum = window");
	print_time(idle->window_ns / idle->groups, idle->window_ns / idle->groups);
	putchar('\n');
}

/* The end of a path is what tells causes apart. */
static void print_path(const char *path)
{
	size_t length = path ? strlen(path) : 0;

	if (!length)
		return;
	if (length <= PATH_WIDTH) {
		printf("       %s\n", path);
		return;
	}
	path += length - PATH_WIDTH;
	while (((unsigned char)*path & 0xc0) == 0x80)
		path++;
	printf("       ...%s\n", path);
}

static void print_cause(const struct program_call *call, const struct page *page,
	const struct page_cause *cause, size_t number)
{
	char gap[REPORT_HUMAN_MAX], at[REPORT_HUMAN_MAX];

	printf("  %zu %-72.*s", number, 72, cause->row->key);
	print_time(cause->row->time_ns, page->idle.idle_ns);
	if (cause->largest) {
		report_human_duration(gap, cause->largest->end_ns - cause->largest->begin_ns);
		report_human_duration(at, cause->largest->begin_ns - run_origin_ns(call->run));
		printf("   %s at %s", gap, at);
	}
	putchar('\n');
	print_path(cause->path);
}

static void print_nobody(struct program_call *call, const struct page *page)
{
	const struct late_party *last = page->late.held_ns ? &page->late.parties[0] : NULL;
	char text[160];

	if (!page->idle.all_idle_ns)
		return;
	if (last)
		snprintf(text, sizeof text, "nobody active: %s was last at %llu of %llu collective calls",
			answer_party_name(call->run, last->stream, &call->arena),
			(unsigned long long)last->last, (unsigned long long)page->late.occasions);
	else if (page->idle.no_core_ns * 2 > page->idle.all_idle_ns)
		snprintf(text, sizeof text, "nobody active: a thread that could work waits for a core");
	else if (page->waited.count && page->waited.rows[0].time_ns >= page->idle.unexplained_ns)
		snprintf(text, sizeof text, "nobody active: threads wait in %s", page->waited.rows[0].key);
	else
		snprintf(text, sizeof text, "nobody active: what the threads did is not known");
	printf("    %-72.72s", text);
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
	printf("\n%-76s %10s %9s   largest gap\n", head, "blame", "share");
	for (size_t i = 0; i < page->cause_count; i++) {
		print_cause(call, page, &page->causes[i], i + 1);
		rest_ns -= page->causes[i].row->time_ns;
	}
	if (rest_ns) {
		snprintf(head, sizeof head, "%zu more cause%s", page->rows.count - page->cause_count,
			page->rows.count - page->cause_count == 1 ? "" : "s");
		printf("    %-72s", head);
		print_time(rest_ns, idle->idle_ns);
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
			printf("\nWhat could be gained at most\n");
		report_human_duration(text, finding->save_ns);
		printf("  %10s  %s (%llu): %s\n", text, finding_text(finding->kind),
			(unsigned long long)finding->count, finding_advice(finding->kind));
		if (finding->context)
			print_path(run_context_path(call->run, finding->context, UINT32_MAX, &call->arena));
	}
}

#define WINDOW_MAX 64

/* As --time takes it: in ms, to the microseconds around it where it is not that small. */
static void put_window(char *text, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t begin_us = begin_ns / 1000, end_us = (end_ns + 999) / 1000;

	if (end_ns - begin_ns < 10000)
		snprintf(text, WINDOW_MAX, "%lluns..%lluns", (unsigned long long)begin_ns,
			(unsigned long long)end_ns);
	else
		snprintf(text, WINDOW_MAX, "%llu.%03llums..%llu.%03llums",
			(unsigned long long)(begin_us / 1000), (unsigned long long)(begin_us % 1000),
			(unsigned long long)(end_us / 1000), (unsigned long long)(end_us % 1000));
}

static void print_next(const struct program_call *call, const struct page *page)
{
	const char *run = run_path(call->run);

	printf("\nLook next\n");
	if (page->largest) {
		char window[WINDOW_MAX];

		put_window(window, page->largest->begin_ns - run_origin_ns(call->run),
			page->largest->end_ns - run_origin_ns(call->run));
		printf("  hpct-view %s --time %s   the largest gap: %s\n", run, window,
			gap_cause_text(page->largest->cause));
		printf("  hpct-blame %s --gaps   all gaps with their causes\n", run);
	}
	if (page->cause_count)
		printf("  hpct-blame %s --tree   blame top-down by call path\n", run);
	if (page->late.held_ns)
		printf("  hpct-blame %s --late   who came last at collective calls\n", run);
	if (page->idle.all_idle_ns > page->idle.blamed_ns)
		printf("  hpct-blame %s --of all-idle   what threads waited in while none was at work\n",
			run);
	if (page->idle.copy_ns * 10 > page->idle.window_ns)
		printf("  hpct-stats %s --by op   the copies\n", run);
}

static void print_coverage(const struct page *page)
{
	char text[COVERAGE_TEXT_MAX];

	coverage_print(&page->coverage, text);
	printf("\nCoverage: %s; GPUs %.1f %% known\n", text, 100 * page->known);
	printf("Active threads share an idle interval equally; a synchronization of a GPU without work is "
	       "activity\nand ends with the call: up to a thread's next sample its caller is at work\n");
	if (page->idle.unused_ns)
		printf("GPUs count from their first use, when the process made its first context for one\n");
}

static void print_page(struct program_call *call, const struct ask *ask, const struct page *page)
{
	print_title(call, ask, page);
	print_parts(page);
	print_causes(call, page);
	if (page->known >= PAGE_COVERAGE_CAUSES)
		print_gains(call, page);
	print_next(call, page);
	print_coverage(page);
}

/* ---- for scripts ---- */

static const struct report_column columns[] = {{"section", REPORT_TEXT}, {"key", REPORT_COMPOSED},
	{"time_ns", REPORT_NUMBER}, {"percent", REPORT_PERCENT}, {"path", REPORT_COMPOSED},
	{"gap_begin_ns", REPORT_NUMBER}, {"gap_ns", REPORT_NUMBER}};

static void script_row(struct report *report, const char *section, const char *key, uint64_t time_ns,
	uint64_t whole_ns, const char *path)
{
	report_string(report, section);
	report_string(report, key);
	report_number(report, time_ns);
	report_real(report, percent(time_ns, whole_ns));
	report_string(report, path);
}

static void script_gap(const struct program_call *call, struct report *report, const struct gap *gap)
{
	if (gap) {
		report_number(report, gap->begin_ns - run_origin_ns(call->run));
		report_number(report, gap->end_ns - gap->begin_ns);
	} else {
		report_none(report);
		report_none(report);
	}
	report_row(report);
}

static int print_script(struct program_call *call, const struct page *page, struct error *error)
{
	const struct idle *idle = &page->idle;
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns, 7, error);

	if (result)
		return result;
	script_row(report, "coverage", "gpu", idle->busy_ns + idle->idle_ns,
		idle->window_ns - idle->unused_ns, NULL);
	script_gap(call, report, NULL);
	script_row(
		report, "coverage", "streams", page->coverage.monitored_ns, page->coverage.window_ns, NULL);
	script_gap(call, report, NULL);
	for (size_t i = 0; i < page->part_count; i++) {
		script_row(report, "wall", page->parts[i].key, page->parts[i].time_ns, idle->window_ns, NULL);
		script_gap(call, report, NULL);
	}
	for (size_t i = 0; i < page->cause_count; i++) {
		script_row(report, "cause", page->causes[i].row->key, page->causes[i].row->time_ns,
			idle->idle_ns, page->causes[i].path);
		script_gap(call, report, page->causes[i].largest);
	}
	if (page->cause_count || page->idle.all_idle_ns) {
		script_row(report, "cause", "<nobody active>", idle->all_idle_ns, idle->idle_ns, NULL);
		script_gap(call, report, NULL);
	}
	for (size_t i = 0; i < page->findings.count && page->known >= PAGE_COVERAGE_CAUSES; i++) {
		const struct finding *finding = &page->findings.list[i];

		script_row(report, "gain", finding_name(finding->kind), finding->save_ns, idle->window_ns,
			finding->context
				? run_context_path(call->run, finding->context, UINT32_MAX, &call->arena)
				: NULL);
		script_gap(call, report, NULL);
	}
	return report_close(report, error);
}

int answer_page(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	enum place_by by = PLACE_FUNCTION;
	struct page page = {0};
	int result = answer_find_by(call, &by, error);

	if (!result)
		result = page_make(&page, call->run, call->select, &question, by, &call->arena, error);
	progress_end();
	if (!result && call->format == REPORT_TABLE)
		print_page(call, ask, &page);
	else if (!result)
		result = print_script(call, &page, error);
	page_fini(&page);
	return result;
}
