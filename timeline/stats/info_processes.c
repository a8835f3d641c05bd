/* SPDX-License-Identifier: Apache-2.0 */
/* info_processes.c - hpct-info --processes: the tree of the processes, a parent before its children. */
#include <string.h>

#include "timeline/report/process_tree.h"
#include "timeline/stats/info.h"
#include "timeline/stats/info_internal.h"

/* HOST/RANK/PID.GENERATION, as in the names of its streams. */
static void put_name(struct report *report, const struct run *run, const struct process_tree_node *node)
{
	const struct run_stream *r = run_stream(run, node->stream);
	const char *from = strchr(r->text, ':'), *to = r->text + strlen(r->text);
	unsigned slashes = r->s.kind == STORE_STREAM_CPU ? 1 : 3; /* /THREAD; /DEVICE/CONTEXT/QUEUE */

	from = from ? from + 1 : r->text;
	while (to > from && slashes)
		slashes -= *--to == '/';
	report_text(report, from, (size_t)(to - from));
}

static void put_process(struct report *report, const struct run *run, const struct process_tree *tree,
	const struct process_tree_node *node, bool is_table)
{
	const char *text = node->title[0] ? node->title : node->command;

	put_name(report, run, node);
	if (node->parent == PROCESS_TREE_NONE)
		report_none(report);
	else
		put_name(report, run, &tree->nodes[node->parent]);
	info_put_optional(report, node->parent_pid, node->parent_pid != 0);
	report_number(report, node->depth);
	report_number(report, node->threads);
	report_number(report, node->queues);
	report_number(report, info_from_origin(run, node->begin_ns));
	info_put_optional(report, info_from_origin(run, node->end_ns), node->end_ns != STORE_OPEN_NS);
	report_string(report, node->exit[0] ? node->exit : NULL);
	if (is_table) {
		report_tree_name(report, node->depth, "", text, strlen(text));
	} else {
		report_string(report, node->command);
		report_string(report, node->title[0] ? node->title : NULL);
	}
	report_row(report);
}

int info_print_processes(struct run *run, enum report_format format, FILE *out, struct error *error)
{
	static const struct report_column columns[] = {{"process", REPORT_TEXT}, {"parent", REPORT_TEXT},
		{"parent_pid", REPORT_NUMBER}, {"depth", REPORT_NUMBER}, {"threads", REPORT_NUMBER},
		{"queues", REPORT_NUMBER}, {"begin_ns", REPORT_DURATION}, {"end_ns", REPORT_DURATION},
		{"exit", REPORT_TEXT}, {"command", REPORT_TEXT, 40}, {"title", REPORT_TEXT}};
	struct report *report = NULL;
	struct process_tree tree;
	struct arena arena = {0};
	int rc = process_tree_make(&tree, run, &arena, error);

	if (rc == 0)
		rc = report_open(&report, out, format, "hpct-info", columns,
			sizeof columns / sizeof *columns - (format == REPORT_TABLE), error);
	for (uint32_t i = 0; i < tree.count && rc == 0; i++)
		put_process(report, run, &tree, &tree.nodes[i], format == REPORT_TABLE);
	if (rc == 0)
		rc = report_close(report, error);
	arena_fini(&arena);
	return rc;
}
