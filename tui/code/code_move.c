/* SPDX-License-Identifier: Apache-2.0 */
/* code_move.c - see code_move.h. */
#include "tui/code/code_move.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/pattern.h"

#define TEXT_MOST 1000 /* cells */
#define HOT_LEAST 0.01 /* of the kernel's samples, that [ and ] stop at */

/* ---- steps ---- */

static uint32_t moved(uint32_t at, int by, uint32_t first, uint32_t last)
{
	if (by < 0)
		return at > first && at - first > (uint32_t)-by ? at - (uint32_t)-by : first;
	return last > at && last - at > (uint32_t)by ? at + (uint32_t)by : last;
}

static uint32_t last_line(struct session *session, struct code_page *page)
{
	const struct source *source = code_page_source(session, page);

	return source ? source->file.line_count : 0;
}

void code_move_by(struct session *session, struct code_page *page, int by)
{
	uint32_t last;

	if (page->side == CODE_INSTRUCTIONS) {
		code_page_set(page, moved(page->at, by, 0, page->listing.count - 1));
		return;
	}
	last = last_line(session, page);
	if (last)
		code_page_set_line(page, moved(page->line, by, 1, last));
}

void code_move_end(struct session *session, struct code_page *page, bool is_last)
{
	uint32_t last = last_line(session, page);

	if (page->side == CODE_INSTRUCTIONS)
		code_page_set(page, is_last ? page->listing.count - 1 : 0);
	else if (last)
		code_page_set_line(page, is_last ? last : 1);
}

void code_move_text(struct code_page *page, int by)
{
	int *shift = &page->shift[page->side];

	*shift += by;
	*shift = *shift < 0 ? 0 : *shift > TEXT_MOST ? TEXT_MOST : *shift;
}

/* ---- by samples ---- */

static bool is_hot(const struct code_page *page, double all)
{
	return all > 0 && all >= HOT_LEAST * page->listing.all;
}

static bool hot_instruction(struct code_page *page, bool is_back)
{
	uint32_t at = page->at;

	while (is_back ? at > 0 : at + 1 < page->listing.count) {
		at = is_back ? at - 1 : at + 1;
		if (is_hot(page, page->listing.instructions[at].all)) {
			code_page_set(page, at);
			return true;
		}
	}
	return false;
}

static bool hot_line(struct code_page *page, bool is_back)
{
	const struct code_lines *lines = code_page_lines(page);
	const struct code_line *best = NULL;

	for (uint32_t i = 0; lines && i < lines->count; i++) {
		const struct code_line *line = &lines->list[i];

		if (!is_hot(page, line->all) || line->line == page->line ||
			(line->line < page->line) != is_back)
			continue;
		if (!best || is_back) /* the last before, the first behind */
			best = line;
	}
	if (best)
		code_page_set_line(page, best->line);
	return best != NULL;
}

bool code_move_hot(struct code_page *page, bool is_back)
{
	return page->side == CODE_INSTRUCTIONS ? hot_instruction(page, is_back) : hot_line(page, is_back);
}

/* In the order of samples; of equal ones the earlier is hotter. */
static bool is_hotter(double a, uint32_t at, double than, uint32_t than_at)
{
	return a != than ? a > than : at < than_at;
}

static bool instruction_by_heat(struct code_page *page, bool wants_hotter)
{
	const struct listing_instruction *list = page->listing.instructions;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < page->listing.count; i++)
		if (i != page->at && list[i].all > 0 &&
			is_hotter(list[i].all, i, list[page->at].all, page->at) == wants_hotter &&
			(best == UINT32_MAX ||
				is_hotter(list[i].all, i, list[best].all, best) != wants_hotter))
			best = i;
	if (best != UINT32_MAX)
		code_page_set(page, best);
	return best != UINT32_MAX;
}

static bool line_by_heat(struct code_page *page, bool wants_hotter)
{
	const struct code_lines *lines = code_page_lines(page);
	const struct code_line *of = lines ? code_lines_find(lines, page->line) : NULL, *best = NULL;
	double own = of ? of->all : 0;

	for (uint32_t i = 0; lines && i < lines->count; i++) {
		const struct code_line *line = &lines->list[i];

		if (line != of && line->all > 0 &&
			is_hotter(line->all, line->line, own, page->line) == wants_hotter &&
			(!best || is_hotter(line->all, line->line, best->all, best->line) != wants_hotter))
			best = line;
	}
	if (best)
		code_page_set_line(page, best->line);
	return best != NULL;
}

bool code_move_by_heat(struct code_page *page, bool wants_hotter)
{
	return page->side == CODE_INSTRUCTIONS ? instruction_by_heat(page, wants_hotter)
					       : line_by_heat(page, wants_hotter);
}

/* ---- jumps ---- */

static void leave(struct code_page *page)
{
	if (page->trail_count == CODE_TRAIL)
		memmove(page->trail, page->trail + 1, --page->trail_count * sizeof(*page->trail));
	page->trail[page->trail_count++] = page->at;
}

static void say_no_cause(struct session *session, const struct listing_instruction *of)
{
	enum stall most = code_page_stall(of);

	if (most == STALL_NONE)
		session_say(session, "it was never seen to wait");
	else
		session_say(session, "it waits for no other instruction: %s (%s)", stall_name(most),
			stall_about(most));
}

void code_move_to_cause(struct session *session, struct code_page *page)
{
	const struct listing_instruction *of = &page->listing.instructions[page->at];
	uint32_t to;

	if (page->side == CODE_SOURCE) {
		page->side = CODE_INSTRUCTIONS;
		return;
	}
	if (!of->source_count || page->listing.sources[of->first_source].share < CODE_SHARE_LEAST) {
		say_no_cause(session, of);
		return;
	}
	to = page->listing.sources[of->first_source].at;
	if (to == page->at) {
		session_say(session, "it waits for itself, in the round of the loop before");
		return;
	}
	leave(page);
	code_page_set(page, to);
}

bool code_move_back(struct code_page *page)
{
	if (!page->trail_count)
		return false;
	code_page_set(page, page->trail[--page->trail_count]);
	return true;
}

/* ---- find ---- */

static bool line_matches(const struct source *source, uint32_t line, const struct pattern *pattern)
{
	char text[LABEL_BYTES];
	size_t size;
	const char *raw = source_file_line(&source->file, line, &size);

	snprintf(text, sizeof(text), "%.*s", (int)(size < sizeof(text) - 1 ? size : sizeof(text) - 1), raw);
	return pattern_match(pattern, text);
}

static bool find_line(
	struct session *session, struct code_page *page, const struct pattern *pattern, bool is_back)
{
	const struct source *source = code_page_source(session, page);
	uint32_t count = source ? source->file.line_count : 0, at = page->line ? page->line - 1 : 0;

	for (uint32_t steps = 0; steps < count; steps++) {
		at = is_back ? (at + count - 1) % count : (at + 1) % count;
		if (line_matches(source, at + 1, pattern)) {
			code_page_set_line(page, at + 1);
			return true;
		}
	}
	return false;
}

static bool find_instruction(struct code_page *page, const struct pattern *pattern, bool is_back)
{
	uint32_t count = page->listing.count, at = page->at;

	for (uint32_t steps = 0; steps < count; steps++) {
		at = is_back ? (at + count - 1) % count : (at + 1) % count;
		if (pattern_match(pattern, page->listing.instructions[at].text)) {
			code_page_set(page, at);
			return true;
		}
	}
	return false;
}

void code_move_find(struct session *session, bool is_back)
{
	struct code_page *page = session->code;
	struct pattern pattern;
	bool is_found;

	if (!page || !page->listing.count || !session->find[0])
		return;
	if (!pattern_init(&pattern, session->find)) {
		session_say(session, "'%s' is no regular expression", session->find);
		return;
	}
	is_found = page->side == CODE_SOURCE ? find_line(session, page, &pattern, is_back)
					     : find_instruction(page, &pattern, is_back);
	pattern_fini(&pattern);
	if (!is_found)
		session_say(session, "no %s here has '%s'",
			page->side == CODE_SOURCE ? "line" : "instruction", session->find);
}
