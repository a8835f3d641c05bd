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

/* ---- rows ---- */

static struct answer_late_row row_of(
	struct program_call *call, const struct last_arrival_party *party, uint64_t held_ns)
{
	return (struct answer_late_row){.key = answer_late_name(call, party),
		.path = party->context ? run_context_path(call->run, party->context, UINT32_MAX, &call->arena)
				       : NULL,
		.blame_ns = party->held_ns,
		.whole_ns = held_ns,
		.waited_ns = party->waited_ns,
		.last = party->last,
		.occasions = party->occasions};
}

/* Occasions whose last party the clocks do not tell. */
static void put_untold(struct answer_late_rows *rows, const struct answer_late_row *row)
{
	if (row->last)
		rows->rows[rows->count++] = *row;
}

/* Those of processes that were asked about; threads themselves, too. */
static void put_parties(struct answer_late_rows *rows, struct program_call *call,
	const struct last_arrival *late, const struct last_arrival_party *parties, uint32_t count,
	uint64_t held_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t stream = parties[i].stream;

		if (!related_is_process(late->related, stream) ||
			(parties[i].role == LAST_ARRIVAL_THREAD &&
				!related_is_reported(late->related, stream)))
			continue;
		rows->parties++;
		if (!rows->left)
			continue;
		rows->rows[rows->count++] = row_of(call, &parties[i], held_ns);
		rows->left--;
	}
}

/* Processes first, then messages, then threads; per cent are of what their kind was held up, by those that
 * the selection leaves out, too. */
static int rows_make(struct answer_late_rows *rows, struct program_call *call,
	const struct last_arrival *late, struct error *error)
{
	size_t most = (size_t)late->count + late->message_count + late->thread_count + 2;

	rows->left = program_top(call);
	rows->rows = arena_calloc(&call->arena, most, sizeof *rows->rows);
	if (!rows->rows)
		return error_memory(error);
	put_parties(rows, call, late, late->parties, late->count, late->held_ns);
	put_untold(rows, &(struct answer_late_row){.key = "<not told>",
				 .blame_ns = late->untold_ns,
				 .whole_ns = late->held_ns,
				 .last = late->untold,
				 .occasions = late->occasions});
	put_parties(rows, call, late, late->messages, late->message_count, late->message_held_ns);
	put_untold(rows, &(struct answer_late_row){.key = "<not told> of messages",
				 .blame_ns = late->message_untold_ns,
				 .whole_ns = late->message_held_ns,
				 .last = late->message_untold,
				 .occasions = late->message_occasions});
	put_parties(rows, call, late, late->threads, late->thread_count, late->thread_held_ns);
	return 0;
}

int answer_late_rows(
	struct answer_late_rows *rows, struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question;
	int result;

	*rows = (struct answer_late_rows){0};
	result = answer_program_question(&question, &rows->left_out, call, ask, error);
	if (!result)
		result = last_arrival_sweep(&rows->late, call->run, &question, &call->arena, error);
	if (!result)
		result = coverage_require(call->run, call->select, error);
	return result ? result : rows_make(rows, call, &rows->late, error);
}

static void print_row(struct report *report, const struct answer_late_row *row)
{
	report_string(report, row->key);
	report_number(report, row->blame_ns);
	report_real(report, answer_percent(row->blame_ns, row->whole_ns));
	report_number(report, row->last);
	report_number(report, row->occasions);
	report_number(report, row->waited_ns);
	report_string(report, row->path);
	report_row(report);
}

/* ---- clocks ---- */

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

int answer_late(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct report *report;
	struct answer_late_rows rows;
	int result = answer_late_rows(&rows, call, ask, error);

	if (!result)
		answer_print_definition(call,
			"Who came last at collective calls, then in messages, then at barriers: blame is how "
			"long the others,\ntogether, waited for it from their arrivals to its; path is the "
			"work "
			"that made it late");
	if (!result && rows.left_out && call->format == REPORT_TABLE)
		report_fit_say("%s", answer_left_out(call, rows.left_out));
	if (!result && rows.late.clock_count > 1 && call->format == REPORT_TABLE)
		report_fit_say("%s", answer_late_clocks(&rows.late, &call->arena));
	if (!result && rows.late.summed && call->format == REPORT_TABLE)
		report_fit_say("%s", arena_printf(&call->arena,
					     "Short calls of MPI are sums in %u processes (mpi-summed): "
					     "nothing is said of "
					     "their messages; hpct-record -e MPI@0 keeps each call",
					     rows.late.summed));
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", late_columns, 7, error);
	if (result)
		return result;
	for (size_t i = 0; i < rows.count; i++)
		print_row(report, &rows.rows[i]);
	result = report_close(report, error);
	program_say_left_out(call, rows.parties);
	return result;
}
