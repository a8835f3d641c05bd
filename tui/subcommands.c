/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subcommands.c - near matches by edit distance: a typing error is one or two edits away.
 */
#include "tui/subcommands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 64

void verbs_add(struct verbs *verbs, const char *name)
{
	char **names = realloc(verbs->names, (verbs->count + 1) * sizeof(*names));

	if (!names)
		return;
	verbs->names = names;
	names[verbs->count] = strdup(name);
	verbs->count += names[verbs->count] != NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void verbs_sort(struct verbs *verbs)
{
	if (verbs->count)
		qsort(verbs->names, verbs->count, sizeof(*verbs->names), compare);
}

void verbs_fini(struct verbs *verbs)
{
	for (size_t i = 0; i < verbs->count; i++)
		free(verbs->names[i]);
	free(verbs->names);
	*verbs = (struct verbs){0};
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned verbs_distance(const char *a, const char *b)
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

void verbs_near(const struct verbs *verbs, const char *word, char *out, size_t size_bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < verbs->count; i++) {
		const char *name = verbs->names[i];
		unsigned limit = strlen(word) <= 3 ? 1 : 2;
		bool is_near = verbs_distance(word, name) <= limit ||
			       (strlen(word) >= 3 && strncmp(name, word, 3) == 0 &&
				       strncmp(name, word, strlen(word)) == 0);
		if (is_near && used + strlen(name) + 3 < size_bytes)
			used += (size_t)snprintf(
				out + used, size_bytes - used, "%s%s", used ? ", " : "", name);
	}
}
