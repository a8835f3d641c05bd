/* SPDX-License-Identifier: Apache-2.0 */
/* answer_tree.c - shares of time top-down, in the columns of hpct-profile. */
#include <string.h>

#include "blame/idle/tree.h"
#include "blame/page/answer.h"

static const struct report_column script_columns[] = {{"depth", REPORT_NUMBER}, {"id", REPORT_NUMBER},
	{"parent", REPORT_NUMBER}, {"kind", REPORT_TEXT}, {"name", REPORT_TEXT}, {"module", REPORT_TEXT},
	{"file", REPORT_TEXT}, {"line", REPORT_NUMBER}, {"blame_ns:incl", REPORT_NUMBER},
	{"blame_ns:excl", REPORT_NUMBER}};
static const struct report_column table_columns[] = {{"incl", REPORT_DURATION}, {"%", REPORT_PERCENT},
	{"excl", REPORT_DURATION}, {"%", REPORT_PERCENT}, {"name", REPORT_TEXT, 0, REPORT_WORTH_MOST}};

#define LEAST_PERCENT 0.1 /* of the whole; a table shows nothing smaller */

static const char *kind_name(enum run_scope_kind kind)
{
	return kind == RUN_SCOPE_ROOT ? "root" : kind == RUN_SCOPE_INLINE ? "inline" : "function";
}

static void script_place(struct report *report, const char *module, const char *file, uint32_t line)
{
	report_string(report, *module ? module : NULL);
	report_string(report, *file ? file : NULL);
	if (line)
		report_number(report, line);
	else
		report_none(report);
}

/* A caller's position is its call site; that of what is on top, its definition. */
static void script_row(struct report *report, const struct run *run, const struct tree *tree, size_t i)
{
	const struct tree_row *row = &tree->rows[i];
	const struct run_scope *scope = run_scope(run, row->scope);
	const struct run_function *function = run_function(run, scope->function);
	bool is_top = !i || row->parent == 0;

	report_number(report, row->depth);
	report_number(report, i);
	if (i)
		report_number(report, row->parent);
	else
		report_none(report);
	report_string(report, kind_name(scope->kind));
	report_text(report, function->name, function->name_bytes);
	script_place(report, function->module, is_top ? function->file : scope->call_file,
		is_top ? function->line : scope->call_line);
	report_number(report, row->inclusive_ns);
	report_number(report, row->exclusive_ns);
	report_row(report);
}

static double percent(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? 100.0 * (double)part_ns / (double)whole_ns : 0;
}

static void table_values(
	struct report *report, uint64_t inclusive_ns, uint64_t exclusive_ns, uint64_t whole_ns)
{
	report_number(report, inclusive_ns);
	report_real(report, percent(inclusive_ns, whole_ns));
	report_number(report, exclusive_ns);
	report_real(report, percent(exclusive_ns, whole_ns));
}

static void table_row(
	struct report *report, const struct run *run, const struct tree_row *row, uint64_t whole_ns)
{
	const struct run_scope *scope = run_scope(run, row->scope);
	const struct run_function *function = run_function(run, scope->function);

	table_values(report, row->inclusive_ns, row->exclusive_ns, whole_ns);
	report_tree_name(report, row->depth, scope->kind == RUN_SCOPE_INLINE ? "~ " : "", function->name,
		function->name_bytes);
	report_row(report);
}

static void bucket_row(
	struct report *report, size_t id, const char *key, uint64_t time_ns, uint64_t whole_ns, bool is_table)
{
	if (!time_ns)
		return;
	if (is_table) {
		table_values(report, time_ns, time_ns, whole_ns);
		report_string(report, key);
		report_row(report);
		return;
	}
	report_number(report, 0);
	report_number(report, id);
	report_none(report);
	report_string(report, "root");
	report_string(report, key);
	script_place(report, "", "", 0);
	report_number(report, time_ns);
	report_number(report, time_ns);
	report_row(report);
}

int answer_print_tree(struct program_call *call, const struct exact_share *shares, size_t count,
	const struct answer_bucket *bucket, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	uint64_t shown = 0, whole_ns = bucket->whole_ns;
	struct report *report;
	struct tree tree;
	int result = tree_make(&tree, call->run, shares, count, call->select, select_depth(call->select),
		&call->arena, error);

	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame",
			is_table ? table_columns : script_columns, is_table ? 5 : 10, error);
	if (result)
		return result;
	for (size_t i = 0; i < tree.count && shown < select_top(call->select); i++) {
		if (!is_table)
			script_row(report, call->run, &tree, i);
		else if (percent(tree.rows[i].inclusive_ns, whole_ns) >= LEAST_PERCENT)
			table_row(report, call->run, &tree.rows[i], whole_ns);
		else
			continue;
		shown++;
	}
	bucket_row(report, tree.count, ANSWER_OTHERS, bucket->others_ns, whole_ns, is_table);
	bucket_row(report, tree.count + (bucket->others_ns != 0), bucket->key, bucket->time_ns, whole_ns,
		is_table);
	return report_close(report, error);
}
