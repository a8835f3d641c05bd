/* SPDX-License-Identifier: Apache-2.0 */
/* answer_gaps.c - the gaps in which GPUs are idle, largest first, and a histogram of their sizes. */
#include <stdio.h>

#include "blame/base/runtime_calls.h"
#include "blame/gpu/gpu_pending.h"
#include "blame/idle/gaps.h"
#include "blame/idle/idle_shared.h"
#include "blame/page/answer.h"
#include "timeline/report/terminal.h"

#define TABLE_ROWS 20u /* unless --top says otherwise */
#define BAR 39

static const struct report_column script_columns[] = {{"begin_ns", REPORT_NUMBER}, {"end_ns", REPORT_NUMBER},
	{"gap_ns", REPORT_NUMBER}, {"stream", REPORT_TEXT}, {"cause", REPORT_TEXT}, {"key", REPORT_COMPOSED},
	{"path", REPORT_COMPOSED}};
static const struct report_column table_columns[] = {{"gap", REPORT_DURATION}, {"begin", REPORT_DURATION},
	{"stream", REPORT_TEXT}, {"cause", REPORT_TEXT}, {"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

int answer_gap_key(const struct program_call *call, uint32_t context, enum row_key_by by,
	struct store_bytes *key, struct error *error)
{
	key->size = 0;
	if (by == ROW_KEY_FUNCTION || by == ROW_KEY_SCRIPT)
		context = runtime_calls_context(call->run, context);
	if (context && !row_key_put(key, call->run, context, by, select_depth(call->select)))
		return error_memory(error);
	store_bytes_put(key, "", 1);
	return key->failed ? error_memory(error) : 0;
}

static void print_gap(const struct program_call *call, struct report *report, const struct gap *gap,
	const char *key, const char *path)
{
	uint64_t origin_ns = run_origin_ns(call->run);
	bool is_table = call->format == REPORT_TABLE;

	if (is_table)
		report_number(report, gap->end_ns - gap->begin_ns);
	report_number(report, gap->begin_ns - origin_ns);
	if (!is_table) {
		report_number(report, gap->end_ns - origin_ns);
		report_number(report, gap->end_ns - gap->begin_ns);
	}
	report_string(report, run_stream(call->run, gap->stream)->text);
	report_string(report, is_table ? gap_cause_text(gap->cause) : gap_cause_name(gap->cause));
	report_string(report, *key ? key : NULL);
	if (!is_table)
		report_string(report, path && *path ? path : NULL);
	report_row(report);
}

/* *is_cut: the table has a default limit, and there are more gaps. */
static int print_list(const struct program_call *call, struct gaps *gaps, struct report *report, bool *is_cut,
	struct error *error)
{
	struct store_bytes key = {0};
	enum row_key_by by = ROW_KEY_FUNCTION;
	uint64_t shown = 0, top = select_top(call->select);
	const struct gap *gap;
	int result = answer_find_by(call, &by, error);

	*is_cut = false;
	if (!result)
		result = gaps_rewind(gaps, error);
	while (!result && shown < top && (gap = gaps_next(gaps, &result, error))) {
		struct arena arena = {0};

		if (!select_wants_context(call->select, gap->context))
			continue;
		*is_cut = top == UINT64_MAX && call->format == REPORT_TABLE && shown == TABLE_ROWS;
		if (*is_cut)
			break;
		shown++;
		result = answer_gap_key(call, gap->context, by, &key, error);
		if (!result)
			print_gap(call, report, gap, (const char *)key.data,
				run_context_path(call->run, gap->context, UINT32_MAX, &arena));
		arena_fini(&arena);
	}
	store_bytes_fini(&key);
	return result;
}

static void print_bar(uint64_t part, uint64_t whole)
{
	int width = whole ? (int)((double)part * BAR / (double)whole + 0.5) : 0;

	fputs(terminal_style(stdout, TERMINAL_HEAD), stdout);
	while (width-- > 0)
		putchar('#');
	puts(terminal_style(stdout, TERMINAL_PLAIN));
}

/* How many gaps of which size, and the share of the idle time they are. */
static void print_histogram(const struct gaps *gaps)
{
	const struct gap_class *classes = gaps_classes(gaps);
	uint64_t largest_ns = 0;

	for (int i = 0; i < GAP_CLASSES; i++)
		largest_ns = classes[i].time_ns > largest_ns ? classes[i].time_ns : largest_ns;
	printf("\n%s     size from        gaps     together%s\n", terminal_style(stdout, TERMINAL_HEAD),
		terminal_style(stdout, TERMINAL_PLAIN));
	for (int i = 0; i < GAP_CLASSES; i++) {
		char from[REPORT_HUMAN_MAX], together[REPORT_HUMAN_MAX];

		if (!classes[i].count)
			continue;
		report_human_duration(from, 1ull << i);
		report_human_duration(together, classes[i].time_ns);
		printf("%14s %11llu %12s  ", from, (unsigned long long)classes[i].count, together);
		print_bar(classes[i].time_ns, largest_ns);
	}
}

/* What a gap is, and how much of them. */
static void print_head(
	const struct program_call *call, const struct idle_question *question, const struct idle *idle)
{
	char text[256], idle_text[REPORT_HUMAN_MAX];

	report_human_duration(idle_text, idle->idle_ns);
	snprintf(text, sizeof text,
		"GPUs idle for %s: no queue %sruns %s; a gap's cause is what took most of it\n"
		"Work counts as launched for " GPU_PENDING_TEXT,
		idle_text, question->group == IDLE_GROUP_ALL ? "" : "of the process ",
		question->busy == IDLE_BUSY_KERNEL ? "a kernel" : "any operation");
	answer_print_definition(call, text);
}

static int print_gaps(const struct program_call *call, struct gaps *gaps, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	struct report *report;
	bool is_cut;
	int closed, result = report_open(&report, stdout, call->format, "hpct-blame",
			    is_table ? table_columns : script_columns, is_table ? 5 : 7, error);

	if (result)
		return result;
	result = print_list(call, gaps, report, &is_cut, error);
	closed = report_close(report, result ? NULL : error);
	if (!result)
		result = closed;
	if (!result && is_cut)
		printf("The %u largest; --top N shows more\n", TABLE_ROWS);
	if (!result && is_table)
		print_histogram(gaps);
	return result;
}

/* How many gaps to keep: all, if the selector filters them later; else one more than a table shows. */
static size_t limit_of(const struct program_call *call)
{
	uint64_t top = select_top(call->select);

	if (select_has_context(call->select))
		return SIZE_MAX;
	return top == UINT64_MAX && call->format == REPORT_TABLE ? TABLE_ROWS + 1 : top;
}

int answer_gaps(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct idle idle;
	uint64_t mem_bytes = call->run_options.mem_bytes;
	int result;

	question.is_brief = true;
	result = gaps_new(
		&question.gaps, select_min_ns(call->select), mem_bytes ? SIZE_MAX : limit_of(call), error);

	if (!result && mem_bytes)
		result = gaps_spill(question.gaps, run_mem_bytes(call->run, 2, UINT64_MAX), error);
	if (!result)
		result = idle_sweep(&idle, call->run, &question, &call->arena, error);
	if (!result && !idle_shared_is_part(&question)) {
		print_head(call, &question, &idle);
		result = print_gaps(call, question.gaps, error);
	}
	gaps_free(question.gaps);
	return result;
}
