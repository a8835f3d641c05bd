/* SPDX-License-Identifier: Apache-2.0 */
/* answer_late.c - which process delayed the others at collective calls, which thread at barriers. */
#include "blame/page/answer.h"
#include "blame/wait/last_arrival.h"
#include "timeline/report/coverage.h"

static const struct report_column late_columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"last", REPORT_NUMBER}, {"occasions", REPORT_NUMBER},
	{"waited_ns", REPORT_DURATION}, {"path", REPORT_COMPOSED}};

const char *answer_party_name(const struct run *run, uint32_t stream, struct arena *arena)
{
	const struct run_stream *r = run_stream(run, stream);

	return r->s.rank >= 0 ? arena_printf(arena, "rank %d", (int)r->s.rank)
			      : arena_printf(arena, "process %u.%u", r->s.pid, r->s.generation);
}

static void late_row(struct report *report, struct program_call *call, const struct last_arrival_party *party,
	bool is_thread, uint64_t held_ns)
{
	report_string(report, is_thread ? run_stream(call->run, party->stream)->text
					: answer_party_name(call->run, party->stream, &call->arena));
	report_number(report, party->held_ns);
	report_real(report, held_ns ? 100.0 * (double)party->held_ns / (double)held_ns : 0);
	report_number(report, party->last);
	report_number(report, party->occasions);
	report_number(report, party->waited_ns);
	report_string(report, party->context
				      ? run_context_path(call->run, party->context, UINT32_MAX, &call->arena)
				      : NULL);
	report_row(report);
}

/* Processes first, then threads; per cent are of what their kind was held up. */
static void late_rows(struct report *report, struct program_call *call, const struct last_arrival *late)
{
	uint64_t left = select_top(call->select);

	for (uint32_t i = 0; i < late->count && left; i++, left--)
		late_row(report, call, &late->parties[i], false, late->held_ns);
	for (uint32_t i = 0; i < late->thread_count && left; i++, left--)
		late_row(report, call, &late->threads[i], true, late->thread_held_ns);
}

int answer_late(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct report *report;
	struct last_arrival late;
	int result = last_arrival_sweep(&late, call->run, &question, &call->arena, error);

	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (!result)
		answer_print_definition(call,
			"Who came last at collective calls, then at barriers: blame is how long the others, "
			"together, waited for it\nfrom their arrivals to its");
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", late_columns, 7, error);
	if (result)
		return result;
	late_rows(report, call, &late);
	return report_close(report, error);
}
