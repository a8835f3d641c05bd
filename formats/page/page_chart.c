/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_chart.c - see page_chart.h. When the boxes are too many, the least length doubles, and those that are
 * shorter go.
 */
#include "formats/page/page_chart.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/base/trace_walk.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/report/report.h"

bool page_chart_name(struct page_chart *chart, const char *text, size_t size, uint32_t *number)
{
	struct store_hash hash = store_hash128(text, size);
	bool is_new;
	struct page_name *name;

	*number = key_ids_put(&chart->name_ids, &hash, &is_new);
	if (*number == KEY_IDS_NONE ||
		!array_widen(&chart->names, &chart->name_room, *number, sizeof *chart->names))
		return false;
	name = &chart->names[*number];
	if (is_new)
		*name = (struct page_name){arena_copy(&chart->arena, text, size), size};
	return name->text != NULL;
}

static void drop_short(struct page_chart *chart)
{
	while (chart->box_count >= chart->box_max) {
		size_t kept = 0;

		chart->least_ns = chart->least_ns ? chart->least_ns * 2 : 1;
		for (size_t i = 0; i < chart->box_count; i++)
			if (chart->boxes[i].end_ns - chart->boxes[i].begin_ns >= chart->least_ns)
				chart->boxes[kept++] = chart->boxes[i];
		chart->left_out += chart->box_count - kept;
		chart->box_count = kept;
	}
}

static bool add_box(struct page_chart *chart, const struct page_box *box)
{
	if (box->end_ns - box->begin_ns < chart->least_ns) {
		chart->left_out++;
		return true;
	}
	if (!array_widen(&chart->boxes, &chart->box_room, chart->box_count, sizeof *chart->boxes))
		return false;
	chart->boxes[chart->box_count++] = *box;
	drop_short(chart);
	return true;
}

/* ---- the walk ---- */

struct chart_walk {
	struct page_chart *chart;
	uint64_t begin_ns;
};

static uint64_t since(const struct chart_walk *walk, uint64_t time_ns)
{
	uint64_t at_ns = time_ns > walk->begin_ns ? time_ns - walk->begin_ns : 0;

	return at_ns < walk->chart->duration_ns ? at_ns : walk->chart->duration_ns;
}

static bool put_process(void *own, const struct trace_place *place, const char *name)
{
	struct page_chart *chart = ((struct chart_walk *)own)->chart;

	(void)place;
	chart->process = arena_copy(&chart->arena, name, strlen(name));
	return chart->process != NULL;
}

/* Lanes count from 1, in the order in which they come. */
static bool put_lane(void *own, const struct trace_place *place, const char *name)
{
	struct page_chart *chart = ((struct chart_walk *)own)->chart;
	uint32_t number = place->lane - 1;
	char *copy = arena_copy(&chart->arena, name, strlen(name));

	if (!copy || !array_widen(&chart->lanes, &chart->lane_room, number, sizeof *chart->lanes))
		return false;
	chart->lanes[number] = (struct page_lane){.process = chart->process, .name = copy};
	chart->lane_count = number + 1;
	return true;
}

static bool put_call(
	void *own, const struct trace_place *place, uint32_t frame, uint64_t time_ns, bool is_begin)
{
	struct chart_walk *walk = own;
	struct page_chart *chart = walk->chart;
	struct page_box *box;
	size_t size;
	const char *name;

	if (!is_begin) {
		box = &chart->open[--chart->open_count];
		box->end_ns = since(walk, time_ns);
		return add_box(chart, box);
	}
	if (!array_widen(&chart->open, &chart->open_room, chart->open_count, sizeof *chart->open))
		return false;
	box = &chart->open[chart->open_count];
	*box = (struct page_box){.begin_ns = since(walk, time_ns),
		.lane = place->lane - 1,
		.depth = (uint32_t)chart->open_count++};
	name = trace_frame_name(chart->run, frame, &size);
	return page_chart_name(chart, name, size, &box->name);
}

static bool put_span(void *own, const struct trace_span *span)
{
	struct chart_walk *walk = own;
	struct page_box box = {.begin_ns = since(walk, span->begin_ns),
		.end_ns = since(walk, span->end_ns),
		.lane = span->place->lane - 1};

	return page_chart_name(walk->chart, span->name, span->name_size, &box.name) &&
	       add_box(walk->chart, &box);
}

/* ---- the whole ---- */

static int compare_boxes(const void *left, const void *right)
{
	const struct page_box *a = left, *b = right;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static void order_boxes(struct page_chart *chart)
{
	if (chart->box_count)
		qsort(chart->boxes, chart->box_count, sizeof *chart->boxes, compare_boxes);
	for (size_t i = 0; i < chart->box_count; i++) {
		struct page_lane *lane = &chart->lanes[chart->boxes[i].lane];

		if (!lane->count)
			lane->first = (uint32_t)i;
		lane->count++;
		if (chart->boxes[i].depth >= lane->levels)
			lane->levels = chart->boxes[i].depth + 1;
	}
}

int page_chart_make(struct page_chart *chart, struct run *run, const struct select *select, size_t box_max,
	uint64_t least_ns, struct error *error)
{
	static const struct trace_walk_ops ops = {
		.process = put_process, .lane = put_lane, .call = put_call, .span = put_span};
	struct chart_walk walk = {.chart = chart, .begin_ns = select_begin_ns(select)};
	int rc;

	*chart = (struct page_chart){.run = run, .box_max = box_max, .least_ns = least_ns};
	chart->duration_ns = select_end_ns(select) - walk.begin_ns;
	key_ids_init(&chart->name_ids, sizeof(struct store_hash));
	rc = trace_walk(run, select, &ops, &walk, error);
	if (rc == 0)
		order_boxes(chart);
	return rc;
}

void page_chart_fini(struct page_chart *chart)
{
	key_ids_fini(&chart->name_ids);
	arena_fini(&chart->arena);
	free(chart->boxes);
	free(chart->lanes);
	free(chart->names);
	free(chart->open);
}

void page_chart_left_out(const struct page_chart *chart, struct store_bytes *list)
{
	char human[REPORT_HUMAN_MAX], text[REPORT_HUMAN_MAX + 64];

	report_human_duration(human, chart->least_ns);
	snprintf(text, sizeof text, "calls and operations shorter than %s", human);
	format_left_out(list, chart->left_out, text);
}
