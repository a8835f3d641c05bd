/* SPDX-License-Identifier: Apache-2.0 */
/* answer_lock_queue.c - hpct-blame --of lock --by chain, --by convoy: who waits for whom who waits for whom,
 * and locks that pass from waiter to waiter without a break. */
#include <string.h>

#include "blame/page/answer.h"
#include "blame/wait/lock_queue.h"
#include "timeline/report/coverage.h"

static const char *name_of(const struct program_call *call, uint32_t stream)
{
	const struct run_stream *s = run_stream(call->run, stream);

	return *s->name ? s->name : s->text;
}

/* ---- chains ---- */

static const char *chain_key(struct program_call *call, const struct lock_chain *chain)
{
	const char *key = name_of(call, chain->streams[0]);

	for (uint32_t i = 1; i <= chain->length; i++)
		key = arena_printf(&call->arena, "%s waits for %s", key, name_of(call, chain->streams[i]));
	return key;
}

static const char *chain_streams(struct program_call *call, const struct lock_chain *chain)
{
	const char *list = run_stream(call->run, chain->streams[0])->text;

	for (uint32_t i = 1; i <= chain->length; i++)
		list = arena_printf(
			&call->arena, "%s;%s", list, run_stream(call->run, chain->streams[i])->text);
	return list;
}

static int print_chains(struct program_call *call, const struct lock_queue *queue, struct error *error)
{
	static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
		{"percent", REPORT_PERCENT}, {"length", REPORT_NUMBER}, {"waits", REPORT_NUMBER},
		{"streams", REPORT_TEXT}};
	uint64_t left = program_top(call);
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns,
		sizeof columns / sizeof *columns, error);

	if (result)
		return result;
	for (size_t i = 0; i < queue->chain_count && left; i++, left--) {
		const struct lock_chain *chain = &queue->chains[i];

		report_string(report, chain_key(call, chain));
		report_number(report, chain->time_ns);
		report_real(report, answer_percent(chain->time_ns, queue->waited_ns));
		report_number(report, chain->length);
		report_number(report, chain->parts);
		report_string(report, chain_streams(call, chain));
		report_row(report);
	}
	result = report_close(report, error);
	program_say_left_out(call, queue->chain_count);
	return result;
}

/* ---- convoys ---- */

/* Whose call waits: its function, not libc's. */
static const char *site_of(struct program_call *call, uint32_t context)
{
	uint32_t scope = context ? run_context(call->run, context)->scope : UINT32_MAX;
	const struct run_scope *own = scope == UINT32_MAX ? NULL : run_scope(call->run, scope);

	if (!own)
		return "-";
	if (own->parent != UINT32_MAX && run_scope(call->run, own->parent)->kind != RUN_SCOPE_ROOT)
		own = run_scope(call->run, own->parent);
	return run_function(call->run, own->function)->name;
}

static void print_convoy(
	struct program_call *call, struct report *report, const struct lock_convoy *convoy, uint64_t whole_ns)
{
	report_string(report,
		convoy->is_gil ? "Python's GIL"
			       : arena_printf(&call->arena, "lock 0x%llx in %s",
					 (unsigned long long)convoy->lock, site_of(call, convoy->context)));
	report_number(report, convoy->waited_ns);
	report_real(report, answer_percent(convoy->waited_ns, whole_ns));
	report_number(report, convoy->convoys);
	report_number(report, convoy->waits);
	report_number(report, convoy->length_ns);
	report_number(report, convoy->longest_ns);
	report_number(report, convoy->most);
	report_row(report);
}

static int print_convoys(struct program_call *call, const struct lock_queue *queue, struct error *error)
{
	static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"blame_ns", REPORT_DURATION},
		{"percent", REPORT_PERCENT}, {"convoys", REPORT_NUMBER}, {"waits", REPORT_NUMBER},
		{"length_ns", REPORT_DURATION}, {"longest_ns", REPORT_DURATION}, {"at_once", REPORT_NUMBER}};
	uint64_t left = program_top(call);
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns,
		sizeof columns / sizeof *columns, error);

	if (result)
		return result;
	for (size_t i = 0; i < queue->convoy_count && left; i++, left--)
		print_convoy(call, report, &queue->convoys[i], queue->waited_ns);
	result = report_close(report, error);
	program_say_left_out(call, queue->convoy_count);
	return result;
}

/* ---- both ---- */

bool answer_lock_queue_is(const char *by)
{
	return by && (!strcmp(by, "chain") || !strcmp(by, "convoy"));
}

int answer_lock_queue(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	bool is_chain = !strcmp(select_by(call->select), "chain");
	struct lock_queue queue;
	struct lock_part *parts;
	size_t count;
	int result = lock_parts(&parts, &count, call->run, &question, &call->arena, error);

	if (!result)
		result = lock_queue_find(&queue, parts, count, &call->arena, error);
	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (result)
		return result;
	answer_print_definition(
		call, is_chain ? "Who waits for a lock whose holder waits for another one"
			       : "Locks that pass from one waiter to the next without a break: "
				 "the waiting in such convoys");
	return is_chain ? print_chains(call, &queue, error) : print_convoys(call, &queue, error);
}
