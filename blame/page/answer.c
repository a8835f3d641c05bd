/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - see answer.h: what all answers share. */
#include "blame/page/answer.h"

#include <stdio.h>
#include <string.h>

#include "blame/base/helper_threads.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"
#include "timeline/stats/stats.h"

static const struct report_column script_columns[] = {
	{"key", REPORT_COMPOSED}, {"blame_ns", REPORT_DURATION}, {"percent", REPORT_PERCENT}};
/* Keys may be long: in a table they come last. */
static const struct report_column table_columns[] = {
	{"percent", REPORT_PERCENT}, {"blame", REPORT_DURATION}, {"key", REPORT_COMPOSED}};

const char *const answer_of_names[ASK_OF_COUNT] = {"gpu-idle", "gpu-idle-sampled", "all-idle", "cpu-idle",
	"cpu-idle-cause", "waiting", "serial", "lock", "lock-holder", "lock-pair", "gil", "gil-wait",
	"gil-pair", "omp", "mpi-wait"};

int answer_of_find(const char *name)
{
	for (int i = 0; i < ASK_OF_COUNT; i++)
		if (strcmp(answer_of_names[i], name) == 0)
			return i;
	return -1;
}

struct idle_question answer_idle_question(const struct program_call *call, const struct ask *ask)
{
	struct idle_question question = {.begin_ns = select_begin_ns(call->select),
		.end_ns = select_end_ns(call->select),
		.busy = ask->busy,
		.group = ask->group,
		.waits = ask->waits,
		.groups = ask->groups,
		.is_sampled = ask->of == ASK_GPU_IDLE_SAMPLED};

	/* The sampled metric asks whether a kernel runs (S3 IV-A). */
	if (question.is_sampled && !ask->has_busy)
		question.busy = IDLE_BUSY_KERNEL;

	question.streams = select_streams(call->select, &question.stream_count);
	return question;
}

int answer_program_question(struct idle_question *question, uint32_t *left_out, struct program_call *call,
	const struct ask *ask, struct error *error)
{
	*question = answer_idle_question(call, ask);
	return helper_threads_leave_out(call->run, &question->streams, &question->stream_count, left_out,
		question->streams, question->stream_count, &call->arena, error);
}

const char *answer_left_out(struct program_call *call, uint32_t left_out)
{
	return left_out ? arena_printf(&call->arena,
				  "%u thread%s of MPI's libraries, without any code of the program, %s left "
				  "out",
				  left_out, left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are")
			: NULL;
}

/* What else than the keys of code --by names with this answer; tables of SQL, which have no ask, have
 * neither. */
static const char *other_keys(const struct ask *ask)
{
	if (!ask)
		return "";
	if (ask->shape == ASK_CRITICAL)
		return ", " STREAM_GROUPS_ROW_NAMES ", segment or stream";
	if (ask->shape != ASK_PAGE)
		return "";
	if (ask->of == ASK_LOCK)
		return ", " STREAM_GROUPS_ROW_NAMES ", chain or convoy";
	return ask->of == ASK_WAITING ? ", " STREAM_GROUPS_ROW_NAMES " or cause"
				      : ", " STREAM_GROUPS_ROW_NAMES " or mark";
}

int answer_find_by(const struct program_call *call, enum row_key_by *by, struct error *error)
{
	const char *name = select_by(call->select);
	int found = name ? stats_by_find(name) : STATS_FUNCTION;

	if (found < 0 || !stats_by_row_key((enum stats_by)found, by))
		return error_set(
			error, ERROR_USAGE, "--by %s: say " STATS_BY_NAMES "%s", name, other_keys(call->own));
	return 0;
}

static void print_row(
	struct report *report, const char *key, uint64_t time_ns, uint64_t whole_ns, bool is_table)
{
	double percent = answer_percent(time_ns, whole_ns);

	if (is_table)
		report_real(report, percent);
	else
		report_string(report, key);
	report_number(report, time_ns);
	if (is_table)
		report_string(report, report_shown_path(key));
	else
		report_real(report, percent);
	report_row(report);
}

static int print_rows(const struct program_call *call, const struct exact_share_rows *rows,
	const struct answer_bucket *bucket, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	uint64_t whole_ns = bucket->whole_ns;
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame",
		is_table ? table_columns : script_columns, 3, error);

	if (result)
		return result;
	for (size_t i = 0; i < rows->count && i < program_top(call); i++)
		print_row(report, rows->rows[i].key, rows->rows[i].time_ns, whole_ns, is_table);
	if (bucket->others_ns)
		print_row(report, ANSWER_OTHERS, bucket->others_ns, whole_ns, is_table);
	if (bucket->time_ns)
		print_row(report, bucket->key, bucket->time_ns, whole_ns, is_table);
	result = report_close(report, error);
	program_say_left_out(call, rows->count);
	return result;
}

int answer_shares_find(
	struct answer_shares *shares, struct program_call *call, const struct ask *ask, struct error *error)
{
	if (ask->of >= ASK_WAITING)
		return answer_threads_shares(shares, call, ask, error);
	return ask->of >= ASK_CPU_IDLE ? answer_cpu_idle_shares(shares, call, ask, error)
				       : answer_gpu_idle_shares(shares, call, ask, error);
}

int answer_rows_make(struct exact_share_rows *rows, struct program_call *call,
	const struct answer_shares *shares, struct error *error)
{
	const struct ask *ask = call->own; /* questions of SQL have none */
	const struct stream_groups *groups = ask ? ask->groups : NULL;
	enum row_key_by by = ROW_KEY_FUNCTION;
	int result = groups ? 0 : answer_find_by(call, &by, error);

	if (!result)
		result = exact_share_rows_make(rows, call->run, shares->shares, shares->count, call->select,
			by, select_depth(call->select), groups, &call->arena, error);
	return result;
}

int answer_print_shares(struct program_call *call, const struct ask *ask, const struct answer_shares *shares,
	struct error *error)
{
	struct exact_share_rows rows;
	int result;

	if (ask->shape == ASK_TREE)
		return answer_print_tree(call, shares->shares, shares->count, &shares->bucket, error);
	result = answer_rows_make(&rows, call, shares, error);
	return result ? result : print_rows(call, &rows, &shares->bucket, error);
}

void answer_print_losses(const struct program_call *call)
{
	struct coverage coverage;

	coverage_count(&coverage, call->run, call->select);
	if (call->format == REPORT_TABLE && coverage.lost)
		report_fit_say("%llu records of these streams were lost; hpct-info --streams says where",
			(unsigned long long)coverage.lost);
}

void answer_print_definition(const struct program_call *call, const char *text)
{
	if (call->format != REPORT_TABLE)
		return;
	report_fit_say("%s", text);
	answer_print_losses(call);
}

int answer_print_facts(
	const struct program_call *call, const struct answer_fact *facts, size_t count, struct error *error)
{
	static const struct report_column columns[] = {{"key", REPORT_TEXT}, {"value", REPORT_NUMBER}};
	struct report *report;
	int result = report_open(&report, stdout, call->format, "hpct-blame", columns, 2, error);

	if (result)
		return result;
	for (size_t i = 0; i < count; i++) {
		report_string(report, facts[i].key);
		report_number(report, facts[i].value);
		report_row(report);
	}
	return report_close(report, error);
}
