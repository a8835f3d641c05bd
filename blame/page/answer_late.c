/* SPDX-License-Identifier: Apache-2.0 */
/* answer_late.c - which process held the others up at collective calls, which thread at barriers. */
#include "blame/base/host_clocks.h"
#include "blame/base/related.h"
#include "blame/page/answer.h"
#include "blame/wait/last_arrival.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

static const struct report_column late_columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"last", REPORT_NUMBER}, {"occasions", REPORT_NUMBER},
	{"waited_ns", REPORT_DURATION}, {"path", REPORT_COMPOSED}};

const char *answer_party_name(const struct run *run, uint32_t stream, struct arena *arena)
{
	const struct run_stream *r = run_stream(run, stream);

	return r->s.rank >= 0 ? arena_printf(arena, "rank %d", (int)r->s.rank)
			      : arena_printf(arena, "process %u.%u", r->s.pid, r->s.generation);
}

const char *answer_late_name(struct program_call *call, const struct last_arrival_party *party)
{
	const char *name = answer_party_name(call->run, party->stream, &call->arena);

	switch (party->role) {
	case LAST_ARRIVAL_THREAD:
		return run_stream(call->run, party->stream)->text;
	case LAST_ARRIVAL_SENDER:
		return arena_printf(&call->arena, "%s as sender", name);
	case LAST_ARRIVAL_RECEIVER:
		return arena_printf(&call->arena, "%s as receiver", name);
	default:
		return name;
	}
}

static void late_row(struct report *report, struct program_call *call, const struct last_arrival_party *party,
	uint64_t held_ns)
{
	report_string(report, answer_late_name(call, party));
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

/* Occasions whose last party the clocks do not tell. */
static void untold_row(struct report *report, const char *key, uint64_t untold, uint64_t occasions,
	uint64_t untold_ns, uint64_t held_ns)
{
	if (!untold)
		return;
	report_string(report, key);
	report_number(report, untold_ns);
	report_real(report, held_ns ? 100.0 * (double)untold_ns / (double)held_ns : 0);
	report_number(report, untold);
	report_number(report, occasions);
	report_number(report, 0);
	report_string(report, NULL);
	report_row(report);
}

static const char *clock_shift(const struct last_arrival_clock *clock, struct arena *arena)
{
	char from[REPORT_HUMAN_MAX], to[REPORT_HUMAN_MAX];
	const char *sign = clock->from_ns < 0 ? "-" : "+", *to_sign = clock->to_ns < 0 ? "-" : "+";

	report_human_duration(from, (uint64_t)(clock->from_ns < 0 ? -clock->from_ns : clock->from_ns));
	report_human_duration(to, (uint64_t)(clock->to_ns < 0 ? -clock->to_ns : clock->to_ns));
	if (clock->from_ns == clock->to_ns)
		return arena_printf(arena, "%s%s", sign, from);
	return arena_printf(arena, "%s%s to %s%s", sign, from, to_sign, to);
}

#define UNTOLD " lies within that uncertainty, and is not told"

const char *answer_late_clocks(const struct last_arrival *late, struct arena *arena)
{
	const char *text = "";

	if (late->clock_count < 2)
		return NULL;
	for (uint32_t i = 1; i < late->clock_count; i++) {
		const struct last_arrival_clock *clock = &late->clocks[i];
		char error[REPORT_HUMAN_MAX] = "";

		if (clock->error_ns == HOST_CLOCK_UNKNOWN) {
			text = arena_printf(
				arena, "%s%s %s (not known)", text, i > 1 ? "," : "", clock->host);
			continue;
		}
		report_human_duration(error, clock->error_ns);
		text = arena_printf(arena, "%s%s %s %s (+-%s)", text, i > 1 ? "," : "", clock->host,
			clock_shift(clock, arena), error);
	}
	if (late->untold)
		text = arena_printf(arena, "%s; who was last at %llu of %llu collective calls" UNTOLD, text,
			(unsigned long long)late->untold, (unsigned long long)late->occasions);
	if (late->message_untold)
		text = arena_printf(arena, "%s; who was last in %llu of %llu messages" UNTOLD, text,
			(unsigned long long)late->message_untold,
			(unsigned long long)late->message_occasions);
	return arena_printf(arena, "Clocks of %u hosts, put together by their calls; added to the times of%s",
		late->clock_count, text);
}

/* Processes first, then messages, then threads; per cent are of what their kind was held up, by those that
 * the selection leaves out, too. */
static void late_rows(struct report *report, struct program_call *call, const struct last_arrival *late)
{
	uint64_t left = select_top(call->select);

	for (uint32_t i = 0; i < late->count && left; i++) {
		if (!related_is_process(late->related, late->parties[i].stream))
			continue;
		late_row(report, call, &late->parties[i], late->held_ns);
		left--;
	}
	untold_row(report, "<not told>", late->untold, late->occasions, late->untold_ns, late->held_ns);
	for (uint32_t i = 0; i < late->message_count && left; i++) {
		if (!related_is_process(late->related, late->messages[i].stream))
			continue;
		late_row(report, call, &late->messages[i], late->message_held_ns);
		left--;
	}
	untold_row(report, "<not told> of messages", late->message_untold, late->message_occasions,
		late->message_untold_ns, late->message_held_ns);
	for (uint32_t i = 0; i < late->thread_count && left; i++) {
		uint32_t thread = late->threads[i].stream;

		if (!related_is_process(late->related, thread) || !related_is_reported(late->related, thread))
			continue;
		late_row(report, call, &late->threads[i], late->thread_held_ns);
		left--;
	}
}

int answer_late(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	struct report *report;
	struct last_arrival late;
	uint32_t left_out;
	int result = answer_program_question(&question, &left_out, call, ask, error);

	if (!result)
		result = last_arrival_sweep(&late, call->run, &question, &call->arena, error);
	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (!result)
		answer_print_definition(call,
			"Who came last at collective calls, then in messages, then at barriers: blame is how "
			"long the others,\ntogether, waited for it from their arrivals to its; path is the "
			"work "
			"that made it late");
	if (!result && left_out && call->format == REPORT_TABLE)
		report_fit_say("%s", answer_left_out(call, left_out));
	if (!result && late.clock_count > 1 && call->format == REPORT_TABLE)
		report_fit_say("%s", answer_late_clocks(&late, &call->arena));
	if (!result && late.summed && call->format == REPORT_TABLE)
		report_fit_say("%s", arena_printf(&call->arena,
					     "Short calls of MPI are sums in %u processes (mpi-summed): "
					     "nothing is said of "
					     "their messages; hpct-record -e MPI@0 keeps each call",
					     late.summed));
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", late_columns, 7, error);
	if (result)
		return result;
	late_rows(report, call, &late);
	return report_close(report, error);
}
