/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_page_timeline.c - see run_page_timeline.h. The columns are those of a screen (timeline/tile), with all
 * call paths of a class as one: they cost what a screen costs.
 */
#include "blame/report/run_page_timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/escape.h"
#include "timeline/report/report.h"
#include "timeline/tile/tile.h"

#define COLUMNS 320u
#define LABEL 250 /* px */
#define WIDTH 1200
#define ROW 13
#define AXIS 22
#define TICKS 8
#define LABEL_CHARACTERS 36
#define TILES_BYTES (64u << 20)

enum { SHADE_KERNEL = TIME_CLASS_COUNT, SHADE_COPY, SHADE_SET, SHADE_SYNC, SHADE_IDLE, SHADES };

static const char *const shades[SHADES] = {[TIME_COMPUTE] = "#3a9d5d",
	[TIME_MPI] = "#d1495b",
	[TIME_OPENMP] = "#edae49",
	[TIME_IO] = "#8d5fd3",
	[TIME_MEMORY] = "#3d7ea6",
	[TIME_GPU] = "#35b6b4",
	[TIME_WAIT] = "#c9ccd1",
	[TIME_RUNNABLE] = "#f29e8e",
	[TIME_UNKNOWN] = "#efefef",
	[TIME_ABSENT] = "#ffffff",
	[SHADE_KERNEL] = "#1f6f8b",
	[SHADE_COPY] = "#e09f3e",
	[SHADE_SET] = "#9e6f21",
	[SHADE_SYNC] = "#99c1b9",
	[SHADE_IDLE] = "#f4f4f4"};
static const char *const shade_words[SHADES - TIME_CLASS_COUNT] = {
	"kernel", "copy", "other operations", "waiting in the queue", "idle"};

const char *run_page_class_colour(enum time_class class)
{
	return shades[class];
}

void run_page_put_escaped(FILE *out, const char *text)
{
	struct store_bytes escaped = {0};

	escape_xml(&escaped, text ? text : "", text ? strlen(text) : 0);
	fwrite(escaped.data, 1, escaped.size, out);
	store_bytes_fini(&escaped);
}

struct drawing {
	FILE *out;
	struct run *run;
	const struct run_report *report;
	struct time_classes *classes;
	struct tiles *tiles;
	struct tile_columns columns;
	uint64_t edges[COLUMNS + 1];
	struct tile cells[COLUMNS];
	uint32_t stand_ins[TIME_CLASS_COUNT]; /* a context of each class; 0: none yet */
	uint32_t rows, used;		      /* used: bits of shades */
};

/* ---- shades ---- */

static uint32_t stand_in(void *own, uint32_t context)
{
	struct drawing *drawing = own;
	struct window_time piece = {.context = context, .state = EXTENT_WORK};
	enum time_class class = time_class_of(drawing->classes, &piece);

	if (context && !drawing->stand_ins[class])
		drawing->stand_ins[class] = context;
	return context ? drawing->stand_ins[class] : 0;
}

static int shade_of(const struct drawing *drawing, const struct tile_entry *entry, bool is_thread)
{
	struct window_time piece = {.context = entry->context, .op = entry->op, .state = entry->state};

	if (is_thread)
		return (int)time_class_of(drawing->classes, &piece);
	switch (entry->state) {
	case EXTENT_ABSENT:
		return TIME_ABSENT;
	case EXTENT_KERNEL:
		return SHADE_KERNEL;
	case EXTENT_COPY_IN:
	case EXTENT_COPY_OUT:
		return SHADE_COPY;
	case EXTENT_SYNC:
	case EXTENT_BLOCKED:
		return SHADE_SYNC;
	case EXTENT_IDLE:
		return SHADE_IDLE;
	default:
		return extent_state_is_busy(entry->state) ? SHADE_SET : TIME_UNKNOWN;
	}
}

/* What most of the column is; of a column that is partly absent, what there is. */
static int cell_shade(const struct drawing *drawing, const struct tile *cell, bool is_thread)
{
	uint64_t sums[SHADES] = {0};
	int most = TIME_ABSENT;

	for (uint32_t i = 0; i < cell->count; i++)
		sums[shade_of(drawing, &cell->entries[i], is_thread)] += cell->entries[i].time_ns;
	sums[TIME_ABSENT] = 0;
	for (int shade = 0; shade < SHADES; shade++)
		if (sums[shade] > sums[most])
			most = shade;
	return most;
}

/* ---- rows ---- */

/* A column's edge, from the run's origin; the first one may begin before it. */
static uint64_t edge_ns(const struct drawing *drawing, uint32_t column)
{
	uint64_t at_ns = tile_columns_ns(&drawing->columns, column), origin_ns = run_origin_ns(drawing->run);

	return at_ns > origin_ns ? at_ns - origin_ns : 0;
}

static double x_of(const struct drawing *drawing, uint32_t column)
{
	return LABEL + (double)column * (WIDTH - LABEL) / drawing->columns.count;
}

static const char *shade_word(int shade)
{
	return shade < TIME_CLASS_COUNT ? time_class_name((enum time_class)shade)
					: shade_words[shade - TIME_CLASS_COUNT];
}

/* Columns [from, to) as one box. */
static void put_box(struct drawing *drawing, int shade, uint32_t from, uint32_t to, uint32_t y)
{
	char begin[REPORT_HUMAN_MAX], end[REPORT_HUMAN_MAX];

	if (shade == TIME_ABSENT)
		return;
	drawing->used |= 1u << shade;
	report_human_duration(begin, edge_ns(drawing, from));
	report_human_duration(end, edge_ns(drawing, to));
	fprintf(drawing->out,
		"<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\">"
		"<title>%s, %s to %s</title></rect>",
		x_of(drawing, from), y, x_of(drawing, to) - x_of(drawing, from), ROW - 2, shades[shade],
		shade_word(shade), begin, end);
}

/* The identity without kind and host, or its end; all of it, and the name, when pointed at. */
static void put_label(struct drawing *drawing, const struct run_stream *stream, uint32_t y)
{
	const char *host_end = strchr(stream->text, '/'), *text = stream->text;
	size_t size;

	if (host_end)
		text = host_end + 1;
	size = strlen(text);
	if (size > LABEL_CHARACTERS)
		text += size - LABEL_CHARACTERS;
	while ((*text & 0xc0) == 0x80)
		text++;
	fprintf(drawing->out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\"><title>", LABEL - 6, y + 9);
	run_page_put_escaped(drawing->out, stream->text);
	if (*stream->name)
		fputs(" ", drawing->out);
	run_page_put_escaped(drawing->out, stream->name);
	fputs("</title>", drawing->out);
	run_page_put_escaped(drawing->out, text);
	fputs("</text>", drawing->out);
}

static int put_row(struct drawing *drawing, uint32_t stream, struct error *error)
{
	const struct run_stream *r = run_stream(drawing->run, stream);
	uint32_t y = drawing->rows * ROW, from = 0;
	int rc = tiles_cells(drawing->tiles, stream, &drawing->columns, drawing->cells, error), shade = 0;
	bool is_thread = r->s.kind == STORE_STREAM_CPU;

	if (rc)
		return rc;
	put_label(drawing, r, y);
	for (uint32_t i = 0; i < drawing->columns.count; i++) {
		int here = cell_shade(drawing, &drawing->cells[i], is_thread);

		if (i && here != shade) {
			put_box(drawing, shade, from, i, y);
			from = i;
		}
		shade = here;
	}
	put_box(drawing, shade, from, drawing->columns.count, y);
	fputs("\n", drawing->out);
	drawing->rows++;
	return 0;
}

/* ---- axis, legend ---- */

/* 1, 2 or 5 times a power of ten, so that there are about TICKS. */
static uint64_t step_of(uint64_t length_ns)
{
	uint64_t step = 1;

	for (int i = 0; step < length_ns / TICKS; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

static void put_axis(const struct drawing *drawing)
{
	uint64_t begin_ns = edge_ns(drawing, 0), end_ns = edge_ns(drawing, drawing->columns.count);
	uint64_t step = step_of(end_ns - begin_ns);
	uint32_t y = drawing->rows * ROW;

	for (uint64_t at = (begin_ns + step - 1) / step * step; at <= end_ns; at += step) {
		char text[REPORT_HUMAN_MAX];
		double x = LABEL + (double)(at - begin_ns) * (WIDTH - LABEL) / (double)(end_ns - begin_ns);

		report_human_duration(text, at);
		fprintf(drawing->out,
			"<path d=\"M%.2f %uv5\" stroke=\"#888\"/>"
			"<text x=\"%.2f\" y=\"%u\" text-anchor=\"%s\">%s</text>",
			x, y, x, y + 16,
			x > WIDTH - 30	? "end"
			: x < LABEL + 9 ? "start"
					: "middle",
			text);
	}
}

static void put_legend(const struct drawing *drawing)
{
	uint32_t y = drawing->rows * ROW + AXIS, x = LABEL;

	for (int shade = 0; shade < SHADES; shade++) {
		const char *word = shade_word(shade);

		if (!(drawing->used >> shade & 1))
			continue;
		fprintf(drawing->out,
			"<rect x=\"%u\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\" stroke=\"#999\"/>"
			"<text x=\"%u\" y=\"%u\">%s</text>",
			x, y, shades[shade], x + 14, y + 9, word);
		x += 30 + 7 * (uint32_t)strlen(word);
	}
}

/* ---- the whole ---- */

static int put_rows(struct drawing *drawing, struct error *error)
{
	uint64_t count = drawing->report->stream_count;
	uint64_t shown = count < RUN_PAGE_TIMELINE_STREAMS ? count : RUN_PAGE_TIMELINE_STREAMS;
	int rc = 0;

	fprintf(drawing->out,
		"<svg class=\"timeline\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %" PRIu64 "\" "
		"font-family=\"monospace\" font-size=\"10\">\n",
		WIDTH, shown * ROW + AXIS + 16);
	for (uint64_t i = 0; i < shown && !rc; i++)
		rc = put_row(drawing, drawing->report->streams[i * count / shown], error);
	if (!rc) {
		put_axis(drawing);
		put_legend(drawing);
	}
	fputs("</svg>\n", drawing->out);
	if (shown < count)
		fprintf(drawing->out,
			"<p class=\"note\">%" PRIu64 " of %" PRIu64 " streams, chosen evenly.</p>\n", shown,
			count);
	return rc;
}

static int draw(struct drawing *drawing, const struct select *select, struct error *error)
{
	struct tile_projection projection = {.own = drawing, .stand_in = stand_in, .level = 2};
	int rc = tiles_new(&drawing->tiles, drawing->run, TILES_BYTES, error);

	if (!rc)
		rc = tiles_project(drawing->tiles, &projection, error);
	drawing->columns.edges = drawing->edges;
	tile_columns_fit(&drawing->columns, select_begin_ns(select), select_end_ns(select), COLUMNS,
		run_origin_ns(drawing->run));
	if (!rc)
		rc = put_rows(drawing, error);
	tiles_free(drawing->tiles);
	return rc;
}

int run_page_timeline_svg(FILE *out, struct run *run, const struct select *select,
	const struct run_report *report, struct error *error)
{
	struct drawing *drawing = calloc(1, sizeof *drawing);
	struct wait_functions *waits = NULL;
	int rc;

	if (!drawing)
		return error_memory(error);
	drawing->out = out;
	drawing->run = run;
	drawing->report = report;
	rc = wait_functions_new(&waits, run, NULL, error);
	if (!rc)
		rc = time_classes_new(&drawing->classes, run, waits, error);
	if (!rc)
		rc = draw(drawing, select, error);
	time_classes_free(drawing->classes);
	wait_functions_free(waits);
	free(drawing);
	return rc;
}
