/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_alike.c - the heat map of streams that do alike: a line and a column for each, darker where two spend
 * more of the window otherwise; those of a group stand together.
 *
 *    group  3 streams in 2 groups; they differ by .0 -20 +40 %60 #80 %
 *   >   0   rank 0 main       ....%%
 *       0   rank 1 main       ....%%
 *       1   rank 2 main       %%%%..
 */
#include <stdio.h>
#include <string.h>

#include "tui/models/alike_page.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define GROUP_CELLS 7
#define SHADES 5

/* From the same to nothing in common. */
static const uint32_t blocks[SHADES] = {0xb7, 0x2591, 0x2592, 0x2593, 0x2588};
static const char ascii[SHADES + 1] = ".-+%#";

static int shade_of(double difference)
{
	int shade = (int)(difference * SHADES);

	return shade < 0 ? 0 : shade < SHADES ? shade : SHADES - 1;
}

static void put_shade(struct grid *grid, int row, int column, int cells, double difference, bool is_own_group)
{
	int shade = shade_of(difference);

	for (int i = 0; i < cells; i++)
		grid_put(grid, row, column + i, grid->is_ascii ? (uint32_t)ascii[shade] : blocks[shade],
			is_own_group ? GRID_TEXT : GRID_GREY);
}

static int label_cells(const struct session *session, const struct grid_area *area)
{
	int most = area->columns / 3;

	return session->layout.label + 8 < most ? session->layout.label + 8 : most;
}

static void draw_line(struct session *session, const struct alike_page *page, struct grid *grid,
	struct grid_area area, uint32_t line)
{
	const struct cluster_stream *stream = alike_page_stream(page, line);
	int row = area.row + 1 + (int)(line - page->top), label = label_cells(session, &area);
	int first = area.column + GROUP_CELLS + label + 1, room = area.columns - GROUP_CELLS - label - 2;
	int cells = (int)page->clusters.heat_count * 2 <= room ? 2 : 1;
	char text[LABEL_BYTES], number[16];

	if (line == page->line)
		grid_put(grid, row, area.column, '>', GRID_HEADING);
	snprintf(number, sizeof(number), "%u%s", stream->cluster, stream->is_outlier ? "!" : "");
	grid_text_right(grid, row, area.column + 1, GROUP_CELLS - 2, number,
		stream->is_outlier ? GRID_WARNING : GRID_TEXT);
	label_stream(text, rows_stream_label(&session->rows, stream->stream), label, grid->is_ascii);
	grid_text(grid, row, area.column + GROUP_CELLS, label, text, GRID_TEXT);
	for (uint32_t i = 0; i < page->clusters.heat_count && (int)(i + 1) * cells <= room; i++)
		put_shade(grid, row, first + (int)i * cells, cells,
			(double)page->clusters.heat[line * page->clusters.heat_count + i],
			alike_page_stream(page, i)->cluster == stream->cluster);
}

static void draw_heading(const struct alike_page *page, struct grid *grid, struct grid_area area)
{
	const struct clusters *clusters = &page->clusters;
	char text[200];
	int at;

	snprintf(text, sizeof(text), " group  %u stream%s in %u group%s%s; they differ by ", clusters->count,
		clusters->count == 1 ? "" : "s", clusters->cluster_count,
		clusters->cluster_count == 1 ? "" : "s",
		clusters->heat_count < clusters->count ? ", some shown" : "");
	at = grid_text(grid, area.row, area.column, area.columns, text, GRID_HEADING);
	for (int i = 0; i < SHADES; i++) {
		put_shade(grid, area.row, at, 1, (i + 0.5) / SHADES, true);
		snprintf(text, sizeof(text), "%d%s ", i * 100 / SHADES, i + 1 < SHADES ? "" : " %");
		at = grid_text(grid, area.row, at + 1, area.columns - at - 1, text, GRID_GREY);
	}
}

static void alike_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct alike_page *page = alike_page_of(session);
	uint32_t room;

	if (!page || area.rows < 2)
		return;
	if (session->is_unread || !alike_page_take(session, page)) {
		grid_text(grid, area.row, area.column + 2, area.columns - 2,
			session->is_unread ? "reading ..." : page->trouble, GRID_GREY);
		return;
	}
	room = (uint32_t)area.rows - 1;
	if (page->line < page->top)
		page->top = page->line;
	if (page->line >= page->top + room)
		page->top = page->line - room + 1;
	draw_heading(page, grid, area);
	for (uint32_t i = page->top; i < page->clusters.heat_count && i < page->top + room; i++)
		draw_line(session, page, grid, area, i);
}

/* ---- the line of the cursor ---- */

static bool alike_status(struct session *session, char *out, size_t size_bytes)
{
	const struct alike_page *page = alike_page_of(session);
	const struct cluster_stream *stream;
	const struct cluster *cluster;
	char key[LABEL_BYTES] = "";

	if (!page || !page->clusters.heat_count)
		return false;
	stream = alike_page_stream(page, page->line);
	cluster = &page->clusters.clusters[stream->cluster];
	if (cluster->key && cluster->key[0])
		snprintf(key, sizeof(key), "; more of %.300s: %.0f %%, usually %.0f %%", cluster->key,
			100 * cluster->share, 100 * cluster->usual);
	snprintf(out, size_bytes, "group %u: %u stream%s, %.1f %% from its middle%s%s", stream->cluster,
		cluster->streams, cluster->streams == 1 ? "" : "s", 100 * stream->distance,
		stream->is_outlier ? ", an outlier" : "", key);
	return true;
}

static void step(struct alike_page *page, int by)
{
	int64_t line = (int64_t)page->line + by, count = page->clusters.heat_count;

	page->line = (uint32_t)(line >= count ? (count ? count - 1 : 0) : line < 0 ? 0 : line);
}

/* To the first line of the next group, or of the one before. */
static void step_group(struct alike_page *page, int by)
{
	uint32_t was = page->clusters.heat_count ? alike_page_stream(page, page->line)->cluster : 0, line;

	do {
		line = page->line;
		step(page, by);
	} while (page->line != line && alike_page_stream(page, page->line)->cluster == was);
}

static void go(struct session *session, const struct alike_page *page)
{
	if (!page->clusters.heat_count)
		return;
	session_leave_place(session);
	session_keep(session);
	if (session_go_to(session, alike_page_stream(page, page->line)->stream, session->state.cursor_ns))
		session_go_home(session);
}

static bool alike_act(struct session *session, enum keys_action action)
{
	struct alike_page *page = alike_page_of(session);

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_DOWN:
	case KEYS_DO_UP:
		step(page, action == KEYS_DO_DOWN ? 1 : -1);
		return true;
	case KEYS_DO_SCROLL_DOWN:
	case KEYS_DO_SCROLL_UP:
		step(page, action == KEYS_DO_SCROLL_UP ? -10 : 10);
		return true;
	case KEYS_DO_GAP_BACK:
	case KEYS_DO_GAP_NEXT:
		step_group(page, action == KEYS_DO_GAP_BACK ? -1 : 1);
		return true;
	case KEYS_DO_ENTER:
		go(session, page);
		return true;
	default:
		return false;
	}
}

static const struct view_key alike_keys[] = {{"j k", "a stream"}, {"[ ]", "the group before, the next one"},
	{"Enter", "the stream on the timeline"}, {NULL, NULL}};

const struct view view_alike = {.name = "Alike",
	.draw = alike_draw,
	.act = alike_act,
	.put_status = alike_status,
	.is_whole = true,
	.own_keys = alike_keys,
	.hints = "j/k stream  ] next group  Enter on the timeline  Tab timeline"};
