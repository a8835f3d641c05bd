/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg_export.c - exports pictures that stand alone: a flame graph of one metric (svg), and a flame chart of
 * all lanes in time (svg-chart). Both are flame.h's SVG: a click zooms, "find" marks and sums.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/page/page_chart.h"
#include "formats/page/page_flame.h"
#include "timeline/report/report.h"

#define CHART_BOXES 100000u
#define CHART_PARTS 12000u /* a box shorter than one of the picture's so many parts is not seen */

static const char *title_of(struct run *run)
{
	const char *command = run_meta(run, "command");

	return command && *command ? command : run_path(run);
}

static int svg_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct path_sums sums;
	struct flame flame = {0};
	struct arena arena = {0};
	char title[512];
	int rc = path_sums_make(&sums, run, select, error);

	if (rc == 0)
		rc = page_flame_lay(&flame, &sums, page_flame_metric(&sums), &arena, error);
	if (rc == 0) {
		snprintf(title, sizeof title, "%s of %.400s", flame.count ? flame.metric : "nothing",
			title_of(run));
		flame_svg(&flame, title, output->out);
		rc = ferror(output->out) ? error_unwritten(error) : flame.count == 0;
	}
	arena_fini(&arena);
	path_sums_fini(&sums);
	return rc;
}

/* ---- in time ---- */

static struct flame_box box_of(const struct page_chart *chart, const struct page_box *from, uint32_t above)
{
	return (struct flame_box){.name = chart->names[from->name].text,
		.begin = from->begin_ns,
		.value = from->end_ns - from->begin_ns,
		.depth = above + 1 + from->depth};
}

/* Lane below lane, each with a row of its own name. */
static bool lay_chart(struct flame *flame, const struct page_chart *chart, struct arena *arena)
{
	*flame = (struct flame){.is_chart = true, .total = chart->duration_ns, .unit = "ns"};
	flame->boxes = arena_calloc(arena, chart->box_count + chart->lane_count + 1, sizeof *flame->boxes);
	for (uint32_t i = 0; i < chart->lane_count && flame->boxes; i++) {
		const struct page_lane *lane = &chart->lanes[i];

		if (!lane->count)
			continue;
		flame->boxes[flame->count++] =
			(struct flame_box){.name = arena_printf(arena, "%s: %s", lane->process, lane->name),
				.value = chart->duration_ns,
				.depth = flame->levels,
				.parent = UINT32_MAX};
		if (!flame->boxes[flame->count - 1].name)
			return false;
		for (uint32_t at = lane->first; at < lane->first + lane->count; at++)
			flame->boxes[flame->count++] = box_of(chart, &chart->boxes[at], flame->levels);
		flame->levels += lane->levels + 1;
	}
	return flame->boxes != NULL;
}

static int chart_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	uint64_t least_ns = (select_end_ns(select) - select_begin_ns(select)) / CHART_PARTS;
	struct page_chart chart;
	struct flame flame = {0};
	struct arena arena = {0};
	char title[512], human[REPORT_HUMAN_MAX];
	int rc = page_chart_make(&chart, run, select, CHART_BOXES, least_ns, error);

	if (rc == 0 && !lay_chart(&flame, &chart, &arena))
		rc = error_memory(error);
	if (rc == 0) {
		report_human_duration(human, chart.duration_ns);
		snprintf(title, sizeof title, "%s of %.400s", human, title_of(run));
		flame_svg(&flame, title, output->out);
		page_chart_left_out(&chart, &output->left_out);
		rc = ferror(output->out) ? error_unwritten(error) : chart.box_count + chart.left_out == 0;
	}
	arena_fini(&arena);
	page_chart_fini(&chart);
	return rc;
}

const struct format format_svg = {.name = "svg",
	.about = "a flame graph as a picture",
	.put = svg_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_PC | FORMAT_LACKS_REGIONS,
	.refused = "min",
	.takes_state_metrics = true};

const struct format format_svg_chart = {.name = "svg-chart",
	.about = "a flame chart in time as a picture",
	.put = chart_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_PC | FORMAT_LACKS_REGIONS,
	.refused = "metric"};
