/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.c - the steps of screens.md D. A name is taken apart once into its qualified parts, each with
 * its template arguments; the steps then put fewer and fewer of them together again until the result fits.
 */
#include "tui/label.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tui/text.h"

#define LABEL_PARTS 48
#define LABEL_FRAMES 1024 /* frames of a path that are looked at */

/* One part of a qualified name: `text` up to its template arguments, `arguments` with their brackets. */
struct part {
	const char *text, *arguments;
	size_t text_bytes, arguments_bytes;
};

struct parts {
	struct part part[LABEL_PARTS];
	size_t count;
};

enum arguments { ARGUMENTS_ALL, ARGUMENTS_FIRST, ARGUMENTS_ELIDED, ARGUMENTS_NONE };

static const char *ellipsis(bool is_ascii)
{
	return is_ascii ? ".." : "\xe2\x80\xa6";
}

/* The position behind the bracket that closes the one at `at`; the end when there is none. */
static const char *behind_bracket(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (strchr("<([{", *at) && *at)
			depth++;
		else if (*at == '>' && at[-1] == '-') /* -> in an argument */
			continue;
		else if (strchr(">)]}", *at) && --depth == 0)
			return at + 1;
	}
	return at;
}

/* operator<, operator(), operator new: the position behind the operator's own characters. */
static const char *behind_operator(const char *at)
{
	static const char *const names[] = {"()", "[]", "<<=", ">>=", "<=>", "->*", "<<", ">>",
		"<=", ">=", "->", "<", ">", "==", "!=", " new[]", " delete[]", " new", " delete", NULL};

	at += strlen("operator");
	for (size_t i = 0; names[i]; i++)
		if (strncmp(at, names[i], strlen(names[i])) == 0)
			return at + strlen(names[i]);
	return at;
}

static bool is_operator(const char *at)
{
	return strncmp(at, "operator", 8) == 0 && !strchr("_abcdefghijklmnopqrstuvwxyz0123456789", at[8]);
}

/* Adds a part; the parts that do not fit any more are taken as one with the last. */
static struct part *new_part(struct parts *parts, const char *text)
{
	if (parts->count < LABEL_PARTS)
		parts->count++;
	parts->part[parts->count - 1] = (struct part){.text = text};
	return &parts->part[parts->count - 1];
}

/* Parameters end the name, unless a nested name (a lambda, a local class) follows them. */
static const char *behind_parameters(const char *at)
{
	const char *end = behind_bracket(at);

	if (strncmp(end, " const::", 8) == 0)
		end += 6;
	return strncmp(end, "::", 2) == 0 ? end : NULL;
}

/* Takes one step of the scan over a part; NULL when the name ends here. */
static const char *scan(struct parts *parts, struct part **part, const char *at)
{
	const char *next;

	if (*at == '<') {
		next = behind_bracket(at);
		(*part)->arguments = at;
		(*part)->arguments_bytes = (size_t)(next - at);
		return next;
	}
	if (*at == '(' && !((*part)->text == at && strncmp(at, "(anonymous", 10) == 0))
		return behind_parameters(at);
	if (strncmp(at, "::", 2) == 0) {
		*part = new_part(parts, at + 2);
		return at + 2;
	}
	if (*at == ' ' && at[1] == '<' && is_operator((*part)->text)) /* operator<< <char> */
		return at + 1;
	if (*at == ' ') { /* a return type, or the const of a method, stood before it */
		parts->count = 0;
		*part = new_part(parts, at + 1);
		return at + 1;
	}
	if ((*part)->text == at && is_operator(at))
		next = behind_operator(at);
	else
		next = strchr("({[", *at) ? behind_bracket(at) : at + 1;
	if (!(*part)->arguments)
		(*part)->text_bytes += (size_t)(next - at);
	return next;
}

static void parse(struct parts *parts, const char *name)
{
	struct part *part;
	const char *at = name;

	parts->count = 0;
	part = new_part(parts, name);
	/* a placeholder, or something with blanks that is no C++: one part */
	if (name[0] == '<' ||
		!(strchr(name, ':') || strchr(name, '(') || strchr(name, '<') || strchr(name, '{'))) {
		part->text_bytes = strlen(name);
		return;
	}
	while (at && *at)
		at = scan(parts, &part, at);
	while (parts->count > 1 && parts->part[parts->count - 1].text_bytes == 0)
		parts->count--;
	if (parts->part[0].text_bytes == 0 && parts->count == 1) {
		parts->part[0] = (struct part){.text = name, .text_bytes = strlen(name)};
	}
}

static bool is_same(const struct part *a, const struct part *b)
{
	return a->text_bytes == b->text_bytes && memcmp(a->text, b->text, a->text_bytes) == 0;
}

/* Where the own name begins: constructors and destructors keep their class. */
static size_t own_part(const struct parts *parts)
{
	const struct part *last = &parts->part[parts->count - 1];

	if (parts->count >= 2 && (last->text[0] == '~' || is_same(last, last - 1)))
		return parts->count - 2;
	return parts->count - 1;
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

/* Bytes of the first argument between the brackets. */
static size_t first_argument(const char *arguments, size_t size)
{
	size_t depth = 0;

	for (size_t i = 1; i + 1 < size; i++) {
		if (strchr("<([{", arguments[i]))
			depth++;
		else if (strchr(">)]}", arguments[i]) && depth)
			depth--;
		else if (arguments[i] == ',' && depth == 0)
			return i - 1;
	}
	return size - 2;
}

static void put_arguments(struct writer *w, const struct part *part, enum arguments how, bool is_ascii)
{
	size_t first;

	if (!part->arguments || how == ARGUMENTS_NONE)
		return;
	if (how == ARGUMENTS_ALL || part->arguments_bytes <= 2) {
		put(w, part->arguments, part->arguments_bytes);
		return;
	}
	put(w, "<", 1);
	first = first_argument(part->arguments, part->arguments_bytes);
	if (how == ARGUMENTS_FIRST) {
		put(w, part->arguments + 1, first);
		if (first < part->arguments_bytes - 2) {
			put(w, ", ", 2);
			put(w, ellipsis(is_ascii), strlen(ellipsis(is_ascii)));
		}
	} else {
		put(w, ellipsis(is_ascii), strlen(ellipsis(is_ascii)));
	}
	put(w, ">", 1);
}

/* Only the last part's arguments tell functions apart; those of its classes go one step earlier. */
static void render(char *out, const struct parts *parts, size_t from, enum arguments how, bool is_ascii)
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
	char *out, const struct parts *parts, size_t from, enum arguments how, int cells, bool is_ascii)
{
	render(out, parts, from, how, is_ascii);
	return text_cells(out) <= cells;
}

/* Suffixes that tell copies of one function apart say nothing to a reader; outlined bodies do. */
static void tidy(char *name)
{
	char *at = strstr(name, "._omp_fn.");
	size_t size = strlen(name);

	if (at) {
		char number[24];
		snprintf(number, sizeof(number), "%s", at + 9);
		snprintf(at, LABEL_BYTES - (size_t)(at - name), "{omp %s}", number);
	}
	/* Rust's ::h0123456789abcdef */
	if (size > 19 && strncmp(name + size - 19, "::h", 3) == 0 &&
		strspn(name + size - 16, "0123456789abcdef") == 16)
		name[size - 19] = '\0';
}

/* outer(int)::{lambda(int)#1}::operator()(int) const  ->  outer{lambda 1} */
static void tidy_lambda(char *name)
{
	char *lambda = strstr(name, "::{lambda(");
	char *number = lambda ? strchr(lambda, '#') : NULL;
	char digits[24], rest[LABEL_BYTES];
	const char *end;

	if (!number || sscanf(number, "#%20[0-9]", digits) != 1)
		return;
	end = behind_bracket(lambda + 2);
	if (strncmp(end, "::operator()", 12) == 0)
		end += 12;
	snprintf(rest, sizeof(rest), "%s", end);
	if (lambda > name && lambda[-1] == ')') { /* the parameters of the function around it */
		char *open = lambda - 1;
		int depth = 0;
		for (; open > name; open--) {
			depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
			if (depth == 0)
				break;
		}
		lambda = open;
	}
	snprintf(lambda, LABEL_BYTES - (size_t)(lambda - name), "{lambda %s}%s", digits, rest);
}

void label_fit(char *out, const char *name, int cells, enum label_place place, bool is_ascii)
{
	char clean[LABEL_BYTES];
	struct parts parts;
	size_t own;

	text_clean(clean, sizeof(clean), name, is_ascii);
	out[0] = '\0';
	if (cells <= 0)
		return;
	tidy_lambda(clean);
	tidy(clean);
	parse(&parts, clean);
	own = own_part(&parts);
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

/* What a path leaves out: `above` frames behind its root, `below` frames before its leaf. */
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
