/* SPDX-License-Identifier: Apache-2.0 */
/* run_page.c - see run_page.h: a run's figures in the order of the page. */
#include "blame/report/run_page.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/report/report.h"

struct making {
	struct run_page *page;
	size_t room;
	bool failed;
	struct arena *arena;
};

/* In a heap array until the page is whole. */
static void put(struct making *making, struct run_page_row row)
{
	struct run_page *page = making->page;

	if (making->failed || !array_widen(&page->rows, &making->room, page->count, sizeof *page->rows)) {
		making->failed = true;
		return;
	}
	page->rows[page->count++] = row;
}

#define ROW(...) ((struct run_page_row){__VA_ARGS__})

static void put_run(struct making *making, const struct run_report *report)
{
	put(making, ROW(.section = "run", .key = "wall", .time_ns = report->window_ns, .has_time = true));
	put(making, ROW(.section = "run", .key = "threads", .count = report->threads, .has_count = true));
	put(making, ROW(.section = "run", .key = "queues", .count = report->queues, .has_count = true));
	put(making, ROW(.section = "bound by", .key = run_report_bound(report), .has_percent = true,
			    .percent = report->bound_percent,
			    .text = run_report_bound_text(report, making->arena)));
}

static void put_classes(struct making *making, const struct run_report *report)
{
	uint64_t lived_ns = report->total_ns - report->class_ns[TIME_ABSENT];

	put(making,
		ROW(.section = "threads", .key = "cpu", .time_ns = lived_ns - report->class_ns[TIME_UNKNOWN],
			.has_time = true, .text = "the threads' known time"));
	for (int class = 0; class < TIME_ABSENT; class ++)
		if (report->class_ns[class])
			put(making,
				ROW(.section = "threads", .key = time_class_name((enum time_class) class),
					.time_ns = report->class_ns[class], .has_time = true,
					.has_percent = true,
					.percent = run_report_class_percent(report, (enum time_class) class),
					.text = time_class_text((enum time_class) class), .has_class = true,
					.class = class));
}

static void put_gpu(struct making *making, const struct run_report *report)
{
	const struct idle *idle = &report->idle;
	double used_ns = (double)idle_used_ns(idle);
	const struct {
		const char *key, *text;
		uint64_t time_ns;
	} parts[] = {{"kernel", "some queue runs a kernel that computes", idle->kernel_ns},
		{"communication", "only kernels that communicate", idle->comm_ns},
		{"copy", "only copies and other operations", idle->copy_ns},
		{"idle", "no queue runs anything", idle->idle_ns}};

	if (!report->has_gpu)
		return;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		put(making,
			ROW(.section = "gpus", .key = parts[i].key, .time_ns = parts[i].time_ns,
				.has_time = true, .has_percent = true,
				.percent = 100 * (double)parts[i].time_ns / used_ns, .text = parts[i].text));
	for (size_t i = 0; i < RUN_REPORT_OPERATIONS; i++)
		if (report->operations[i].count)
			put(making, ROW(.section = "operations", .key = report->operations[i].key,
					    .time_ns = report->operations[i].time_ns, .has_time = true,
					    .count = report->operations[i].count, .has_count = true,
					    .text = report->operations[i].text));
}

static void put_efficiencies(struct making *making, const struct run_report *report)
{
	const struct {
		const char *key, *text;
		double percent;
	} all[] = {{"parallel", "useful time of the threads, on average, of the window", report->parallel},
		{"load_balance", "average of the busiest thread", report->load_balance},
		{"communication", "useful time of the busiest thread, of the window", report->communication},
		{"serialization", "the same, of the window without transfers", report->serialization},
		{"transfer", "the window without what MPI takes itself", report->transfer},
		{"offload", "useful time of the threads, of it and calls of a GPU runtime", report->offload},
		{"gpu_busy", "GPUs at work, since their first use", report->gpu_busy},
		{"gpu_kernel", "GPUs in kernels, since their first use", report->gpu_kernel},
		{"gpu_balance", "kernels' time on an average GPU, of the busiest one", report->gpu_balance}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].percent >= 0)
			put(making, ROW(.section = "efficiency", .key = all[i].key, .has_percent = true,
					    .percent = all[i].percent, .text = all[i].text));
}

static void put_paths(struct making *making, struct run *run, const struct run_report *report, uint32_t depth,
	bool is_of_group)
{
	int count = is_of_group ? RUN_REPORT_PATHS : RUN_PAGE_PATHS;
	double lived_ns = (double)(report->total_ns - report->class_ns[TIME_ABSENT]);

	for (int class = 0; class < TIME_UNKNOWN; class ++)
		for (int i = 0; i < count && report->paths[class][i].time_ns; i++) {
			const struct run_report_path *at = &report->paths[class][i];
			const char *path = run_context_path(run, at->context, depth, making->arena);

			making->failed |= !path;
			put(making,
				ROW(.section = "paths", .key = time_class_name((enum time_class) class),
					.time_ns = at->time_ns, .has_time = true, .has_percent = true,
					.percent = 100 * (double)at->time_ns / lived_ns, .path = path,
					.is_minor = i >= RUN_PAGE_PATHS, .has_class = true, .class = class));
		}
}

/* Which threads do something else than the others; of one group there is nothing to say. */
static void put_groups(struct making *making, struct run *run, const struct run_report *report)
{
	const struct clusters *clusters = &report->clusters;

	for (uint32_t g = 0; g < clusters->cluster_count && clusters->cluster_count > 1; g++) {
		const struct cluster *cluster = &clusters->clusters[g];
		const char *ranks = clusters_ranks(clusters, run, g, making->arena);
		const char *key = arena_copy(making->arena, cluster->key, strlen(cluster->key));

		making->failed |= !ranks || !key;
		put(making, ROW(.section = "alike", .key = arena_printf(making->arena, "%u", g),
				    .has_percent = true, .percent = 100 * cluster->share,
				    .count = cluster->streams, .has_count = true, .path = key,
				    .text = arena_printf(making->arena, "usual %.2f %%; like %s%s%s",
					    100 * cluster->usual, run_stream(run, cluster->medoid)->text,
					    ranks && *ranks ? "; ranks " : "", ranks ? ranks : "")));
	}
}

static void put_coverage(struct making *making, const struct run_report *report)
{
	char text[COVERAGE_TEXT_MAX];

	coverage_print(&report->coverage, text);
	put(making, ROW(.section = "coverage", .key = "monitored", .has_percent = true,
			    .percent = coverage_percent(&report->coverage), .count = report->coverage.lost,
			    .has_count = true, .text = arena_printf(making->arena, "%s", text)));
}

static void put_gates(struct making *making, const struct gates *gates)
{
	char text[GATE_TEXT];

	for (size_t i = 0; i < gates->count; i++) {
		const struct gate *gate = &gates->list[i];

		gate_value_text(text, gate->unit, gate->value);
		put(making, ROW(.section = "gate", .key = gate->holds ? "holds" : "fails",
				    .count = gate->line, .has_count = true,
				    .text = arena_printf(making->arena, "%s: it is %s", gate->text, text)));
	}
}

/* From the heap into the arena. */
static int page_keep(struct making *making, struct error *error)
{
	struct run_page *page = making->page;
	struct run_page_row *rows =
		making->failed ? NULL : arena_alloc(making->arena, (page->count + 1) * sizeof *rows);

	if (rows && page->count)
		memcpy(rows, page->rows, page->count * sizeof *rows);
	free(page->rows);
	page->rows = rows;
	return rows ? 0 : error_memory(error);
}

int run_page_make(struct run_page *page, struct run *run, const struct run_report *report, uint32_t depth,
	bool is_of_group, const struct gates *gates, struct arena *arena, struct error *error)
{
	struct making making = {.page = page, .arena = arena};

	*page = (struct run_page){.name = arena_printf(arena, "%s", run_path(run))};
	page->headline = arena_printf(arena, "%u thread%s, %u GPU queue%s; bound by %s: %s", report->threads,
		report->threads == 1 ? "" : "s", report->queues, report->queues == 1 ? "" : "s",
		run_report_bound(report), run_report_bound_text(report, arena));
	making.failed = !page->name || !page->headline;
	put_run(&making, report);
	put_classes(&making, report);
	put_gpu(&making, report);
	put_efficiencies(&making, report);
	put_paths(&making, run, report, depth, is_of_group);
	put_groups(&making, run, report);
	put_coverage(&making, report);
	put_gates(&making, gates);
	return page_keep(&making, error);
}

double run_page_figure(const struct run_page_row *row)
{
	return row->has_percent ? row->percent : (double)(row->has_time ? row->time_ns : row->count);
}

void run_page_figure_text(char text[RUN_PAGE_TEXT], const struct run_page_row *row, double value)
{
	char human[REPORT_HUMAN_MAX];

	if (row->has_percent) {
		snprintf(text, RUN_PAGE_TEXT, "%.2f %%", value);
	} else if (row->has_time) {
		report_human_duration(human, (uint64_t)value);
		snprintf(text, RUN_PAGE_TEXT, "%s", human);
	} else {
		snprintf(text, RUN_PAGE_TEXT, "%.15g", value);
	}
}
