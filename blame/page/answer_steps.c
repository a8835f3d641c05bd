/* SPDX-License-Identifier: Apache-2.0 */
/* answer_steps.c - --by mark: a row per instance of what the program marks, slowest first, with the rank that
 * the others waited for in it. */
#include "blame/base/process.h"
#include "blame/base/related.h"
#include "blame/idle/steps.h"
#include "blame/page/answer.h"
#include "blame/wait/last_arrival.h"
#include "timeline/report/coverage.h"

static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"begin_ns", REPORT_DURATION},
	{"wall_ns", REPORT_DURATION}, {"busy_ns", REPORT_DURATION}, {"communicating_ns", REPORT_DURATION},
	{"idle_ns", REPORT_DURATION}, {"unknown_ns", REPORT_DURATION}, {"groups", REPORT_NUMBER},
	{"path", REPORT_COMPOSED}, {"last", REPORT_TEXT}, {"held_ns", REPORT_DURATION},
	{"meetings", REPORT_NUMBER}};

/* For which who came last is looked for: each reads its window of all streams again. */
#define LAST_ROWS 500u
#define LAST_STREAMS 500000u /* rows x streams */

/* Who delayed the others most at collective calls in the step. */
struct step_last {
	const char *name; /* NULL: nobody, or the ranks do not meet */
	uint64_t held_ns, meetings;
};

/* What all steps share. */
struct step_search {
	struct idle_question question; /* of all processes' streams */
	uint32_t processes;
	size_t rows;
};

static int search_begin(struct step_search *search, struct program_call *call,
	const struct idle_question *asked, struct error *error)
{
	struct related related;
	struct process *processes;
	int result = related_find(
		&related, call->run, asked->streams, asked->stream_count, true, &call->arena, error);

	*search = (struct step_search){.question = *asked};
	if (!result)
		result = process_list(&processes, &search->processes, call->run, related.streams,
			related.count, &call->arena, error);
	if (result)
		return result;
	search->question.streams = related.streams;
	search->question.stream_count = related.count;
	search->question.related = related.bits;
	search->rows = related.count > LAST_STREAMS / LAST_ROWS ? LAST_STREAMS / related.count : LAST_ROWS;
	return 0;
}

static int last_find(struct step_last *last, struct program_call *call, const struct step_search *search,
	const struct step *step, struct arena *arena, struct error *error)
{
	struct idle_question question = search->question;
	struct last_arrival late;
	int result;

	*last = (struct step_last){0};
	if (search->processes < 2)
		return 0;
	question.begin_ns = step->begin_ns;
	question.end_ns = step->end_ns;
	result = last_arrival_sweep_related(&late, call->run, &question, arena, error);
	if (result == -ERROR_EMPTY) /* nothing is known in that step */
		return 0;
	if (result || !late.count)
		return result;
	last->meetings = late.occasions;
	if (late.parties[0].held_ns) {
		last->name = answer_party_name(call->run, late.parties[0].stream, arena);
		last->held_ns = late.parties[0].held_ns;
	}
	return 0;
}

/* busy + idle + unknown = wall x groups; communicating is a part of busy. `last` NULL: not looked for. */
static void print_step(struct report *report, struct program_call *call, const struct step *step,
	const struct step_last *last, struct arena *arena)
{
	report_string(report, step->name);
	report_number(report, step->begin_ns - run_origin_ns(call->run));
	report_number(report, step->end_ns - step->begin_ns);
	report_number(report, step->idle.busy_ns);
	report_number(report, step->idle.comm_ns);
	report_number(report, step->idle.idle_ns);
	report_number(report, step->idle.unknown_ns);
	report_number(report, step->idle.groups);
	report_string(report,
		step->context ? run_context_path(call->run, step->context, select_depth(call->select), arena)
			      : NULL);
	report_string(report, last && last->name ? last->name : "-");
	if (last) {
		report_number(report, last->held_ns);
		report_number(report, last->meetings);
	} else {
		report_none(report);
		report_none(report);
	}
	report_row(report);
}

/* What one row needs is freed with it: there may be millions of steps. */
static int put_step(struct report *report, struct program_call *call, const struct step_search *search,
	const struct step *step, bool is_sought, struct error *error)
{
	struct arena arena = {0};
	struct step_last last;
	int result = is_sought ? last_find(&last, call, search, step, &arena, error) : 0;

	if (!result)
		print_step(report, call, step, is_sought ? &last : NULL, &arena);
	arena_fini(&arena);
	return result;
}

int answer_steps(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct step_search search;
	struct report *report;
	struct steps steps;
	int result = coverage_require(call->run, call->select, error);

	if (!result)
		result = steps_make(&steps, call->run, &question, &call->arena, error);
	if (!result)
		result = search_begin(&search, call, &question, error);
	if (!result)
		answer_print_definition(call,
			"Instances of marks, the slowest first: busy + idle + unknown = wall x groups; "
			"communicating, while nothing else runs, is a part of busy; last: whom the others "
			"waited for at collective calls");
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", columns,
			sizeof columns / sizeof *columns, error);
	if (result)
		return result;
	for (size_t i = 0; i < steps.count && i < program_top(call) && !result; i++)
		result = put_step(report, call, &search, &steps.list[i], i < search.rows, error);
	if (result) {
		struct error unused = {0};

		report_close(report, &unused);
		return result;
	}
	result = report_close(report, error);
	program_say_left_out(call, steps.count);
	return result;
}
