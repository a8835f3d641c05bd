/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_page.c - names and sorts the sums of sums.h for the rows on the screen.
 */
#include "tui/models/stats_page.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/stats/stats.h"
#include "tui/screen/label.h"

static const char *place_text(struct session *session, uint32_t context, struct arena *arena)
{
	struct store_bytes text = {0};
	const char *copy = NULL;
	enum row_key_by place;

	if (stats_by_row_key((enum stats_by)session->stats.by, &place) &&
		row_key_put(&text, session->run, context, place, session->frame.depth))
		copy = arena_copy(arena, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return copy;
}

const char *stats_page_key(
	struct session *session, const struct sums_line *sum, char *scratch, struct arena *arena)
{
	const struct run_function *function =
		sum->function == UINT32_MAX ? NULL : run_function(session->run, sum->function);
	uint32_t line;

	if (sum->id == UINT64_MAX)
		return extent_state_is_busy(sum->state) ? "<unknown>" : extent_state_word(sum->state);
	switch ((enum stats_by)session->stats.by) {
	case STATS_PATH:
		return run_context_path(session->run, sum->context, session->frame.depth, arena);
	case STATS_MODULE:
		return function && function->module[0] ? function->module : "<unknown module>";
	case STATS_LINE:
		snprintf(scratch, LABEL_BYTES, "%s", sums_position(&session->frame, sum->context, &line));
		if (!scratch[0])
			return "<unknown line>";
		snprintf(scratch + strlen(scratch), LABEL_BYTES - strlen(scratch), ":%u", line);
		return scratch;
	case STATS_STREAM:
		return rows_stream_label(&session->rows, sum->stream);
	case STATS_OP:
		return sum->op ? run_op_name(session->run, sum->op) : extent_state_name(sum->state);
	case STATS_LOOP:
	case STATS_INLINE:
	case STATS_FILE:
	case STATS_INSTRUCTION:
	case STATS_SCRIPT:
		return place_text(session, sum->context, arena);
	default:
		return function ? function->name : "<unknown>";
	}
}

static int compare_time(const struct sums_line *x, const struct sums_line *y)
{
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

bool stats_page_is_work(const struct sums_line *line)
{
	return extent_state_is_busy(line->state) || line->id != UINT64_MAX;
}

/* 0 work, 1 states, 2 time outside a stream's life. */
static int rank_of(const struct sums_line *line)
{
	return line->state == EXTENT_ABSENT ? 2 : !stats_page_is_work(line);
}

static int compare_lines(const void *a, const void *b, void *data)
{
	struct session *session = data;
	const struct sums_line *x = a, *y = b;
	char scratch_x[LABEL_BYTES], scratch_y[LABEL_BYTES];
	struct arena arena = {0};
	const char *key_x, *key_y;
	int order;

	if (rank_of(x) != rank_of(y))
		return rank_of(x) - rank_of(y);
	if (session->stats.sort == 1 && x->records != y->records)
		return x->records > y->records ? -1 : 1;
	if (session->stats.sort != 2 && x->time_ns != y->time_ns)
		return compare_time(x, y);
	key_x = stats_page_key(session, x, scratch_x, &arena);
	key_y = stats_page_key(session, y, scratch_y, &arena);
	order = key_x && key_y ? strcmp(key_x, key_y) : 0;
	arena_fini(&arena);
	return order ? order : compare_time(x, y);
}

bool stats_page_take(struct session *session, struct stats_page *page)
{
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams)), on_screen;
	int result;

	*page = (struct stats_page){0};
	if (!streams)
		return false;
	on_screen = session_streams_on_screen(session, streams);
	for (uint32_t i = 0; i < on_screen; i++) /* damaged ones are in no line */
		page->streams += frame_line(&session->frame, streams[i]) != NULL;
	result = sums_add_up(&page->lines, &page->count, &session->frame, streams, on_screen,
		(enum stats_by)session->stats.by);
	free(streams);
	if (result)
		return false;
	qsort_r(page->lines, page->count, sizeof(*page->lines), compare_lines, session);
	for (size_t i = 0; i < page->count; i++) {
		bool is_lived = page->lines[i].state != EXTENT_ABSENT;

		page->lived_count += is_lived;
		page->work_ns += stats_page_is_work(&page->lines[i]) ? page->lines[i].time_ns : 0;
		*(is_lived ? &page->lived_ns : &page->absent_ns) += page->lines[i].time_ns;
	}
	return true;
}

void stats_page_fini(struct stats_page *page)
{
	free(page->lines);
}

bool stats_page_name(struct session *session, char *out, size_t size_bytes)
{
	char scratch[LABEL_BYTES];
	struct stats_page page;
	struct arena arena = {0};
	const char *key = NULL;

	if (!stats_page_take(session, &page))
		return false;
	if (session->stats.line < page.lived_count)
		key = stats_page_key(session, &page.lines[session->stats.line], scratch, &arena);
	if (key)
		snprintf(out, size_bytes, "%s", key);
	arena_fini(&arena);
	stats_page_fini(&page);
	return key != NULL;
}

/* The longest place of a line on the screen. */
struct stats_place {
	uint64_t longest_ns, at_ns;
	uint32_t node; /* UINT32_MAX: nowhere */
};

static bool is_of(
	struct session *session, const struct tile_entry *entry, uint32_t stream, const struct sums_line *sum)
{
	uint64_t id = sums_has_key(entry)
			      ? sums_key(&session->frame, entry, stream, (enum stats_by)session->stats.by)
			      : UINT64_MAX;

	return id == sum->id && entry->state == sum->class;
}

static void look_in_stream(
	struct session *session, uint32_t node, const struct sums_line *sum, struct stats_place *place)
{
	uint32_t stream = session->rows.nodes[node].stream;
	const struct frame_line *line = sums_by_leaf((enum stats_by)session->stats.by)
						? frame_leaves(&session->frame, stream)
						: frame_line(&session->frame, stream);

	for (uint32_t c = 0; line && c < session->frame.columns.count; c++) {
		for (uint32_t e = line->first[c]; e < line->first[c + 1]; e++) {
			const struct tile_entry *entry = &line->entries[e];
			if (entry->time_ns <= place->longest_ns || !is_of(session, entry, stream, sum))
				continue;
			*place = (struct stats_place){
				entry->time_ns, frame_column_ns(&session->frame, c), node};
		}
	}
}

void stats_page_go(struct session *session)
{
	struct stats_place place = {.node = UINT32_MAX};
	uint32_t top, rows = session_rows_on_screen(session, &top);
	struct view_state *state = &session->state;
	struct stats_page page;

	if (!stats_page_take(session, &page))
		return;
	for (uint32_t row = top; session->stats.line < page.lived_count && row < top + rows; row++) {
		uint32_t node = session->rows.shown[row];
		if (!rows_is_group(&session->rows.nodes[node]))
			look_in_stream(session, node, &page.lines[session->stats.line], &place);
	}
	stats_page_fini(&page);
	if (place.node == UINT32_MAX)
		return;
	session_keep(session);
	state->node = place.node;
	state->cursor_ns = place.at_ns < state->begin_ns ? state->begin_ns : place.at_ns;
	session->focus = session->home;
}
