/* SPDX-License-Identifier: Apache-2.0 */
/* answer_steps.c - --by mark: a row per instance of what the program marks, slowest first. */
#include "blame/idle/steps.h"
#include "blame/page/answer.h"
#include "timeline/report/coverage.h"

static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"begin_ns", REPORT_DURATION},
	{"wall_ns", REPORT_DURATION}, {"busy_ns", REPORT_DURATION}, {"communicating_ns", REPORT_DURATION},
	{"idle_ns", REPORT_DURATION}, {"unknown_ns", REPORT_DURATION}, {"groups", REPORT_NUMBER},
	{"path", REPORT_COMPOSED}};

/* busy + idle + unknown = wall x groups; communicating is a part of busy. */
static void print_step(struct report *report, struct program_call *call, const struct step *step)
{
	report_string(report, step->name);
	report_number(report, step->begin_ns - run_origin_ns(call->run));
	report_number(report, step->end_ns - step->begin_ns);
	report_number(report, step->idle.busy_ns);
	report_number(report, step->idle.comm_ns);
	report_number(report, step->idle.idle_ns);
	report_number(report, step->idle.unknown_ns);
	report_number(report, step->idle.groups);
	report_string(report, step->context ? run_context_path(call->run, step->context,
						      select_depth(call->select), &call->arena)
					    : NULL);
	report_row(report);
}

int answer_steps(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct report *report;
	struct steps steps;
	int result = coverage_require(call->run, call->select, error);

	if (!result)
		result = steps_make(&steps, call->run, &question, &call->arena, error);
	if (!result)
		answer_print_definition(call,
			"Instances of marks, the slowest first: busy + idle + unknown = wall x groups; "
			"communicating is a part of busy");
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", columns, 9, error);
	if (result)
		return result;
	for (size_t i = 0; i < steps.count && i < select_top(call->select); i++)
		print_step(report, call, &steps.list[i]);
	return report_close(report, error);
}
