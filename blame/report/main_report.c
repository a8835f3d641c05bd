/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_report.c - hpct-report: one page about a run, and gates for nightly tests.
 */
#include <stdio.h>

#include "blame/report/gate.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/sum/mpi_ranks.h"

struct choice {
	const char *gate; /* file; NULL: none */
};

/* ---- rows ---- */

static const struct report_column columns[] = {{"section", REPORT_TEXT}, {"key", REPORT_TEXT},
	{"time_ns", REPORT_DURATION}, {"percent", REPORT_PERCENT}, {"count", REPORT_NUMBER},
	{"path", REPORT_COMPOSED}, {"text", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

struct row {
	const char *section, *key, *path, *text; /* path, text: NULL: none */
	uint64_t time_ns, count;
	double percent; /* negative: none */
	bool has_time, has_count;
};

static void put(struct report *report, const struct row *row)
{
	report_string(report, row->section);
	report_string(report, row->key);
	if (row->has_time)
		report_number(report, row->time_ns);
	else
		report_none(report);
	if (row->percent >= 0)
		report_real(report, row->percent);
	else
		report_none(report);
	if (row->has_count)
		report_number(report, row->count);
	else
		report_none(report);
	report_string(report, row->path);
	report_string(report, row->text);
	report_row(report);
}

static void put_run(struct report *report, const struct run_report *page)
{
	put(report, &(struct row){.section = "run",
			    .key = "wall",
			    .time_ns = page->window_ns,
			    .has_time = true,
			    .percent = -1});
	put(report, &(struct row){.section = "run",
			    .key = "threads",
			    .count = page->threads,
			    .has_count = true,
			    .percent = -1});
	put(report, &(struct row){.section = "run",
			    .key = "queues",
			    .count = page->queues,
			    .has_count = true,
			    .percent = -1});
}

static void put_verdict(struct report *report, const struct run_report *page, struct arena *arena)
{
	put(report, &(struct row){.section = "bound by",
			    .key = run_report_bound(page),
			    .percent = page->bound_percent,
			    .text = run_report_bound_text(page, arena)});
}

static void put_classes(struct report *report, const struct run_report *page)
{
	uint64_t lived_ns = page->total_ns - page->class_ns[TIME_ABSENT];

	put(report, &(struct row){.section = "threads",
			    .key = "cpu",
			    .time_ns = lived_ns - page->class_ns[TIME_UNKNOWN],
			    .has_time = true,
			    .percent = -1,
			    .text = "the threads' known time"});
	for (int class = 0; class < TIME_ABSENT; class ++)
		if (page->class_ns[class])
			put(report,
				&(struct row){.section = "threads",
					.key = time_class_name((enum time_class) class),
					.time_ns = page->class_ns[class],
					.has_time = true,
					.percent = run_report_class_percent(page, (enum time_class) class),
					.text = time_class_text((enum time_class) class)});
}

static void put_gpu(struct report *report, const struct run_report *page)
{
	const struct idle *idle = &page->idle;
	double used_ns = (double)idle_used_ns(idle);
	const struct {
		const char *key, *text;
		uint64_t time_ns;
	} parts[] = {{"kernel", "some queue runs a kernel that computes", idle->kernel_ns},
		{"communication", "only kernels that communicate", idle->comm_ns},
		{"copy", "only copies and other operations", idle->copy_ns},
		{"idle", "no queue runs anything", idle->idle_ns}};

	if (!page->has_gpu)
		return;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		put(report, &(struct row){.section = "gpus",
				    .key = parts[i].key,
				    .time_ns = parts[i].time_ns,
				    .has_time = true,
				    .percent = 100 * (double)parts[i].time_ns / used_ns,
				    .text = parts[i].text});
	for (size_t i = 0; i < RUN_REPORT_OPERATIONS; i++)
		if (page->operations[i].count)
			put(report, &(struct row){.section = "operations",
					    .key = page->operations[i].key,
					    .time_ns = page->operations[i].time_ns,
					    .has_time = true,
					    .percent = -1,
					    .count = page->operations[i].count,
					    .has_count = true,
					    .text = page->operations[i].text});
}

static void put_efficiencies(struct report *report, const struct run_report *page)
{
	const struct {
		const char *key, *text;
		double percent;
	} all[] = {{"parallel", "useful time of the threads, on average, of the window", page->parallel},
		{"load_balance", "average of the busiest thread", page->load_balance},
		{"communication", "useful time of the busiest thread, of the window", page->communication},
		{"serialization", "the same, of the window without transfers", page->serialization},
		{"transfer", "the window without what MPI takes itself", page->transfer},
		{"gpu_busy", "GPUs at work, since their first use", page->gpu_busy},
		{"gpu_kernel", "GPUs in kernels, since their first use", page->gpu_kernel}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].percent >= 0)
			put(report, &(struct row){.section = "efficiency",
					    .key = all[i].key,
					    .percent = all[i].percent,
					    .text = all[i].text});
}

static int put_paths(
	struct report *report, struct program_call *call, const struct run_report *page, struct error *error)
{
	double lived_ns = (double)(page->total_ns - page->class_ns[TIME_ABSENT]);

	for (int class = 0; class < TIME_UNKNOWN; class ++)
		for (int i = 0; i < RUN_REPORT_PATHS && page->paths[class][i].time_ns; i++) {
			const struct run_report_path *at = &page->paths[class][i];
			const char *path = run_context_path(
				call->run, at->context, select_depth(call->select), &call->arena);

			if (!path)
				return error_memory(error);
			put(report, &(struct row){.section = "paths",
					    .key = time_class_name((enum time_class) class),
					    .time_ns = at->time_ns,
					    .has_time = true,
					    .percent = 100 * (double)at->time_ns / lived_ns,
					    .path = path});
		}
	return 0;
}

static void put_coverage(struct report *report, const struct run_report *page, struct arena *arena)
{
	char text[COVERAGE_TEXT_MAX];

	coverage_print(&page->coverage, text);
	put(report, &(struct row){.section = "coverage",
			    .key = "monitored",
			    .percent = coverage_percent(&page->coverage),
			    .count = page->coverage.lost,
			    .has_count = true,
			    .text = arena_printf(arena, "%s", text)});
}

static void put_gates(struct report *report, const struct gates *gates, struct arena *arena)
{
	char text[GATE_TEXT];

	for (size_t i = 0; i < gates->count; i++) {
		const struct gate *gate = &gates->list[i];

		gate_value_text(text, gate->unit, gate->value);
		put(report, &(struct row){.section = "gate",
				    .key = gate->holds ? "holds" : "fails",
				    .percent = -1,
				    .count = gate->line,
				    .has_count = true,
				    .text = arena_printf(arena, "%s: it is %s", gate->text, text)});
	}
}

/* ---- the whole ---- */

static int print(struct program_call *call, const struct run_report *page, const struct gates *gates,
	struct error *error)
{
	struct report *report;
	int result, closed;

	if (call->format == REPORT_TABLE)
		report_fit_say("%s: %u thread%s, %u GPU queue%s; bound by %s: %s", run_path(call->run),
			page->threads, page->threads == 1 ? "" : "s", page->queues,
			page->queues == 1 ? "" : "s", run_report_bound(page),
			run_report_bound_text(page, &call->arena));
	result = report_open(&report, stdout, call->format, "hpct-report", columns,
		sizeof columns / sizeof *columns, error);
	if (result)
		return result;
	put_run(report, page);
	put_verdict(report, page, &call->arena);
	put_classes(report, page);
	put_gpu(report, page);
	put_efficiencies(report, page);
	result = put_paths(report, call, page, error);
	put_coverage(report, page, &call->arena);
	put_gates(report, gates, &call->arena);
	closed = report_close(report, result ? NULL : error);
	return result ? result : closed;
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	struct run_report page;
	struct gates gates = {0};
	int result = 0;

	if (mpi_ranks_count() > 1)
		return error_set(error, ERROR_USAGE,
			"a page is made by one process: start hpct-report without mpirun");
	if (choice->gate)
		result = gates_read(&gates, choice->gate, &call->arena, error);
	if (!result)
		result = run_report_make(&page, call->run, call->select, &call->arena, error);
	if (!result)
		result = gates_judge(&gates, call->run, call->select, &page, &call->arena, error);
	if (!result)
		result = print(call, &page, &gates, error);
	return result ? result : gates_verdict(&gates, error);
}

static const struct program_option options[] = {
	{0, "gate", "FILE", "lines such as gpu_busy > 60%; exit code 1 and the line if one does not hold",
		.to = offsetof(struct choice, gate)}};

static const struct program program = {
	.name = "hpct-report",
	.about = "one page about a run: where time went, efficiencies, a verdict, gates",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN,
	.refused = "by op metric min context top",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "Gates: share(mpi) < 20%, share('main;io;*') < 10%, p99(step*) < 200 ms, parallel > 70%, "
		 "lost == 0; hpct-report(1) lists the figures.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	return program_main(&program, &choice, argc, argv);
}
