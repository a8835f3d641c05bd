/* SPDX-License-Identifier: Apache-2.0 */
/* lane_svg.c - see lane_svg.h. */
#include "tui/models/lane_svg.h"

#include <string.h>

#include "store/base/escape.h"
#include "timeline/report/report.h"

#define LEFT 90
#define TOP 24
#define HEIGHT 60 /* of a lane */
#define GAP 36	  /* above it: its name */
#define TICKS 5

/* A name comes from a traced program. */
static void put_text(const char *text, FILE *out)
{
	struct store_bytes escaped = {0};

	escape_xml(&escaped, text, strlen(text));
	fwrite(escaped.data, 1, escaped.size, out);
	store_bytes_fini(&escaped);
}

static double y_of(const struct lane_svg *lane, double value)
{
	double part = (value - lane->scale.least) / (lane->scale.most - lane->scale.least);

	return HEIGHT * (1 - (part < 0 ? 0 : part > 1 ? 1 : part));
}

/* There and back: the mosts, then the leasts. */
static void print_band(const struct lane_svg *lane, uint32_t from, uint32_t to, FILE *out)
{
	fprintf(out, "<path fill=\"#9ec5f4\" d=\"M");
	for (uint32_t i = from; i < to; i++)
		fprintf(out, "%u,%.1f ", i, y_of(lane, lane->columns[i].most));
	for (uint32_t i = to; i-- > from;)
		fprintf(out, "%u,%.1f ", i, y_of(lane, lane->columns[i].least));
	fprintf(out, "Z\"/>\n<polyline fill=\"none\" stroke=\"#1b5fb4\" points=\"");
	for (uint32_t i = from; i < to; i++)
		fprintf(out, "%u,%.1f ", i, y_of(lane, lane->columns[i].mean));
	fprintf(out, "\"/>\n");
}

static void print_lane(const struct lane_svg *lane, uint32_t columns, int top, FILE *out)
{
	char least[FIGURE_TEXT_MAX], most[FIGURE_TEXT_MAX];
	uint32_t to;

	figure_text(least, lane->scale.least, lane->unit);
	figure_text(most, lane->scale.most, lane->unit);
	fprintf(out, "<g transform=\"translate(%d,%d)\">\n<text y=\"-8\" font-weight=\"bold\">", LEFT, top);
	put_text(lane->name, out);
	fprintf(out, "<tspan font-weight=\"normal\" fill=\"#606060\" dx=\"8\">");
	put_text(lane->owner, out);
	fprintf(out,
		"</tspan></text>\n<path stroke=\"#c0c0c0\" fill=\"none\" d=\"M0,0 V%d H%u\"/>\n"
		"<text x=\"-6\" y=\"8\" text-anchor=\"end\">%s</text>\n"
		"<text x=\"-6\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		HEIGHT, columns, most, HEIGHT, least);
	for (uint32_t from = 0; from < columns; from = to) {
		for (to = from; to < columns && lane->columns[to].is_there;)
			to++;
		if (to > from)
			print_band(lane, from, to, out);
		else
			to = from + 1;
	}
	fprintf(out, "</g>\n");
}

static void print_axis(uint32_t columns, int top, uint64_t begin_ns, uint64_t end_ns, FILE *out)
{
	for (unsigned i = 0; i <= TICKS; i++) {
		char text[REPORT_HUMAN_MAX];
		uint64_t at_ns = begin_ns + (end_ns - begin_ns) / TICKS * i;

		report_human_duration(text, at_ns);
		fprintf(out, "<text x=\"%u\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			LEFT + columns * i / TICKS, top, text);
	}
}

void lane_svg_print(const struct lane_svg *lanes, uint32_t lane_count, uint32_t columns, uint64_t begin_ns,
	uint64_t end_ns, FILE *out)
{
	int height = TOP + (int)lane_count * (HEIGHT + GAP) + 24;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%d\" "
		"font-family=\"sans-serif\" "
		"font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		LEFT + columns + 50, height);
	for (uint32_t i = 0; i < lane_count; i++)
		print_lane(&lanes[i], columns, TOP + (int)i * (HEIGHT + GAP) + GAP / 2, out);
	print_axis(columns, height - 8, begin_ns, end_ns, out);
	fprintf(out, "</svg>\n");
}
