/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_export.c - exports a page that stands alone: page.html with the boxes of page_chart.h and flame graphs
 * of all metrics as JSON between its lines, and a script that draws, zooms and searches them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/page/page_chart.h"
#include "formats/page/page_flame.h"
#include "formats/page/page_template.h"
#include "store/base/json.h"

#define CHART_BOXES 400000u
#define FLAME_PARTS 50000u /* a box narrower than one of so many parts is left out */

struct page {
	FILE *out;
	struct page_chart chart;
	struct path_sums sums;
	struct store_bytes text;
	uint64_t narrow; /* boxes of flame graphs that are left out */
};

/* A string of JSON in which no tag of the page can end or begin. */
static void put_text(struct page *page, const char *text, size_t size)
{
	page->text.size = 0;
	json_put_string(&page->text, text, size);
	for (size_t i = 0; i < page->text.size; i++) {
		if (page->text.data[i] == '<')
			fputs("\\u003c", page->out);
		else
			putc(page->text.data[i], page->out);
	}
}

static void put_lane(struct page *page, const struct page_lane *lane)
{
	FILE *out = page->out;

	fputs("{\"process\":", out);
	put_text(page, lane->process, strlen(lane->process));
	fputs(",\"name\":", out);
	put_text(page, lane->name, strlen(lane->name));
	fprintf(out, ",\"levels\":%" PRIu32 ",\"boxes\":[", lane->levels);
	for (uint32_t i = 0; i < lane->count; i++) {
		const struct page_box *box = &page->chart.boxes[lane->first + i];

		fprintf(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32, i ? "," : "", box->begin_ns,
			box->end_ns - box->begin_ns, box->depth, box->name);
	}
	fputs("]}", out);
}

static bool put_flame(struct page *page, const struct flame *flame)
{
	FILE *out = page->out;
	bool has_any = false;

	fputs("{\"metric\":", out);
	put_text(page, flame->metric, strlen(flame->metric));
	fputs(",\"unit\":", out);
	put_text(page, flame->unit, strlen(flame->unit));
	fprintf(out, ",\"total\":%" PRIu64 ",\"levels\":%" PRIu32 ",\"boxes\":[", flame->total,
		flame->levels);
	for (uint32_t i = 0; i < flame->count; i++) {
		const struct flame_box *box = &flame->boxes[i];
		uint32_t name;

		if (box->value < flame->total / FLAME_PARTS) {
			page->narrow++;
			continue;
		}
		if (!page_chart_name(&page->chart, box->name, strlen(box->name), &name))
			return false;
		fprintf(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32, has_any ? "," : "", box->begin,
			box->value, box->depth, name);
		has_any = true;
	}
	fputs("]}", out);
	return true;
}

static int put_flames(struct page *page, struct error *error)
{
	struct arena arena = {0};
	struct flame flame;
	bool has_any = false;
	int rc = 0;

	for (size_t i = 0; i < page->sums.metric_count && rc == 0; i++) {
		rc = page_flame_lay(&flame, &page->sums, i, &arena, error);
		if (rc < 0)
			break;
		if (!flame.count) { /* all of it weighs nothing */
			flame = (struct flame){.metric = path_sums_name(&page->sums, i),
				.unit = path_sums_unit(&page->sums, i)};
		}
		fputs(has_any ? ",\n" : "\n", page->out);
		has_any = true;
		if (!put_flame(page, &flame))
			rc = error_memory(error);
		arena_fini(&arena);
		arena = (struct arena){0};
	}
	arena_fini(&arena);
	return rc;
}

static int put_data(struct page *page, struct run *run, struct error *error)
{
	const char *command = run_meta(run, "command"),
		   *title = command && *command ? command : run_path(run);
	const struct page_chart *chart = &page->chart;
	bool has_any = false;
	int rc;

	fputs("{\"title\":", page->out);
	put_text(page, title, strlen(title));
	fprintf(page->out,
		",\"duration\":%" PRIu64 ",\"least\":%" PRIu64 ",\"left\":%" PRIu64 ",\"main\":%zu,\n"
		"\"lanes\":[",
		chart->duration_ns, chart->least_ns, chart->left_out, page_flame_metric(&page->sums));
	for (uint32_t i = 0; i < chart->lane_count; i++) {
		if (!chart->lanes[i].count)
			continue;
		fputs(has_any ? ",\n" : "\n", page->out);
		put_lane(page, &chart->lanes[i]);
		has_any = true;
	}
	fputs("],\n\"flames\":[", page->out);
	rc = put_flames(page, error);
	fputs("],\n\"names\":[", page->out);
	for (uint32_t i = 0; i < chart->name_ids.count; i++) {
		fputs(i ? ",\n" : "\n", page->out);
		put_text(page, chart->names[i].text, chart->names[i].size);
	}
	fputs("]}\n", page->out);
	return rc;
}

static int put_page(struct page *page, struct run *run, struct format_output *output, struct error *error)
{
	static const char mark[] = "@DATA@";
	const char *text = (const char *)page_template;
	const char *at = memmem(text, page_template_size, mark, sizeof mark - 1);
	size_t before = (size_t)(at - text), behind = before + sizeof mark - 1;
	int rc;

	fwrite(text, 1, before, page->out);
	rc = put_data(page, run, error);
	fwrite(text + behind, 1, page_template_size - behind, page->out);
	page_chart_left_out(&page->chart, &output->left_out);
	format_left_out(&output->left_out, page->narrow,
		"boxes of flame graphs narrower than a 50000th of the whole");
	if (rc == 0 && page->text.failed)
		rc = error_memory(error);
	if (rc == 0 && ferror(page->out))
		rc = error_unwritten(error);
	return rc < 0 ? rc : page->chart.box_count + page->chart.left_out + page->sums.contexts.count == 0;
}

static int html_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct page page = {.out = output->out};
	int rc = path_sums_make(&page.sums, run, select, error);

	if (rc == 0) {
		rc = page_chart_make(&page.chart, run, select, CHART_BOXES, 0, error);
		if (rc == 0)
			rc = put_page(&page, run, output, error);
		page_chart_fini(&page.chart);
	}
	path_sums_fini(&page.sums);
	store_bytes_fini(&page.text);
	return rc;
}

const struct format format_html = {.name = "html",
	.about = "a page with flame chart and flame graphs",
	.put = html_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_REGIONS,
	.takes_state_metrics = true};
