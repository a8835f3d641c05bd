/* SPDX-License-Identifier: Apache-2.0 */
/* answer_balance.c - how evenly the work of each key is spread over the streams. */
#include "blame/idle/imbalance.h"
#include "blame/page/answer.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

static const struct report_column balance_columns[] = {{"key", REPORT_COMPOSED}, {"total_ns", REPORT_NUMBER},
	{"min_ns", REPORT_NUMBER}, {"mean_ns", REPORT_NUMBER}, {"max_ns", REPORT_NUMBER},
	{"sd_ns", REPORT_NUMBER}, {"cv", REPORT_FIGURES}, {"streams", REPORT_NUMBER},
	{"busiest", REPORT_TEXT}};
static const struct report_column balance_table[] = {{"min", REPORT_DURATION}, {"mean", REPORT_DURATION},
	{"max", REPORT_DURATION}, {"sd", REPORT_DURATION}, {"cv", REPORT_FIGURES}, {"streams", REPORT_NUMBER},
	{"busiest", REPORT_TEXT}, {"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

static uint64_t whole(double value)
{
	return (uint64_t)(value + 0.5);
}

static void balance_row(
	struct report *report, const struct run *run, const struct imbalance_row *row, bool is_table)
{
	if (!is_table) {
		report_string(report, row->key);
		report_number(report, row->total_ns);
	}
	report_number(report, row->min_ns);
	report_number(report, whole(row->mean_ns));
	report_number(report, row->max_ns);
	report_number(report, whole(row->sd_ns));
	report_real(report, row->cv);
	report_number(report, row->streams);
	report_string(report, run_stream(run, row->busiest)->text);
	if (is_table)
		report_string(report, row->key);
	report_row(report);
}

int answer_balance(struct program_call *call, const struct ask *ask, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	struct report *report;
	struct imbalance balance;
	enum row_key_by by = ROW_KEY_FUNCTION;
	struct idle_question question = {0};
	uint32_t left_out;
	int result = answer_find_by(call, &by, error);

	if (!result)
		result = answer_program_question(&question, &left_out, call, ask, error);
	if (!result)
		result = imbalance_make(&balance, call->run, call->select, question.streams,
			question.stream_count, by, &call->arena, error);
	if (!result && !balance.count) /* of monitored time it is an answer that nothing of that kind works */
		result = coverage_require(call->run, call->select, error);
	if (!result)
		answer_print_definition(call,
			"Time at work by key, spread over the streams of its kind: one without it counts as "
			"zero; cv = sd / mean");
	if (!result && left_out && is_table)
		report_fit_say("%s", answer_left_out(call, left_out));
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame",
			is_table ? balance_table : balance_columns, is_table ? 8 : 9, error);
	if (result)
		return result;
	for (size_t i = 0; i < balance.count && i < program_top(call); i++)
		balance_row(report, call->run, &balance.rows[i], is_table);
	result = report_close(report, error);
	program_say_left_out(call, balance.count);
	return result;
}
