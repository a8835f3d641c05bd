/* SPDX-License-Identifier: Apache-2.0 */
/* answer_findings.c - habits that cost time, the costliest first, each with its evidence. */
#include "blame/findings/findings.h"
#include "blame/page/answer.h"
#include "timeline/report/coverage.h"

static const struct report_column script_columns[] = {{"finding", REPORT_TEXT}, {"save_ns", REPORT_NUMBER},
	{"time_ns", REPORT_NUMBER}, {"count", REPORT_NUMBER}, {"bytes", REPORT_NUMBER},
	{"stream", REPORT_TEXT}, {"path", REPORT_COMPOSED}, {"text", REPORT_TEXT}, {"advice", REPORT_TEXT}};
static const struct report_column table_columns[] = {{"saves at most", REPORT_DURATION},
	{"cases", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE}, {"finding", REPORT_TEXT},
	{"what to do", REPORT_TEXT}, {"where", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

/* A finding that saves nothing is a hint: what it could save is not known. */
static void put_save(struct report *report, const struct finding *finding)
{
	if (finding->save_ns)
		report_number(report, finding->save_ns);
	else
		report_none(report);
}

static void table_row(struct report *report, struct program_call *call, const struct finding *finding)
{
	put_save(report, finding);
	report_number(report, finding->count);
	report_string(report, finding_text(finding->kind));
	report_string(report, finding_advice(finding->kind));
	report_string(report, finding->context ? run_context_path(call->run, finding->context,
							 select_depth(call->select), &call->arena)
					       : run_stream(call->run, finding->stream)->text);
	report_row(report);
}

static void script_row(struct report *report, struct program_call *call, const struct finding *finding)
{
	report_string(report, finding_name(finding->kind));
	put_save(report, finding);
	report_number(report, finding->time_ns);
	report_number(report, finding->count);
	if (finding->bytes)
		report_number(report, finding->bytes);
	else
		report_none(report);
	report_string(report, run_stream(call->run, finding->stream)->text);
	report_string(report, finding->context ? run_context_path(call->run, finding->context,
							 select_depth(call->select), &call->arena)
					       : NULL);
	report_string(report, finding_text(finding->kind));
	report_string(report, finding_advice(finding->kind));
	report_row(report);
}

int answer_findings(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	bool is_table = call->format == REPORT_TABLE;
	struct findings findings;
	struct report *report;
	uint64_t wanted = 0, top = program_top(call);
	int result = coverage_require(call->run, call->select, error);

	if (!result)
		result = findings_make(&findings, call->run, &question, &call->arena, error);
	if (!result)
		answer_print_definition(
			call, findings.count ? "Habits, each with the most that could be saved: all that its "
					       "cases take beyond what is needed"
					     : "No habit that costs time was found");
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame",
			is_table ? table_columns : script_columns, is_table ? 5 : 9, error);
	if (result)
		return result;
	for (size_t i = 0; i < findings.count; i++) {
		if (!select_wants_context(call->select, findings.list[i].context))
			continue;
		if (++wanted > top)
			continue;
		if (is_table)
			table_row(report, call, &findings.list[i]);
		else
			script_row(report, call, &findings.list[i]);
	}
	result = report_close(report, error);
	program_say_left_out(call, wanted);
	return result;
}
