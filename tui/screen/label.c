/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.c - the steps of tui/SCREEN.md, "Names". Takes a name apart once (cxx_name.h), then joins fewer and
 * fewer of its parts until the result fits.
 */
#include "tui/screen/label.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/cxx_name.h"
#include "tui/screen/text.h"

#define LABEL_FRAMES 1024 /* frames of a path that are looked at */

enum arguments { ARGUMENTS_ALL, ARGUMENTS_FIRST, ARGUMENTS_ELIDED, ARGUMENTS_NONE };

static const char *ellipsis(bool is_ascii)
{
	return is_ascii ? ".." : "\xe2\x80\xa6";
}

struct writer {
	char *out;
	size_t used;
};

static void put(struct writer *w, const char *bytes, size_t size)
{
	if (size > LABEL_BYTES - 1 - w->used)
		size = LABEL_BYTES - 1 - w->used;
	memcpy(w->out + w->used, bytes, size);
	w->used += size;
	w->out[w->used] = '\0';
}

static void put_arguments(
	struct writer *w, const struct cxx_name_part *part, enum arguments how, bool is_ascii)
{
	size_t first;

	if (!part->arguments || how == ARGUMENTS_NONE)
		return;
	if (how == ARGUMENTS_ALL || part->arguments_bytes <= 2) {
		put(w, part->arguments, part->arguments_bytes);
		return;
	}
	put(w, "<", 1);
	first = cxx_name_first_argument(part);
	if (how == ARGUMENTS_FIRST)
		put(w, part->arguments + 1, first);
	if (how == ARGUMENTS_FIRST && first < part->arguments_bytes - 2)
		put(w, ", ", 2);
	if (how == ARGUMENTS_ELIDED || first < part->arguments_bytes - 2)
		put(w, ellipsis(is_ascii), strlen(ellipsis(is_ascii)));
	put(w, ">", 1);
}

/* The parts from `from` on. */
static void render(char *out, const struct cxx_name *parts, size_t from, enum arguments how, bool is_ascii)
{
	struct writer w = {.out = out};

	out[0] = '\0';
	for (size_t i = from; i < parts->count; i++) {
		if (i > from)
			put(&w, "::", 2);
		put(&w, parts->part[i].text, parts->part[i].text_bytes);
		put_arguments(&w, &parts->part[i], how, is_ascii);
	}
}

/* Cells 60 % of the head and 40 % of the tail; below 12 the head alone. */
static void cut_middle(char *text, int cells, bool is_ascii)
{
	char whole[LABEL_BYTES];
	int room = cells - (is_ascii ? 2 : 1), head = (room * 6 + 5) / 10;

	if (text_cells(text) <= cells)
		return;
	if (cells < 12) {
		text[text_head(text, cells)] = '\0';
		return;
	}
	memcpy(whole, text, strlen(text) + 1);
	snprintf(text, LABEL_BYTES, "%.*s%s%s", (int)text_head(whole, head), whole, ellipsis(is_ascii),
		whole + strlen(whole) - text_tail(whole, room - head));
}

/* Renders into out and says whether that fits. */
static bool try_step(
	char *out, const struct cxx_name *parts, size_t from, enum arguments how, int cells, bool is_ascii)
{
	render(out, parts, from, how, is_ascii);
	return text_cells(out) <= cells;
}

/* "py::NAME:FOLDERS/FILE", as Python's functions are named: folders go first, then the file, never the name.
 */
static bool fit_python(char *out, char *clean, int cells, enum label_place place, bool is_ascii)
{
	char *name = clean + 4, *file = strncmp(clean, "py::", 4) != 0 ? NULL : strchr(name, ':'), *slash;

	if (!file)
		return false;
	slash = strrchr(file, '/');
	snprintf(out, LABEL_BYTES, "%s", clean);
	if (place == LABEL_TABLE && text_cells(out) <= cells)
		return true;
	snprintf(out, LABEL_BYTES, "py::%.*s:%s", (int)(file - name), name, slash ? slash + 1 : file + 1);
	if (place == LABEL_TABLE && text_cells(out) <= cells)
		return true;
	snprintf(out, LABEL_BYTES, "py::%.*s", (int)(file - name), name);
	if (text_cells(out) <= cells)
		return true;
	snprintf(out, LABEL_BYTES, "%.*s", (int)(file - name), name);
	cut_middle(out, cells, is_ascii);
	return true;
}

void label_fit(char *out, const char *name, int cells, enum label_place place, bool is_ascii)
{
	char clean[LABEL_BYTES];
	struct cxx_name parts;
	size_t own;

	text_clean(clean, sizeof(clean), name, is_ascii);
	out[0] = '\0';
	if (cells <= 0 || fit_python(out, clean, cells, place, is_ascii))
		return;
	cxx_name_tidy(clean, sizeof(clean));
	cxx_name_parse(&parts, clean);
	own = cxx_name_own(&parts);
	if (place == LABEL_TABLE && (try_step(out, &parts, 0, ARGUMENTS_ALL, cells, is_ascii) ||
					    try_step(out, &parts, 0, ARGUMENTS_FIRST, cells, is_ascii)))
		return;
	if (place == LABEL_TABLE)
		for (size_t from = 0; from <= own; from++)
			if (try_step(out, &parts, from, ARGUMENTS_ELIDED, cells, is_ascii))
				return;
	if (place == LABEL_STACK && try_step(out, &parts, own, ARGUMENTS_ELIDED, cells, is_ascii))
		return;
	if (place == LABEL_CELL && try_step(out, &parts, 0, ARGUMENTS_NONE, cells, is_ascii))
		return;
	if (try_step(out, &parts, own, ARGUMENTS_NONE, cells, is_ascii))
		return;
	cut_middle(out, cells, is_ascii);
}

/* Cuts from the left, with an ellipsis where one fits. */
static void keep_end(char *text, int cells, bool is_ascii)
{
	int mark = is_ascii ? 2 : 1;
	size_t tail;

	if (text_cells(text) <= cells)
		return;
	if (cells <= mark) {
		text[text_head(text, cells > 0 ? cells : 0)] = '\0';
		return;
	}
	tail = text_tail(text, cells - mark);
	if (strlen(ellipsis(is_ascii)) + tail >= LABEL_BYTES)
		return;
	memmove(text + strlen(ellipsis(is_ascii)), text + strlen(text) - tail, tail + 1);
	memcpy(text, ellipsis(is_ascii), strlen(ellipsis(is_ascii)));
}

void label_stream(char *out, const char *name, int cells, bool is_ascii)
{
	const char *number;
	int room;

	text_clean(out, LABEL_BYTES, name, is_ascii);
	number = strrchr(out, ' ');
	room = number ? cells - text_cells(number) : 0;
	if (text_cells(out) > cells && room > 1 && strchr(out, ' ') == number &&
		strspn(number, " 0123456789.") == strlen(number)) {
		size_t head = text_head(out, room); /* "work 12": the number tells streams apart */
		memmove(out + head, number, strlen(number) + 1);
		return;
	}
	keep_end(out, cells, is_ascii);
}

void label_program(char *out, const char *name, int cells, bool is_ascii)
{
	const char *role;
	int room;

	text_clean(out, LABEL_BYTES, name, is_ascii);
	role = strchr(out, ' ');
	room = role ? cells - text_cells(role) : 0;
	if (text_cells(out) <= cells)
		return;
	if (room >= 1) {
		size_t head = text_head(out, room);
		memmove(out + head, role, strlen(role) + 1);
		return;
	}
	if (role)
		memmove(out, role + 1, strlen(role + 1) + 1);
	if (text_cells(out) > cells)
		cut_middle(out, cells, is_ascii);
}

void label_file(char *out, const char *path, int line, int cells, bool is_ascii)
{
	char clean[LABEL_BYTES], number[16] = "";
	const char *from = clean;

	text_clean(clean, sizeof(clean), path, is_ascii);
	if (line > 0)
		snprintf(number, sizeof(number), ":%d", line);
	while (text_cells(from) + (int)strlen(number) > cells && strchr(from + 1, '/'))
		from = strchr(from + 1, '/');
	if (from != clean)
		from++;
	snprintf(out, LABEL_BYTES, "%.*s%s", LABEL_BYTES - 17, from, number);
	keep_end(out, cells, is_ascii);
}

/* Frames that a path leaves out: `above` after its root, `below` before its leaf. */
struct path_cut {
	size_t above, below;
};

/* Walks the frames that stay; frame index or SIZE_MAX for an ellipsis. Returns how many there are. */
static size_t path_pieces(size_t *pieces, size_t count, struct path_cut cut)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == 1 && cut.above) {
			pieces[used++] = SIZE_MAX;
			i += cut.above - 1;
		} else if (i + 1 == count - cut.below && cut.below) {
			pieces[used++] = SIZE_MAX;
			i += cut.below - 1;
		} else {
			pieces[used++] = i;
		}
	}
	return used;
}

static void join_path(
	char *out, const char *const *frames, size_t count, size_t at, struct path_cut cut, bool is_ascii)
{
	size_t pieces[LABEL_FRAMES];
	size_t used = path_pieces(pieces, count, cut);
	struct writer w = {.out = out};
	char frame[LABEL_BYTES];

	out[0] = '\0';
	for (size_t i = 0; i < used; i++) {
		if (pieces[i] == SIZE_MAX)
			snprintf(frame, sizeof(frame), "%s", ellipsis(is_ascii));
		else
			label_fit(frame, frames[pieces[i]], 60, LABEL_CELL, is_ascii);
		put(&w, "/", i > 0);
		put(&w, "[", pieces[i] == at);
		put(&w, frame, strlen(frame));
		put(&w, "]", pieces[i] == at);
	}
}

/* Its width without making it: deep paths would cost a square of their depth. */
static int path_cells(const int *widths, size_t count, struct path_cut cut, bool is_ascii)
{
	size_t pieces[LABEL_FRAMES];
	size_t used = path_pieces(pieces, count, cut);
	int cells = 2;

	for (size_t i = 0; i < used; i++)
		cells += (i > 0) + (pieces[i] == SIZE_MAX ? is_ascii ? 2 : 1 : widths[pieces[i]]);
	return cells;
}

void label_path(char *out, const char *const *frames, size_t count, size_t at, int cells, bool is_ascii)
{
	int widths[LABEL_FRAMES];
	struct path_cut cut = {0, 0}, most;

	out[0] = '\0';
	if (count == 0)
		return;
	if (at >= count)
		at = count - 1;
	if (count > LABEL_FRAMES) { /* the frames around the bracket */
		size_t skip = at < LABEL_FRAMES / 2 ? 0 : at - LABEL_FRAMES / 2;
		frames += skip, at -= skip;
		count = count - skip < LABEL_FRAMES ? count - skip : LABEL_FRAMES;
	}
	most = (struct path_cut){at > 1 ? at - 1 : 0, count - at > 2 ? count - at - 2 : 0};
	for (size_t i = 0; i < count; i++) {
		label_fit(out, frames[i], 60, LABEL_CELL, is_ascii);
		widths[i] = text_cells(out);
	}
	while (path_cells(widths, count, cut, is_ascii) > cells) {
		if (cut.below < most.below)
			cut.below++;
		else if (cut.above < most.above)
			cut.above++;
		else
			break;
	}
	if (path_cells(widths, count, cut, is_ascii) <= cells) {
		join_path(out, frames, count, at, cut, is_ascii);
		return;
	}
	join_path(out, frames + at, 1, 0, (struct path_cut){0, 0}, is_ascii);
	cut_middle(out, cells, is_ascii);
}
