/* SPDX-License-Identifier: Apache-2.0 */
/* run_page_heat.c - how much threads differ from each other, as SVG (run_page_timeline.h). */
#include "blame/report/run_page_timeline.h"

#define SIDE 480.0 /* px */
#define LABEL 250

/* From white, the same, to dark blue, nothing in common. */
static unsigned colour_of(double difference)
{
	unsigned red = (unsigned)(255 - 235 * difference), green = (unsigned)(255 - 190 * difference);
	unsigned blue = (unsigned)(255 - 120 * difference);

	return red << 16 | green << 8 | blue;
}

static void put_name(FILE *out, const struct run *run, const struct cluster_stream *stream)
{
	run_page_put_escaped(out, run_stream(run, stream->stream)->text);
	fprintf(out, " (group %u%s)", stream->cluster, stream->is_outlier ? ", outlier" : "");
}

static void put_line(
	FILE *out, const struct run *run, const struct clusters *clusters, uint32_t row, double cell)
{
	const struct cluster_stream *stream = &clusters->streams[clusters->heat_streams[row]];
	double y = row * cell;

	if (cell >= 9) {
		fprintf(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">", LABEL - 6, y + cell / 2 + 3);
		run_page_put_escaped(out, run_stream(run, stream->stream)->text);
		fputs("</text>", out);
	}
	for (uint32_t column = 0; column < clusters->heat_count; column++) {
		double difference = (double)clusters->heat[row * clusters->heat_count + column];

		fprintf(out,
			"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"><title>",
			LABEL + column * cell, y, cell, cell, colour_of(difference < 1 ? difference : 1));
		put_name(out, run, stream);
		fputs(", ", out);
		put_name(out, run, &clusters->streams[clusters->heat_streams[column]]);
		fprintf(out, ": %.1f %% differ</title></rect>", 100 * difference);
	}
	fputs("\n", out);
}

void run_page_heat_svg(FILE *out, const struct run *run, const struct clusters *clusters)
{
	double cell = clusters->heat_count ? SIDE / clusters->heat_count : 0;

	if (clusters->cluster_count < 2)
		return;
	if (cell > 24)
		cell = 24;
	fprintf(out,
		"<svg class=\"heat\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 %.0f\" "
		"font-family=\"monospace\" font-size=\"9\">\n",
		cell * clusters->heat_count + 1);
	for (uint32_t row = 0; row < clusters->heat_count; row++)
		put_line(out, run, clusters, row, cell);
	for (uint32_t i = 1; i < clusters->heat_count; i++)
		if (clusters->streams[clusters->heat_streams[i]].cluster !=
			clusters->streams[clusters->heat_streams[i - 1]].cluster)
			fprintf(out,
				"<path d=\"M%d %.2fh%.2fM%.2f 0v%.2f\" stroke=\"#d1495b\" fill=\"none\"/>",
				LABEL, i * cell, cell * clusters->heat_count, LABEL + i * cell,
				cell * clusters->heat_count);
	fputs("</svg>\n", out);
}
