/* SPDX-License-Identifier: Apache-2.0 */
/* answer_causes.c - hpct-blame --of waiting --by cause: for what threads waited, and for whom. */
#include "blame/page/answer.h"
#include "blame/wait/wait_causes.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

#define CAUSES_ARE                                                                                \
	"What threads waited for, in calls, in functions that only wait and for a core, and for " \
	"whom; <unknown>: no record tells"

static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"cause", REPORT_TEXT, 0, REPORT_WORTH_LITTLE},
	{"party", REPORT_TEXT, 0, REPORT_WORTH_LITTLE}, {"waits", REPORT_NUMBER}};

static const char *key_of(struct program_call *call, const struct wait_cause_row *row)
{
	const struct run_stream *party =
		row->party == CAUSE_NOBODY ? NULL : run_stream(call->run, row->party);
	const char *kind = wait_cause_names[row->kind];

	if (row->kind == CAUSE_UNKNOWN)
		return "<unknown>";
	if (!party)
		return kind;
	if (party->s.rank >= 0)
		return arena_printf(&call->arena, "%s: rank %d %s", kind, (int)party->s.rank, party->name);
	return *party->name ? arena_printf(&call->arena, "%s: %s", kind, party->name)
			    : arena_printf(&call->arena, "%s: %s", kind, party->text);
}

static void print_row(
	struct program_call *call, struct report *report, const struct wait_cause_row *row, uint64_t whole_ns)
{
	report_string(report, key_of(call, row));
	report_number(report, row->time_ns);
	report_real(report, answer_percent(row->time_ns, whole_ns));
	report_string(report, wait_cause_names[row->kind]);
	report_string(report, row->party == CAUSE_NOBODY ? "-" : run_stream(call->run, row->party)->text);
	report_number(report, row->waits);
	report_row(report);
}

static int print_rows(struct program_call *call, const struct wait_cause_sums *sums, struct error *error)
{
	uint64_t left = program_top(call);
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns,
		sizeof columns / sizeof *columns, error);

	if (result)
		return result;
	for (size_t i = 0; i < sums->row_count && left; i++, left--)
		print_row(call, report, &sums->rows[i], sums->waiting_ns);
	result = report_close(report, error);
	program_say_left_out(call, sums->row_count);
	return result;
}

static int print_summary(struct program_call *call, const struct wait_cause_sums *sums, struct error *error)
{
	struct answer_fact facts[CAUSE_COUNT + 2] = {
		{"waiting_ns", sums->waiting_ns}, {"threads", sums->threads}};

	for (int kind = 0; kind < CAUSE_COUNT; kind++) {
		facts[kind + 2].key = arena_printf(&call->arena, "%s_ns", wait_cause_names[kind]);
		facts[kind + 2].value = sums->kind_ns[kind];
	}
	answer_print_definition(call, CAUSES_ARE);
	return answer_print_facts(call, facts, sizeof facts / sizeof *facts, error);
}

int answer_causes(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	struct wait_cause_sums sums;
	uint32_t left_out;
	int result = answer_program_question(&question, &left_out, call, ask, error);

	if (!result)
		result = wait_cause_sums_find(&sums, call->run, &question, &call->arena, error);
	if (result || ask->shape == ASK_SUMMARY)
		return result ? result : print_summary(call, &sums, error);
	answer_print_definition(call, CAUSES_ARE);
	if (left_out && call->format == REPORT_TABLE)
		report_fit_say("%s", answer_left_out(call, left_out));
	return print_rows(call, &sums, error);
}
