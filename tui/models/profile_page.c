/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_page.c - computes the profile (timeline/profile/profile.h) of the window and the streams, removes
 * filtered rows, and loads the outline. For two runs it computes two profiles and merges them into one tree.
 */
#include "tui/models/profile_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "store/base/path.h"
#include "timeline/profile/profile_merge.h"
#include "tui/models/compare.h"
#include "tui/models/plot.h"
#include "tui/screen/label.h"
#include "tui/screen/pattern.h"
#include "tui/session/deadline.h"

struct profile_page *profile_page_of(struct session *session)
{
	if (!session->profile) {
		session->profile = calloc(1, sizeof(*session->profile));
		if (session->profile)
			session->profile->hot_share = PROFILE_HOT_SHARE;
	}
	return session->profile;
}

void profile_page_free(struct profile_page *page)
{
	if (!page)
		return;
	plot_free(page->plot);
	outline_fini(&page->outline);
	arena_fini(&page->arena);
	free(page);
}

bool profile_page_is_merged(const struct session *session)
{
	return session->compare && session->profile && session->profile->is_merged;
}

void profile_page_merge(struct profile_page *page, bool is_merged)
{
	page->wants_places = is_merged && !page->is_merged;
	page->is_merged = is_merged;
	page->is_loaded = false;
	page->outline.sort = 0;
}

/* Streams of the page where neither :threads nor 0 chose: those of all rows, however many the screen has room
 * for; of two profiles side by side, those of the pairs on the screen. Into an array of stream_count, or
 * NULL. */
static uint32_t row_streams(const struct session *session, const struct profile_page *page, uint32_t *streams)
{
	return session->only && !page->is_merged ? session_streams_on_screen(session, streams)
						 : rows_streams(&session->rows, streams);
}

char *profile_page_expression(const struct session *session, const struct profile_page *page)
{
	uint32_t *streams = calloc((size_t)session->rows.stream_count + 1, sizeof(*streams));
	char *text =
		streams ? session_expression_of(session, streams, row_streams(session, page, streams)) : NULL;

	free(streams);
	return text;
}

static struct profile_key key_of(struct session *session, const struct profile_page *page)
{
	struct profile_key key = {
		.run_end_ns = run_end_ns(session->run), .kind = page->kind, .filters = page->filter_changes};
	uint32_t *streams, count;

	if (!page->is_whole) {
		key.begin_ns = session->frame.begin_ns;
		key.end_ns = session->frame.end_ns;
	}
	if (page->threads[0]) {
		key.streams = store_hash64(page->threads, strlen(page->threads), 2);
	} else if (!page->is_whole) {
		streams = calloc((size_t)session->rows.stream_count + 1, sizeof(*streams));
		count = streams ? row_streams(session, page, streams) : 0;
		key.streams = streams ? store_hash64(streams, count * sizeof(*streams), 3) : 0;
		free(streams);
	}
	return key;
}

static struct profile_key key_now(struct session *session, const struct profile_page *page)
{
	struct profile_key key = key_of(session, page), other;

	if (!profile_page_is_merged(session))
		return key;
	other = key_of(session->compare->other, page);
	key.other = store_hash64(&other, sizeof(other), 4) | 1;
	return key;
}

/* ---- the question ---- */

static int put_option(struct select *select, const char *name, const char *value, struct error *error)
{
	int result = select_option(select, name, value, error);

	return result > 0 ? error_set(error, ERROR_USAGE, "--%s is not known", name) : result;
}

static int put_window(struct session *session, const struct profile_page *page, const char *given,
	struct select *select, struct error *error)
{
	const char *only = given ? given : page->threads;
	char text[96], *streams;
	int result;

	if (page->is_whole)
		return only[0] ? put_option(select, "streams", only, error) : 0;
	session_put_window(text, sizeof(text), session);
	result = put_option(select, "time", text, error);
	if (result || only[0])
		return result ? result : put_option(select, "streams", only, error);
	streams = profile_page_expression(session, page);
	if (!streams)
		return error_memory(error);
	if (streams[0])
		result = put_option(select, "streams", streams, error);
	free(streams);
	return result;
}

/* Computes the profile of one run, without filtered rows. */
static int compute(struct session *session, const struct profile_page *page, const char *stream,
	struct profile *profile, struct arena *arena, struct error *error)
{
	char only[SESSION_TEXT];
	struct select *select;
	int result = select_new(&select, error);

	snprintf(only, sizeof(only), "stream=%s", stream ? stream : "");
	if (result)
		return result;
	result = put_window(session, page, stream ? only : NULL, select, error);
	if (!result)
		result = select_bind(select, session->run, error);
	if (!result)
		result = profile_compute(profile, session->run, select, page->kind, arena, error);
	select_free(select);
	if (!result)
		result = frame_filter_rows(profile, page->kind == PROFILE_TOP_DOWN, page->filters,
			page->filter_count, arena, error);
	return result;
}

/* The metrics of B stand beside those of A, and the difference behind them. */
static int compute_both(struct session *session, const struct profile_page *page, struct profile *merged,
	struct arena *arena, struct error *error)
{
	static const char *const names[DIFF_SIDES] = {"A", "B"};
	struct session *of[DIFF_SIDES] = {session, session->compare->other};
	struct profile profiles[DIFF_SIDES] = {{0}};
	int result = 0;

	for (int side = DIFF_A; side <= DIFF_B && !result; side++)
		if (page->is_whole || page->threads[0] || row_streams(of[side], page, NULL))
			result = compute(of[side], page, NULL, &profiles[side], arena, error);
	return result ? result
		      : profile_merge(merged, profiles, names, DIFF_SIDES, page->kind == PROFILE_TOP_DOWN,
				true, arena, error);
}

int profile_page_compute(struct session *session, struct profile_page *page, const char *stream,
	struct outline *outline, struct arena *arena, struct error *error)
{
	struct profile profile = {0};
	int result = !stream && profile_page_is_merged(session)
			     ? compute_both(session, page, &profile, arena, error)
			     : compute(session, page, stream, &profile, arena, error);

	return result ? result : outline_load(outline, &profile, error);
}

/* More columns than the screen has room for: what a row costs with all below it is looked at first. */
static void put_places(struct outline *outline)
{
	for (size_t i = 0; i < outline->column_count; i++)
		outline->columns[i].place = outline->columns[i].kind == OUTLINE_EXCLUSIVE;
}

uint32_t profile_page_streams(struct session *session, const struct profile_page *page, uint32_t *streams)
{
	struct select *select;
	struct error error;
	const uint32_t *chosen;
	uint32_t count = 0;

	if (!page->threads[0] && !page->is_whole)
		return row_streams(session, page, streams);
	if (select_new(&select, &error))
		return 0;
	if ((!page->threads[0] || !put_option(select, "streams", page->threads, &error)) &&
		!select_bind(select, session->run, &error)) {
		chosen = select_streams(select, &count);
		memcpy(streams, chosen, count * sizeof(*streams));
	}
	select_free(select);
	return count;
}

static void open_first(struct profile_page *page)
{
	if (page->outline.profile.count && page->outline.open.count == 0) {
		outline_hot_path(&page->outline, 0, page->hot_share);
		page->outline.hot_count = 0;
	}
	if (outline_find_hash(&page->outline, page->cursor) == UINT32_MAX && page->outline.profile.count)
		page->cursor = page->outline.hashes[0];
}

void profile_page_forget(struct profile_page *page)
{
	struct profile nothing = {0};
	struct error error;

	plot_free(page->plot); /* it was of other numbers */
	page->plot = NULL;
	outline_load(&page->outline, &nothing, &error); /* its rows are in the arena */
	arena_fini(&page->arena);
	page->is_loaded = false;
}

/* True: it is read again for the next picture. */
static bool take_trouble(struct session *session, struct profile_page *page, const struct error *error)
{
	bool is_later = deadline_read_later(session);

	snprintf(page->trouble, sizeof(page->trouble), "%s", is_later ? "reading ..." : error->text);
	return is_later;
}

bool profile_page_take(struct session *session, struct profile_page *page)
{
	struct profile_key key = key_now(session, page);
	struct error error;

	if (!page->is_loaded || memcmp(&key, &page->key, sizeof(key)) != 0) {
		profile_page_forget(page);
		page->trouble[0] = '\0';
		page->key = key;
		page->is_loaded = true;
		if (!page->is_whole && !page->threads[0] && !row_streams(session, page, NULL))
			snprintf(page->trouble, sizeof(page->trouble), "%s", SESSION_NO_STREAM);
		else if (profile_page_compute(session, page, NULL, &page->outline, &page->arena, &error))
			page->is_loaded = !take_trouble(session, page, &error);
		else if (page->outline.profile.count == 0)
			snprintf(page->trouble, sizeof(page->trouble),
				"Nothing was sampled on these streams in this window; 0 takes the whole "
				"run.");
		if (page->wants_places && page->outline.column_count) {
			put_places(&page->outline);
			page->wants_places = false;
		}
		open_first(page);
	}
	if (!page->trouble[0] && outline_list(&page->outline, &error))
		snprintf(page->trouble, sizeof(page->trouble), "%s", error.text);
	return page->trouble[0] == '\0';
}

size_t profile_page_line(const struct profile_page *page)
{
	return outline_line_of(&page->outline, outline_find_hash(&page->outline, page->cursor));
}

void profile_page_row_name(const struct profile_row *row, char *out, int cells, bool is_ascii)
{
	char raw[LABEL_BYTES];

	switch (row->kind) {
	case PROFILE_LOOP:
	case PROFILE_LINE:
		/* the name of a loop without a line says that it is one */
		snprintf(raw, sizeof(raw), row->line ? "%s%s:%u" : "%s%s",
			row->kind == PROFILE_LOOP && row->file[0] ? "loop " : "",
			path_base(row->file[0] ? row->file : row->name), row->line);
		label_stream(out, raw, cells, is_ascii);
		return;
	case PROFILE_FILE:
	case PROFILE_MODULE:
		label_stream(out, path_base(row->name), cells, is_ascii);
		return;
	case PROFILE_INLINE:
		if (cells > 8) {
			char name[LABEL_BYTES];
			label_fit(name, row->name, cells - 4, LABEL_TABLE, is_ascii);
			snprintf(out, LABEL_BYTES, "[I] %.*s", LABEL_BYTES - 8, name);
			return;
		}
		break;
	default:
		break;
	}
	label_fit(out, row->name, cells, LABEL_TABLE, is_ascii);
}

size_t profile_page_hidden(const struct session *session)
{
	const struct profile_page *page = session->profile;
	size_t count = 0;

	for (size_t i = 0; page && i < page->filter_count; i++)
		count += !page->filters[i].is_off;
	return count;
}

bool profile_page_hide(struct profile_page *page, const char *what)
{
	size_t word = strcspn(what, " "), at = page->filter_count;
	int kind = frame_filter_kind_find(what, word);
	const char *glob = what + word + strspn(what + word, " ");

	if (kind < 0 || !*glob || at == PROFILE_FILTERS || strlen(glob) >= OUTLINE_NAME)
		return false;
	page->filter_count++;
	strcpy(page->globs[at], glob);
	page->filters[at] =
		(struct frame_filter_pattern){(enum frame_filter_kind)kind, page->globs[at], false};
	page->filter_changes++;
	return true;
}

/* The next row that matches; UINT32_MAX: none does. */
static uint32_t find_row(struct profile_page *page, const struct pattern *pattern, bool is_back)
{
	uint32_t row = outline_find_hash(&page->outline, page->cursor);

	for (size_t steps = 0; steps < page->outline.profile.count; steps++) {
		row = row == UINT32_MAX ? 0 : outline_next_row(&page->outline, row, is_back);
		if (row == UINT32_MAX)
			row = is_back ? (uint32_t)page->outline.profile.count - 1 : 0;
		if (pattern_match(pattern, page->outline.profile.rows[row].name))
			return row;
	}
	return UINT32_MAX;
}

void profile_page_find(struct session *session, bool is_back)
{
	struct profile_page *page = profile_page_of(session);
	struct pattern pattern;
	uint32_t row;

	if (!page || !session->find[0] || !page->outline.profile.count)
		return;
	if (!pattern_init(&pattern, session->find)) {
		session_say(session, "'%s' is no regular expression", session->find + 1);
		return;
	}
	row = find_row(page, &pattern, is_back);
	pattern_fini(&pattern);
	if (row == UINT32_MAX) {
		session_say(session, "'%s' is in no scope's name", session->find);
		return;
	}
	outline_reveal(&page->outline, row);
	page->cursor = page->outline.hashes[row];
	session_say(session, "/%s   n next, N back", session->find);
}
