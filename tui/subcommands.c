/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subcommands.c - finds similar words by edit distance: a typing error is one or two edits.
 */
#include "tui/subcommands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 64

void subcommands_add(struct subcommands *subcommands, const char *name)
{
	char **names = realloc(subcommands->names, (subcommands->count + 1) * sizeof(*names));

	if (!names)
		return;
	subcommands->names = names;
	names[subcommands->count] = strdup(name);
	subcommands->count += names[subcommands->count] != NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void subcommands_sort(struct subcommands *subcommands)
{
	if (subcommands->count)
		qsort(subcommands->names, subcommands->count, sizeof(*subcommands->names), compare);
}

void subcommands_fini(struct subcommands *subcommands)
{
	for (size_t i = 0; i < subcommands->count; i++)
		free(subcommands->names[i]);
	free(subcommands->names);
	*subcommands = (struct subcommands){0};
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned subcommands_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t size_a = strnlen(a, WORD_MAX), size_b = strnlen(b, WORD_MAX);

	for (size_t j = 0; j <= size_b; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= size_a; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= size_b; j++) {
			row[j] = least(last[j] + 1, row[j - 1] + 1);
			row[j] = least(row[j], last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before, before = last, last = row, row = spare;
	}
	return last[size_b];
}

void subcommands_near(const struct subcommands *subcommands, const char *word, char *out, size_t size_bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < subcommands->count; i++) {
		const char *name = subcommands->names[i];
		unsigned limit = strlen(word) <= 3 ? 1 : 2;
		bool is_near = subcommands_distance(word, name) <= limit ||
			       (strlen(word) >= 3 && strncmp(name, word, 3) == 0 &&
				       strncmp(name, word, strlen(word)) == 0);
		if (is_near && used + strlen(name) + 3 < size_bytes)
			used += (size_t)snprintf(
				out + used, size_bytes - used, "%s%s", used ? ", " : "", name);
	}
}
