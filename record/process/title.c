/* SPDX-License-Identifier: Apache-2.0 */
/* title.c - see title.h. */
#include "record/process/title.h"

#include <string.h>

#include "store/base/utf8.h"

/* Words divided by one blank each, cut to fit. */
static void join(char out[TITLE_BYTES], const char *words, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size && used + 1 < TITLE_BYTES; i++) {
		bool is_blank = words[i] == '\0' || words[i] == ' ';

		if (!is_blank)
			out[used++] = words[i];
		else if (used && out[used - 1] != ' ')
			out[used++] = ' ';
	}
	while (used && out[used - 1] == ' ')
		used--;
	out[used] = '\0';
}

static bool is_same_word(const char *a, const char *b)
{
	size_t size = strcspn(a, " ");

	return size == strcspn(b, " ") && memcmp(a, b, size) == 0;
}

/* Of a program that the loader or an emulator was called with, the kernel's command line has their words
 * before those that the program sees: "/lib64/ld-linux-x86-64.so.2 ./program 3". */
static bool is_called_through(const char *now, const char *command)
{
	size_t first = strcspn(now, " ");

	if (first && now[first - 1] == ':')
		return false;
	for (const char *at = now; *at; at += strspn(at, " ")) {
		if (is_same_word(at, command) && strncmp(at, command, strlen(at)) == 0)
			return true;
		at += strcspn(at, " ");
	}
	return false;
}

/* Bytes of the leading words that both have, and how many those are. */
static size_t common_words(const char *a, const char *b, unsigned *count)
{
	size_t same = 0, at = 0;

	for (*count = 0; a[at] && is_same_word(a + at, b + at); (*count)++) {
		at += strcspn(a + at, " ");
		same = at;
		if (!a[at] || !b[at])
			return (*count)++, same;
		at++;
	}
	return same;
}

void title_text(char text[TITLE_BYTES], const char *words, size_t size)
{
	join(text, words, size);
	store_utf8_clean(text);
}

bool title_take(char title[TITLE_BYTES], const char begun[TITLE_BYTES], const char *words, size_t size)
{
	char now[TITLE_BYTES];
	unsigned count;
	size_t same;

	title_text(now, words, size);
	if (!now[0] || is_same_word(now, begun) || is_called_through(now, begun) || strcmp(title, now) == 0)
		return false;
	same = common_words(title, now, &count);
	if (count < 2) { /* another role */
		memcpy(title, now, TITLE_BYTES);
		return true;
	}
	if (!title[same])
		return false;
	title[same] = '\0';
	return true;
}
