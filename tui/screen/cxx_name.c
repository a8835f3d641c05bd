/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_name.c - scans a name once, bracket by bracket. It understands demanglers' output, not C++: unknown
 * syntax stays part of the name.
 */
#include "tui/screen/cxx_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* Suffixes that tell copies of one function apart say nothing to a reader; outlined bodies do. */
static void tidy_suffix(char *name, size_t room)
{
	char *at = strstr(name, "._omp_fn.");
	size_t size = strlen(name);

	if (at) {
		char number[24];
		snprintf(number, sizeof(number), "%s", at + 9);
		snprintf(at, room - (size_t)(at - name), "{omp %s}", number);
	}
	/* Rust's ::h0123456789abcdef */
	if (size > 19 && strncmp(name + size - 19, "::h", 3) == 0 &&
		strspn(name + size - 16, "0123456789abcdef") == 16)
		name[size - 19] = '\0';
}

/* The bracket that the one at `close` closes; the begin of the name when there is none. */
static char *before_parameters(char *name, char *close)
{
	int depth = 0;

	for (; close > name; close--) {
		depth += *close == ')' ? 1 : *close == '(' ? -1 : 0;
		if (depth == 0)
			break;
	}
	return close;
}

/* outer(int)::{lambda(int)#1}::operator()(int) const  ->  outer{lambda 1} */
static void tidy_lambda(char *name, size_t room)
{
	char *lambda = strstr(name, "::{lambda(");
	char *number = lambda ? strchr(lambda, '#') : NULL;
	char digits[24], rest[CXX_NAME_BYTES];
	const char *end;

	if (!number || sscanf(number, "#%20[0-9]", digits) != 1)
		return;
	end = behind_bracket(lambda + 2);
	if (strncmp(end, "::operator()", 12) == 0)
		end += 12;
	snprintf(rest, sizeof(rest), "%s", end);
	if (lambda > name && lambda[-1] == ')')
		lambda = before_parameters(name, lambda - 1);
	snprintf(lambda, room - (size_t)(lambda - name), "{lambda %s}%s", digits, rest);
}

void cxx_name_tidy(char *name, size_t room)
{
	tidy_lambda(name, room);
	tidy_suffix(name, room);
}

/* ---- taking apart ---- */

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

/* Adds a part; one that does not fit any more takes the last one's place: the own name stays. */
static struct cxx_name_part *new_part(struct cxx_name *parts, const char *text)
{
	if (parts->count < CXX_NAME_PARTS)
		parts->count++;
	parts->part[parts->count - 1] = (struct cxx_name_part){.text = text};
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
static const char *scan(struct cxx_name *parts, struct cxx_name_part **part, const char *at)
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

void cxx_name_parse(struct cxx_name *parts, const char *name)
{
	struct cxx_name_part *part;
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
		parts->part[0] = (struct cxx_name_part){.text = name, .text_bytes = strlen(name)};
	}
}

static bool is_same(const struct cxx_name_part *a, const struct cxx_name_part *b)
{
	return a->text_bytes == b->text_bytes && memcmp(a->text, b->text, a->text_bytes) == 0;
}

size_t cxx_name_own(const struct cxx_name *parts)
{
	const struct cxx_name_part *last = &parts->part[parts->count - 1];

	if (parts->count >= 2 && (last->text[0] == '~' || is_same(last, last - 1)))
		return parts->count - 2;
	return parts->count - 1;
}

size_t cxx_name_first_argument(const struct cxx_name_part *part)
{
	const char *arguments = part->arguments;
	size_t depth = 0, size = part->arguments_bytes;

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
