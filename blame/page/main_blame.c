/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_blame.c - hpct-blame: blame for idle GPUs and waiting CPUs.
 */
#include <string.h>

#include "blame/base/related.h"
#include "blame/page/answer.h"
#include "timeline/report/coverage.h"

/* The place of `value` among `count` words; negative: none. */
static int find_word(const char *const *words, int count, const char *value)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i], value) == 0)
			return i;
	return -1;
}

static int take_of(void *own, const char *value, struct error *error)
{
	struct ask *ask = own;
	int of = answer_of_find(value);

	if (of < 0)
		return error_set(error, ERROR_USAGE, "--of %s: say " ANSWER_OF_WORDS, value);
	ask->of = (enum ask_of)of;
	ask->has_of = true;
	return 0;
}

static int take_busy(void *own, const char *value, struct error *error)
{
	static const char *const words[] = {[IDLE_BUSY_ANY] = "any", [IDLE_BUSY_KERNEL] = "kernel"};
	int busy = find_word(words, 2, value);

	if (busy < 0)
		return error_set(error, ERROR_USAGE, "--busy %s: say any or kernel", value);
	((struct ask *)own)->busy = (enum idle_busy)busy;
	((struct ask *)own)->has_busy = true;
	return 0;
}

static int take_group(void *own, const char *value, struct error *error)
{
	static const char *const words[] = {[IDLE_GROUP_PROCESS] = "process", [IDLE_GROUP_ALL] = "all"};
	int group = find_word(words, 2, value);

	if (group < 0)
		return error_set(error, ERROR_USAGE, "--group %s: say process or all", value);
	((struct ask *)own)->group = (enum idle_group)group;
	((struct ask *)own)->has_group = true;
	return 0;
}

static int take_summary(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_SUMMARY, error);
}

static int take_tree(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_TREE, error);
}

static int take_gaps(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_GAPS, error);
}

static int take_late(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_LATE, error);
}

static int take_imbalance(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_IMBALANCE, error);
}

static int take_findings(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_FINDINGS, error);
}

static int take_matrix(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_MATRIX, error);
}

static int take_critical(void *own, const char *value, struct error *error)
{
	(void)value;
	return option_check_shape(own, ASK_CRITICAL, error);
}

/* A process of a chosen stream uses a GPU: 1 or 0; negative: error. */
static int has_queue(struct program_call *call, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(call->select, &count);
	struct related related;
	int result = related_find(&related, call->run, streams, count, false, &call->arena, error);

	for (uint32_t i = 0; i < related.count && !result; i++)
		result = run_stream(call->run, related.streams[i])->s.kind == STORE_STREAM_GPU;
	return result;
}

/* Of the GPUs, or of the threads where nothing is known of any GPU. */
static int page(struct program_call *call, const struct ask *ask, struct error *error)
{
	int result = has_queue(call, error);

	if (result < 0)
		return result;
	result = result ? answer_page(call, ask, error) : -ERROR_EMPTY;
	return result == -ERROR_EMPTY ? answer_threads_page(call, ask, error) : result;
}

/* Whether --by names groups of streams; then they are made, of all streams of the run: who is blamed need not
 * be chosen. */
static int take_groups(
	struct program_call *call, struct ask *ask, struct stream_groups *groups, struct error *error)
{
	const char *name = select_by(call->select);
	int by = name ? stream_groups_find(name) : -1, result;
	uint32_t *streams;

	if (by < 0 || !stream_groups_is_row((enum stream_groups_by)by) || ask->shape == ASK_CRITICAL)
		return 0;
	result = option_check_groups(ask, call->select, error);
	if (result)
		return result;
	streams = arena_calloc(&call->arena, run_stream_count(call->run) + 1, sizeof *streams);
	if (!streams)
		return error_memory(error);
	for (uint32_t i = 0; i < run_stream_count(call->run); i++)
		streams[i] = i;
	ask->groups = groups;
	result = stream_groups_make(groups, call->run, streams, run_stream_count(call->run),
		(enum stream_groups_by)by, call->format == REPORT_TABLE, &call->arena, error);
	if (result || ask->has_of)
		return result;
	result = has_queue(call, error);
	ask->of = result ? ASK_GPU_IDLE : ASK_WAITING;
	return result < 0 ? result : 0;
}

/* Answers in rows. */
static int answer_of(struct program_call *call, const struct ask *ask, struct error *error)
{
	if (ask->of == ASK_OMP)
		return answer_omp(call, ask, error);
	if (ask->of == ASK_MPI_WAIT)
		return answer_mpi_waits(call, ask, error);
	if (ask->of >= ASK_LOCK)
		return answer_lock(call, ask, error);
	if (ask->of >= ASK_WAITING)
		return answer_threads(call, ask, error);
	return ask->of >= ASK_CPU_IDLE ? answer_cpu_idle(call, ask, error)
				       : answer_gpu_idle(call, ask, error);
}

static int answer(struct program_call *call, const struct ask *ask, struct error *error)
{
	const char *by_name = select_by(call->select);
	enum row_key_by by;
	int result = option_check(ask, call->select, error);

	/* Before anything is printed. */
	if (result)
		return result;
	if (ask->groups)
		return answer_of(call, ask, error);
	if (by_name && strcmp(by_name, "mark") == 0)
		return answer_steps(call, ask, error);
	if (by_name && strcmp(by_name, "cause") == 0)
		return answer_causes(call, ask, error);
	if (answer_lock_queue_is(by_name))
		return answer_lock_queue(call, ask, error);
	if (ask->shape == ASK_MATRIX)
		return answer_matrix(call, ask, error);
	if (ask->shape == ASK_CRITICAL)
		return answer_critical(call, ask, error);
	result = answer_find_by(call, &by, error);
	if (result)
		return result;
	switch (ask->shape) {
	case ASK_GAPS:
		return answer_gaps(call, ask, error);
	case ASK_LATE:
		return answer_late(call, ask, error);
	case ASK_IMBALANCE:
		return answer_balance(call, ask, error);
	case ASK_FINDINGS:
		return answer_findings(call, ask, error);
	case ASK_PAGE:
		if (!ask->has_of)
			return page(call, ask, error);
		break;
	default:
		break;
	}
	return answer_of(call, ask, error);
}

/* Lists of single stretches, calls and habits add up no windows. */
static bool adds_up(const struct ask *ask)
{
	return ask->shape != ASK_GAPS && ask->shape != ASK_LATE && ask->shape != ASK_FINDINGS &&
	       ask->shape != ASK_CRITICAL && ask->shape != ASK_MATRIX;
}

static int work(struct program_call *call, struct error *error)
{
	struct ask *ask = call->own;
	struct stream_groups groups;
	int result = adds_up(ask) ? select_require_sums(call->select, error) : 0;

	if (!result)
		result = wait_functions_new(&ask->waits, call->run, ask->waits_path, error);
	if (!result)
		result = take_groups(call, ask, &groups, error);
	if (!result)
		result = answer(call, ask, error);
	/* Of a window in which nothing at all is known every reader says the same. */
	if (result == -ERROR_EMPTY)
		coverage_require(call->run, call->select, error);
	wait_functions_free(ask->waits);
	return result;
}

static const struct program_option options[] = {
	{0, "of", "WHAT",
		"{gpu,all,cpu}-idle, cpu-idle-cause, waiting, serial, lock[-holder, -pair], omp, mpi-wait",
		take_of},
	{0, "busy", "WHAT", "a GPU is busy in any operation (default) or in a kernel", take_busy},
	{0, "group", "WHOSE", "blame threads of the process and below it (default), or all", take_group},
	{0, "waits", "FILE", "globs of functions that only wait; !GLOB: that work",
		.to = offsetof(struct ask, waits_path)},
	{0, "tree", NULL, "top-down by call path", take_tree},
	{0, "gaps", NULL, "gaps in which GPUs are idle, largest first; --min", take_gaps},
	{0, "late", NULL, "ranks and threads that arrive last and delay the others", take_late},
	{0, "imbalance", NULL, "how evenly work is spread over the streams", take_imbalance},
	{0, "critical-path", NULL, "what the window's end waited for; --by segment, stream too",
		take_critical},
	{0, "matrix", NULL, "messages and bytes from rank to rank", take_matrix},
	{0, "svg", NULL, "the matrix as a picture", .to = offsetof(struct ask, is_svg)},
	{0, "findings", NULL, "habits that cost time, and what they cost at most", take_findings},
	{0, "summary", NULL, "only the sums, as key and value", take_summary}};

static const struct program program = {
	.name = "hpct-blame",
	.about = "blames code for idle GPUs and waiting CPUs",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_ROW_FORMULAS,
	.refused = "metric op",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "KEY is function (default), path, line, module, loop, inline, file, instruction, "
		 "script, process, program, host, rank or mark; of waiting cause; of lock chain or convoy.\n"
		 "While no queue of a process works, its working threads share the time "
		 "equally; <nobody active> is the rest.\n"
		 "--mem bounds the memory of gaps and launches, except launches of one second.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct ask ask = {0};

	return program_main(&program, &ask, argc, argv);
}
