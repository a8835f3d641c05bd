/* SPDX-License-Identifier: Apache-2.0 */
/* answer_threads.c - what threads wait in, and where only one works: as rows or as sums. */
#include <stdio.h>

#include "blame/page/answer.h"
#include "blame/page/page_text.h"
#include "blame/wait/threads.h"
#include "timeline/base/progress.h"
#include "timeline/report/report_fit.h"

#define ROWS 5
#define PARTS 7
#define AFTERS 2
#define LATE_LEAST 1000
#define KNOWN_LEAST 0.9	 /* of the threads' time: with less the page begins with it */
#define KNOWN_CAUSES 0.5 /* with less it names none */

struct thread_page {
	struct threads threads;
	struct last_arrival late;
	struct exact_share_rows waited, after, serial;
	struct coverage coverage;
	double known;	   /* part of the threads' lives */
	uint32_t left_out; /* threads */
	enum row_key_by by;
	struct page_part parts[PARTS]; /* they sum to threads.window_ns */
};

static void put_parts(struct thread_page *page)
{
	const struct threads *threads = &page->threads;
	const struct thread_page parts = {
		.parts = {{"work", "at work", threads->work_ns},
			{"sync", "in synchronization calls", threads->sync_ns},
			{"blocked", "blocked", threads->blocked_ns},
			{"spin", "in functions that only wait", threads->spin_ns},
			{"runnable", "waiting for a core", threads->runnable_ns},
			{"unknown", "unknown, lost or unmonitored", threads->unknown_ns},
			{"absent", "not born yet, or ended", threads->absent_ns}}};

	for (size_t i = 0; i < PARTS; i++)
		page->parts[i] = parts.parts[i];
}

static int page_fill(struct thread_page *page, struct program_call *call,
	const struct idle_question *question, const enum row_key_by *by, struct error *error)
{
	struct threads *threads = &page->threads;
	uint32_t depth = select_depth(call->select);
	uint64_t living_ns;
	int result = threads_sweep(threads, call->run, question, &call->arena, error);

	page->by = ROW_KEY_FUNCTION;
	if (by)
		page->by = *by;
	else if (!result && (exact_share_is_script(call->run, threads->waited, threads->waited_count) ||
				    exact_share_is_script(call->run, threads->serial, threads->serial_count)))
		page->by = ROW_KEY_SCRIPT;
	if (!result)
		result = exact_share_rows_make(&page->waited, call->run, threads->waited,
			threads->waited_count, call->select, page->by, depth, NULL, &call->arena, error);
	if (!result)
		result = exact_share_rows_make(&page->after, call->run, threads->after, threads->after_count,
			call->select, page->by, depth, NULL, &call->arena, error);
	if (!result)
		result = exact_share_rows_make(&page->serial, call->run, threads->serial,
			threads->serial_count, call->select, page->by, depth, NULL, &call->arena, error);
	if (!result)
		result = last_arrival_sweep(&page->late, call->run, question, &call->arena, error);
	if (!result)
		result = coverage_compute(&page->coverage, call->run, call->select, error);
	if (result)
		return result;
	living_ns = threads->window_ns - threads->absent_ns;
	page->known = (double)(living_ns - threads->unknown_ns) / (double)living_ns;
	put_parts(page);
	return 0;
}

/* The first so many of a block: as many as --top allows. */
static size_t rows_of(const struct program_call *call, const struct thread_page *page, size_t count)
{
	uint64_t top = select_top(call->select) < ROWS ? select_top(call->select) : ROWS;

	if (page->known < KNOWN_CAUSES)
		return 0;
	return count < top ? count : (size_t)top;
}

static uint64_t held_of(const struct last_arrival *late)
{
	return late->held_ns + late->message_held_ns + late->thread_held_ns;
}

static void late_put(const struct program_call *call, const struct thread_page *page,
	const struct last_arrival_party *list, uint32_t count, const struct last_arrival_party **parties,
	size_t *put)
{
	uint64_t least_ns = held_of(&page->late) / LATE_LEAST + 1;

	for (size_t i = 0; i < rows_of(call, page, count); i++)
		if (list[i].held_ns >= least_ns)
			parties[(*put)++] = &list[i];
}

/* Ranks, their messages, then threads: those that held others up for a thousandth of all that, the worst of
 * each first. */
static size_t late_of(const struct program_call *call, const struct thread_page *page,
	const struct last_arrival_party *parties[3 * ROWS])
{
	const struct last_arrival *late = &page->late;
	size_t count = 0;

	late_put(call, page, late->parties, late->count, parties, &count);
	late_put(call, page, late->messages, late->message_count, parties, &count);
	late_put(call, page, late->threads, late->thread_count, parties, &count);
	return count;
}

/* "rank 1 was last at 4 of 6 collective calls" */
static const char *late_text(struct program_call *call, const struct last_arrival_party *party)
{
	static const char *const texts[] = {
		[LAST_ARRIVAL_PROCESS] = "%s was last at %llu of %llu collective calls",
		[LAST_ARRIVAL_THREAD] = "%s was last at %llu of %llu barriers",
		[LAST_ARRIVAL_SENDER] = "%s sent %llu of %llu messages after their receivers waited",
		[LAST_ARRIVAL_RECEIVER] = "%s received %llu of %llu messages after their senders waited"};

	return arena_printf(&call->arena, texts[party->role],
		party->role == LAST_ARRIVAL_THREAD
			? run_stream(call->run, party->stream)->text
			: answer_party_name(call->run, party->stream, &call->arena),
		(unsigned long long)party->last, (unsigned long long)party->occasions);
}

static const char *late_path(struct program_call *call, const struct last_arrival_party *party)
{
	return party->context ? run_context_path(call->run, party->context, UINT32_MAX, &call->arena) : NULL;
}

static size_t hints_of(struct program_call *call, const struct ask *ask, const struct thread_page *page,
	struct page_hint hints[PAGE_HINTS])
{
	const char *options = page_options(call, ask, "", "time streams");
	size_t count = 0;

	if (held_of(&page->late))
		hints[count++] = page_hint_of(call, "hpct-blame", " --late",
			page_options(call, ask, "waits", "time streams"),
			"which party arrives last at collective calls, in messages and at barriers");
	if (page->threads.threads > 1)
		hints[count++] = page_hint_of(call, "hpct-blame", " --imbalance", options,
			"work that is not evenly spread over the threads");
	hints[count++] = page_hint_of(call, "hpct-profile", "", options, "where the CPU time went");
	if (page->threads.pathless_ns > page->threads.blocked_ns / 2)
		hints[count++] = (struct page_hint){"hpct-record -e BLOCKTIME ...",
			"gives waits their call paths, if the kernel allows it"};
	return count + page_hint_python(call->run, &hints[count]);
}

#define WAITING_IS                                                                                      \
	"Threads wait while blocked, in synchronization calls or in functions that only wait; late is " \
	"the\nlast to arrive where others wait, however long it stays"

#define UNKNOWN_WAIT "<unknown wait>"
#define UNKNOWN_WAIT_IS                                                                                      \
	UNKNOWN_WAIT ": no record tells in which call the thread waited; `after` is where it was last seen " \
		     "at work, which need not have to do with it"

/* "<unknown wait> after work, solve", the largest first; in the call's arena. */
static const char *unknown_text(struct program_call *call, const struct exact_share_rows *after)
{
	const char *text = UNKNOWN_WAIT;

	for (size_t i = 0; i < after->count && i < AFTERS; i++)
		text = arena_printf(&call->arena, "%s%s %s", text, i ? "," : " after", after->rows[i].key);
	return text;
}

/* ---- for people ---- */

static void print_head(const char *head)
{
	page_head_print(head, "time", "");
}

static void print_time(uint64_t time_ns, uint64_t whole_ns)
{
	page_time_print(time_ns, 100.0 * (double)time_ns / (double)whole_ns);
	putchar('\n');
}

static void print_parts(const struct thread_page *page)
{
	uint64_t whole_ns = page->threads.window_ns;

	print_head("Where the threads' time went");
	for (int i = 0; i < PARTS; i++) {
		if (!page->parts[i].time_ns)
			continue;
		printf("  %-46s", page->parts[i].text);
		page_bar_print(page->parts[i].time_ns, whole_ns);
		print_time(page->parts[i].time_ns, whole_ns);
	}
	printf("  %-*s", page_width_left() - 2, "sum = threads x window");
	print_time(whole_ns, whole_ns);
}

static void print_row_of(size_t number, const char *key, uint64_t time_ns, uint64_t whole_ns)
{
	int width = page_width_left() - 4;

	printf("  %zu %-*.*s", number, width, width, key);
	print_time(time_ns, whole_ns);
}

static void print_rows(const struct program_call *call, const struct thread_page *page, const char *head,
	const struct exact_share_rows *rows)
{
	size_t count = rows_of(call, page, rows->count);

	if (count)
		print_head(head);
	for (size_t i = 0; i < count; i++)
		print_row_of(i + 1, rows->rows[i].key, rows->rows[i].time_ns, rows->total_ns);
}

/* What threads wait in, by time; that of unknown waits is one row among them. */
static void print_waits(struct program_call *call, const struct thread_page *page)
{
	const struct exact_share_rows *rows = &page->waited;
	uint64_t unknown_ns = page->after.total_ns, whole_ns = rows->total_ns + unknown_ns;
	size_t count = rows_of(call, page, rows->count + (unknown_ns != 0));

	if (count)
		print_head("What threads wait in");
	for (size_t i = 0, at = 0; i < count; i++) {
		bool is_unknown = unknown_ns && (at == rows->count || rows->rows[at].time_ns < unknown_ns);

		print_row_of(i + 1, is_unknown ? unknown_text(call, &page->after) : rows->rows[at].key,
			is_unknown ? unknown_ns : rows->rows[at].time_ns, whole_ns);
		at += !is_unknown;
		unknown_ns = is_unknown ? 0 : unknown_ns;
	}
	if (page->after.total_ns && !unknown_ns)
		page_width_say("    " UNKNOWN_WAIT_IS, 4);
}

static void print_late(struct program_call *call, const struct thread_page *page)
{
	const struct last_arrival_party *parties[3 * ROWS];
	size_t count = late_of(call, page, parties);
	const char *clocks = answer_late_clocks(&page->late, &call->arena);
	int width = page_width_left() - 4;

	if (count)
		print_head("Who held the others up, by coming last");
	for (size_t i = 0; i < count; i++) {
		printf("  %zu %-*.*s", i + 1, width, width, late_text(call, parties[i]));
		print_time(parties[i]->held_ns, held_of(&page->late));
		page_path_print(late_path(call, parties[i]));
	}
	if (clocks)
		page_width_say(arena_printf(&call->arena, "%s    %s", count ? "" : "\n", clocks), 4);
}

static void print_title(struct program_call *call, const struct ask *ask, const struct thread_page *page)
{
	const struct threads *threads = &page->threads;
	const char *asked = page_options(call, ask, "waits", NULL);
	char window[REPORT_HUMAN_MAX];

	report_human_duration(window, select_end_ns(call->select) - select_begin_ns(call->select));
	page_width_say(
		arena_printf(&call->arena, "%s  %s %s  no GPU monitored, %u CPU thread%s of %u process%s%s%s",
			run_path(call->run), select_has_time(call->select) ? "window" : "whole run", window,
			threads->threads, threads->threads == 1 ? "" : "s", threads->processes,
			threads->processes == 1 ? "" : "es", *asked ? " " : "", asked),
		2);
	if (page->known < KNOWN_LEAST)
		page_width_say(
			arena_printf(&call->arena,
				"These numbers miss %.1f %% of the threads' time: it is unknown, lost or "
				"unmonitored\n(%s)",
				100 * (1 - page->known),
				page->coverage.thinned_ns ? PAGE_THINNED
							  : "without records of switches a thread that "
							    "waits looks unknown"),
			0);
}

static void print_page(struct program_call *call, const struct ask *ask, const struct thread_page *page)
{
	struct page_hint hints[PAGE_HINTS];
	size_t count = hints_of(call, ask, page, hints);
	char text[COVERAGE_TEXT_MAX];

	print_title(call, ask, page);
	print_parts(page);
	print_waits(call, page);
	print_late(call, page);
	print_rows(call, page, "Where one thread of its process works alone", &page->serial);
	page_hints_print(hints, count);
	coverage_print(&page->coverage, text);
	putchar('\n');
	page_width_say(arena_printf(&call->arena, "Coverage: %s", text), 2);
	page_width_say(WAITING_IS, 0);
	if (page->left_out)
		page_width_say(answer_left_out(call, page->left_out), 0);
	if (page->by == ROW_KEY_SCRIPT)
		page_width_say(PAGE_SCRIPT, 0);
}

/* ---- for scripts: the same numbers and sentences ---- */

static void script_row(struct report *report, const struct program_call *call, const char *section,
	const char *key, uint64_t time_ns, uint64_t whole_ns, const char *text)
{
	page_row_put(report, call,
		&(struct page_row){.section = section,
			.key = key,
			.time_ns = time_ns,
			.has_time = true,
			.whole_ns = whole_ns,
			.text = text});
}

static void script_rows(struct report *report, const struct program_call *call,
	const struct thread_page *page, const char *section, const struct exact_share_rows *rows,
	uint64_t whole_ns)
{
	for (size_t i = 0; i < rows_of(call, page, rows->count); i++)
		script_row(report, call, section, rows->rows[i].key, rows->rows[i].time_ns, whole_ns, NULL);
}

static void script_waits(struct report *report, struct program_call *call, const struct thread_page *page)
{
	uint64_t unknown_ns = page->after.total_ns, whole_ns = page->waited.total_ns + unknown_ns;

	script_rows(report, call, page, "wait", &page->waited, whole_ns);
	if (unknown_ns && rows_of(call, page, 1))
		script_row(report, call, "wait", UNKNOWN_WAIT, unknown_ns, whole_ns,
			unknown_text(call, &page->after));
}

static void script_late(struct report *report, struct program_call *call, const struct thread_page *page)
{
	const struct last_arrival_party *parties[3 * ROWS];
	size_t count = late_of(call, page, parties);

	for (size_t i = 0; i < count; i++)
		page_row_put(report, call,
			&(struct page_row){.section = "late",
				.key = run_stream(call->run, parties[i]->stream)->text,
				.time_ns = parties[i]->held_ns,
				.has_time = true,
				.whole_ns = held_of(&page->late),
				.path = late_path(call, parties[i]),
				.has_count = true,
				.count = parties[i]->last,
				.text = late_text(call, parties[i])});
}

static int print_script(
	struct program_call *call, const struct ask *ask, const struct thread_page *page, struct error *error)
{
	struct page_hint hints[PAGE_HINTS];
	const char *asked = page_options(call, ask, "waits", NULL);
	const char *clocks = answer_late_clocks(&page->late, &call->arena);
	struct report *report;
	int result = page_rows_open(&report, call, error);

	if (result)
		return result;
	page_rows_window(report, call, page->threads.threads);
	page_rows_coverage(report, call, &page->coverage);
	page_rows_parts(report, call, "threads", page->parts, PARTS, page->threads.window_ns);
	script_waits(report, call, page);
	script_late(report, call, page);
	script_rows(report, call, page, "serial", &page->serial, page->serial.total_ns);
	page_rows_hints(report, call, hints, hints_of(call, ask, page, hints));
	if (*asked)
		page_rows_definition(report, call, asked + 1);
	page_rows_definition(report, call, WAITING_IS);
	if (page->left_out)
		page_rows_definition(report, call, answer_left_out(call, page->left_out));
	if (clocks)
		page_rows_definition(report, call, clocks);
	if (page->by == ROW_KEY_SCRIPT)
		page_rows_definition(report, call, PAGE_SCRIPT);
	if (page->threads.pathless_ns)
		page_rows_definition(report, call, UNKNOWN_WAIT_IS);
	return report_close(report, error);
}

int answer_threads_page(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	struct thread_page page = {0};
	enum row_key_by by = ROW_KEY_FUNCTION;
	int result = answer_find_by(call, &by, error);

	if (!result)
		result = answer_program_question(&question, &page.left_out, call, ask, error);
	if (!result)
		result = page_fill(&page, call, &question, select_by(call->select) ? &by : NULL, error);
	progress_end();
	if (!result && call->format == REPORT_TABLE)
		print_page(call, ask, &page);
	else if (!result)
		result = print_script(call, ask, &page, error);
	return result;
}

static int print_summary(const struct program_call *call, const struct threads *threads, uint32_t left_out,
	struct error *error)
{
	const struct answer_fact facts[] = {{"work_ns", threads->work_ns}, {"sync_ns", threads->sync_ns},
		{"blocked_ns", threads->blocked_ns}, {"spin_ns", threads->spin_ns},
		{"runnable_ns", threads->runnable_ns}, {"unknown_ns", threads->unknown_ns},
		{"absent_ns", threads->absent_ns}, {"window_ns", threads->window_ns},
		{"waiting_ns", threads->sync_ns + threads->blocked_ns + threads->spin_ns},
		{"serial_ns", threads->serial_ns}, {"threads", threads->threads},
		{"processes", threads->processes}, {"pathless_ns", threads->pathless_ns},
		{"left_out", left_out}};

	answer_print_definition(call,
		"work + sync + blocked + spin + runnable + unknown + absent = window (threads x "
		"window); waiting = sync + blocked + spin; pathless is of blocked: no record tells in which "
		"call; left_out: threads of MPI's libraries");
	return answer_print_facts(call, facts, sizeof facts / sizeof *facts, error);
}

static void print_opening(
	struct program_call *call, const struct ask *ask, const struct threads *threads, uint32_t left_out)
{
	uint64_t waiting_ns = threads->sync_ns + threads->blocked_ns + threads->spin_ns;
	char text[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(text, ask->of == ASK_SERIAL ? threads->serial_ns : waiting_ns);
	if (ask->of == ASK_SERIAL)
		report_fit_say("One thread of its process works alone for %s", text);
	else
		report_fit_say("%u thread%s for %s together: blocked, in synchronization calls or in "
			       "functions that only wait",
			threads->threads, threads->threads == 1 ? " waits" : "s wait", text);
	if (ask->of != ASK_SERIAL && threads->pathless_ns)
		report_fit_say(UNKNOWN_WAIT ": no record tells in which call the thread waited; it was last "
					    "seen at work");
	if (left_out)
		report_fit_say("%s", answer_left_out(call, left_out));
	answer_print_losses(call);
}

static struct answer_shares shares_of(const struct ask *ask, const struct threads *threads)
{
	if (ask->of == ASK_SERIAL)
		return (struct answer_shares){
			threads->serial, threads->serial_count, {.whole_ns = threads->serial_ns}};
	return (struct answer_shares){threads->waited, threads->waited_count,
		{UNKNOWN_WAIT, threads->pathless_ns,
			threads->sync_ns + threads->blocked_ns + threads->spin_ns, 0}};
}

int answer_threads_shares(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	struct threads threads;
	uint32_t left_out;
	int result = answer_program_question(&question, &left_out, call, ask, error);

	if (!result)
		result = threads_sweep(&threads, call->run, &question, &call->arena, error);
	if (!result)
		*shares = shares_of(ask, &threads);
	return result;
}

int answer_threads(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	struct answer_shares shares;
	struct threads threads;
	uint32_t left_out;
	int result = answer_program_question(&question, &left_out, call, ask, error);

	if (!result)
		result = threads_sweep(&threads, call->run, &question, &call->arena, error);
	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &threads, left_out, error);
	shares = shares_of(ask, &threads);
	print_opening(call, ask, &threads, left_out);
	return answer_print_shares(call, ask, &shares, error);
}
