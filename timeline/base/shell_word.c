/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.c - see shell_word.h. */
#include "timeline/base/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "store/base/utf8.h"

static bool is_plain(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

	return *text && *text != '=' && !text[strspn(text, plain)]; /* zsh replaces a word `=name` */
}

/* Bytes of the character at `text`, that a terminal shows; 0: it is to be escaped. */
static size_t shown(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strnlen(text, 4);

	return store_utf8_control_length(at, left) ? 0 : store_utf8_length(at, left);
}

static bool needs_escapes(const char *text)
{
	for (size_t bytes; *text; text += bytes) {
		bytes = shown(text);
		if (!bytes)
			return true;
	}
	return false;
}

/* One character, as it stands within quotes of the kind; returns the bytes of it in `text`. */
static size_t put(char piece[8], const char *text, bool is_escaped)
{
	size_t bytes = shown(text);

	if (!bytes) {
		snprintf(
			piece, 8, "\\%03o", (unsigned char)*text); /* three digits: what follows may be one */
		return 1;
	}
	if (is_escaped && (*text == '\'' || *text == '\\'))
		snprintf(piece, 8, "\\%c", *text);
	else if (*text == '\'')
		snprintf(piece, 8, "'\\''");
	else
		snprintf(piece, 8, "%.*s", (int)bytes, text);
	return bytes;
}

const char *shell_word(char *out, size_t size_bytes, const char *text)
{
	if (is_plain(text) && strlen(text) < size_bytes)
		return strcpy(out, text);
	return shell_word_quoted(out, size_bytes, text);
}

const char *shell_word_quoted(char *out, size_t size_bytes, const char *text)
{
	bool is_escaped = needs_escapes(text);
	size_t used = (size_t)snprintf(out, size_bytes, is_escaped ? "$'" : "'");

	while (*text) {
		char piece[8];
		size_t bytes = put(piece, text, is_escaped), length = strlen(piece);

		if (used + length + 2 > size_bytes)
			break;
		memcpy(out + used, piece, length);
		used += length;
		text += bytes;
	}
	strcpy(out + used, "'");
	return out;
}
