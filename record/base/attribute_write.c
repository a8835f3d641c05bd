/* SPDX-License-Identifier: Apache-2.0 */
/* attribute_write.c - see attribute_write.h. */
#include "record/base/attribute_write.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/wait.h>

#include "store/base/escape.h"

void attribute_write(struct store_bytes *out, const char *key, const char *value)
{
	if (out->size)
		store_bytes_put(out, ",", 1);
	store_bytes_put(out, key, strlen(key));
	store_bytes_put(out, "=", 1);
	escape_attribute(out, value, strlen(value));
}

void attribute_write_number(struct store_bytes *out, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", (unsigned long)value);
	attribute_write(out, key, text);
}

void attribute_write_end(struct store_bytes *out, int status)
{
	if (WIFSIGNALED(status))
		attribute_write_number(out, "signal", (uint64_t)WTERMSIG(status));
	else if (WIFEXITED(status))
		attribute_write_number(out, "exit", (uint64_t)WEXITSTATUS(status));
}

static bool word_is_plain(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr("_@%+=:,./-", word[i]))
			return false;
	return length > 0;
}

static void word_quote(struct store_bytes *out, const char *word, size_t length)
{
	if (word_is_plain(word, length)) {
		store_bytes_put(out, word, length);
		return;
	}
	store_bytes_put(out, "'", 1);
	for (size_t i = 0; i < length; i++)
		if (word[i] == '\'')
			store_bytes_put(out, "'\\''", 4);
		else
			store_bytes_put(out, &word[i], 1);
	store_bytes_put(out, "'", 1);
}

void command_quote(struct store_bytes *out, const char *words, size_t size_bytes)
{
	size_t at = 0;

	while (at < size_bytes && words[at]) {
		size_t length = strnlen(words + at, size_bytes - at);

		if (at)
			store_bytes_put(out, " ", 1);
		word_quote(out, words + at, length);
		at += length + 1;
	}
	store_bytes_put(out, "", 1);
}
