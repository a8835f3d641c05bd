/* SPDX-License-Identifier: Apache-2.0 */
/* answer_mpi_waits.c - hpct-blame --of mpi-wait: waits in calls of MPI by state, the call that waits, and the
 * call that came late with what its rank did before. */
#include <stdlib.h>
#include <string.h>

#include "blame/base/related.h"
#include "blame/page/answer.h"
#include "blame/wait/call_waits.h"
#include "store/base/array.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"
#include "timeline/scan/extent.h"

#define EXTENTS 64

/* Waits of one state, call and late call. */
struct state_key {
	uint32_t state, context, other_context, is_told;
};

struct state_row {
	struct state_key key;
	uint64_t time_ns, waits;

	struct call_wait longest;
};

struct state_table {
	struct state_row *rows;
	size_t capacity;
	struct key_ids ids;
	uint64_t time_ns, waits;
	uint64_t state_ns[CALL_WAIT_STATES];
};

static bool add(struct state_table *table, const struct call_wait *wait)
{
	bool is_told = wait->other != CALL_WAIT_UNTOLD, is_new;
	struct state_key key = {wait->state, wait->context, is_told ? wait->other_context : 0, is_told};
	uint64_t time_ns = wait->waited_ns;
	uint32_t id = key_ids_put(&table->ids, &key, &is_new);
	struct state_row *row;

	if (id == KEY_IDS_NONE || !array_widen(&table->rows, &table->capacity, id, sizeof(*table->rows)))
		return false;
	row = &table->rows[id];
	if (is_new)
		*row = (struct state_row){.key = key};
	if (time_ns > row->longest.waited_ns)
		row->longest = *wait;
	row->time_ns += time_ns;
	row->waits++;
	table->time_ns += time_ns;
	table->waits++;
	table->state_ns[wait->state] += time_ns;
	return true;
}

static int row_compare(const void *left, const void *right)
{
	const struct state_row *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->key.state != b->key.state)
		return a->key.state < b->key.state ? -1 : 1;
	if (a->key.context != b->key.context)
		return a->key.context < b->key.context ? -1 : 1;
	return a->key.other_context < b->key.other_context ? -1 : a->key.other_context > b->key.other_context;
}

/* What the late side of the longest wait did most since its call before; 0: not known. */
static int delay_of(struct program_call *call, struct wait_functions *waits, const struct call_wait *wait,
	uint32_t *context, struct error *error)
{
	struct exact_share_sums sums = {0};
	struct extent pieces[EXTENTS];
	struct extent_walk *walk;
	exact_share_fixed most = 0;
	long count = 0;
	int result;

	*context = 0;
	if (wait->other == CALL_WAIT_UNTOLD || wait->since_ns >= wait->from_ns)
		return 0;
	result = extent_open(&walk, call->run, wait->other, wait->since_ns, wait->from_ns, error);
	if (result)
		return result;
	while (!result && (count = extent_next(walk, pieces, EXTENTS, error)) > 0)
		for (long i = 0; i < count && !result; i++) {
			uint32_t here = extent_state_is_busy(pieces[i].state) &&
							!wait_functions_match(waits, pieces[i].context)
						? pieces[i].context
						: 0;

			if (here && !exact_share_sums_add(&sums, here,
					    exact_share_of(pieces[i].end_ns - pieces[i].begin_ns, 1)))
				result = error_memory(error);
			else if (here && sums.amount[here] > most) {
				most = sums.amount[here];
				*context = here;
			}
		}
	extent_close(walk);
	exact_share_sums_fini(&sums);
	return result ? result : (int)count;
}

static const char *path_of(struct program_call *call, uint32_t context)
{
	return context ? run_context_path(call->run, context, UINT32_MAX, &call->arena) : "-";
}

static const char *rank_of(struct program_call *call, uint32_t stream)
{
	return stream == CALL_WAIT_UNTOLD ? "-" : answer_party_name(call->run, stream, &call->arena);
}

static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"waits", REPORT_NUMBER}, {"waiter", REPORT_TEXT}, {"late", REPORT_TEXT},
	{"path", REPORT_COMPOSED}, {"late_path", REPORT_COMPOSED}, {"delay_path", REPORT_COMPOSED}};

static int print_row(struct program_call *call, struct report *report, const struct state_row *row,
	uint64_t whole_ns, struct error *error)
{
	const struct ask *ask = call->own;
	uint32_t delay;
	int result = delay_of(call, ask->waits, &row->longest, &delay, error);

	if (result)
		return result;
	report_string(report, call_wait_names[row->key.state]);
	report_number(report, row->time_ns);
	report_real(report, answer_percent(row->time_ns, whole_ns));
	report_number(report, row->waits);
	report_string(report, rank_of(call, row->longest.waiter));
	report_string(report, rank_of(call, row->longest.other));
	report_string(report, path_of(call, row->key.context));
	report_string(report, row->key.is_told ? path_of(call, row->key.other_context) : "-");
	report_string(report, path_of(call, delay));
	report_row(report);
	return 0;
}

static int print_rows(struct program_call *call, struct state_table *table, struct error *error)
{
	uint64_t top = program_top(call);
	struct error closing = {0};
	struct report *report;
	int closed, result = report_open(&report, stdout, call->format, "hpct-blame", columns,
			    sizeof columns / sizeof *columns, error);

	if (result)
		return result;
	if (table->ids.count)
		qsort(table->rows, table->ids.count, sizeof(*table->rows), row_compare);
	for (uint32_t i = 0; i < table->ids.count && i < top && !result; i++)
		result = print_row(call, report, &table->rows[i], table->time_ns, error);
	closed = report_close(report, &closing);
	if (!result)
		program_say_left_out(call, table->ids.count);
	if (!result && closed)
		*error = closing;
	return result ? result : closed;
}

static int print_summary(struct program_call *call, const struct state_table *table, struct error *error)
{
	struct answer_fact facts[CALL_WAIT_STATES + 1] = {
		{"waited_ns", table->time_ns}, {"waits", table->waits}};

	for (int state = 0; state < CALL_WAIT_THREADS; state++) {
		char *key = arena_printf(&call->arena, "%s_ns", call_wait_names[state]);

		for (char *at = key; at && *at; at++)
			*at = *at == ' ' || *at == '-' ? '_' : *at;
		facts[state + 2] = (struct answer_fact){key, table->state_ns[state]};
	}
	return answer_print_facts(call, facts, CALL_WAIT_THREADS + 2, error);
}

static void print_head(struct program_call *call, const struct call_waits *waits)
{
	if (call->format != REPORT_TABLE)
		return;
	report_fit_say(
		"How long processes waited in calls of MPI for one that came late: which call waited, which "
		"was late, and what the late rank did before the longest of these waits");
	if (waits->summed)
		report_fit_say("%u process%s: short calls are sums there, their messages are not told",
			waits->summed, waits->summed == 1 ? "" : "es");
	answer_print_losses(call);
}

/* All processes are matched; the waits of the chosen threads count. */
static int find(struct call_waits *waits, struct program_call *call, const struct ask *ask,
	uint8_t const **bits, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct related related;
	int result = related_find(
		&related, call->run, question.streams, question.stream_count, true, &call->arena, error);

	if (result)
		return result;
	*bits = related.bits;
	question.streams = related.streams;
	question.stream_count = related.count;
	result = call_waits_find(waits, call->run, &question, &call->arena, error);
	return result ? result : coverage_require(call->run, call->select, error);
}

int answer_mpi_waits(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct state_table table = {0};
	struct call_waits waits = {0};
	const uint8_t *bits;
	int result = find(&waits, call, ask, &bits, error);

	key_ids_init(&table.ids, sizeof(struct state_key));
	for (size_t i = 0; i < waits.count && !result; i++)
		if (waits.list[i].state != CALL_WAIT_THREADS &&
			related_is_reported(bits, waits.list[i].waiter) && !add(&table, &waits.list[i]))
			result = error_memory(error);
	if (!result && ask->shape == ASK_SUMMARY) {
		result = print_summary(call, &table, error);
	} else if (!result) {
		print_head(call, &waits);
		result = print_rows(call, &table, error);
	}
	free(table.rows);
	key_ids_fini(&table.ids);
	call_waits_fini(&waits);
	return result;
}
