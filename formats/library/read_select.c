/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_select.c - selectors of callers: words that each question understands anew, for the run it is about.
 */
#include "formats/library/read.h"

#include <stdlib.h>

#define BLANKS " ,\t\n"

int hpct_select_new(struct hpct_select **select, struct hpct_error *error)
{
	*select = calloc(1, sizeof **select);
	return *select ? 0 : error_memory((struct error *)error);
}

static void word_free(struct select_word *word)
{
	free(word->name);
	free(word->value);
	free(word);
}

void hpct_select_free(struct hpct_select *select)
{
	if (!select)
		return;
	while (select->words) {
		struct select_word *next = select->words->next;

		word_free(select->words);
		select->words = next;
	}
	free(select->columns);
	free(select);
}

static bool is_option(const char *name)
{
	static const char *const names[] = {
		"time", "streams", "context", "op", "metric", "min", "depth", "by", "top"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

int hpct_select_set(struct hpct_select *select, const char *name, const char *value, struct hpct_error *error)
{
	struct error *why = (struct error *)error;
	struct select_word *word, **at = &select->words;

	if (!is_option(name))
		return error_set(why, ERROR_USAGE,
			"there is no selector '%s'; say time, streams, context, op, metric, min, depth, by "
			"or top",
			name);
	word = calloc(1, sizeof *word);
	if (word) {
		word->name = strdup(name);
		word->value = strdup(value);
	}
	if (!word || !word->name || !word->value) {
		if (word)
			word_free(word);
		return error_memory(why);
	}
	while (*at)
		at = &(*at)->next;
	*at = word;
	return 0;
}

int hpct_select_columns(struct hpct_select *select, const char *names, struct hpct_error *error)
{
	char *copy = names ? strdup(names) : NULL;

	if (names && !copy)
		return error_memory((struct error *)error);
	free(select->columns);
	select->columns = copy;
	return 0;
}

int read_select_bind(
	struct program_call *call, const struct hpct_select *select, unsigned uses, struct error *error)
{
	int rc = select_new(&call->select, error);

	if (rc < 0)
		return rc;
	question_select_take(call->select, uses);
	for (const struct select_word *word = select ? select->words : NULL; word && rc == 0;
		word = word->next)
		rc = strcmp(word->name, "metric") == 0
			     ? select_metrics(call->select, word->value, error)
			     : select_option(call->select, word->name, word->value, error);
	return rc < 0 ? rc : select_bind(call->select, call->run, error);
}

static size_t find(const struct column_spec *specs, size_t count, const char *name, size_t size)
{
	size_t at = 0;

	while (at < count && (strlen(specs[at].name) != size || memcmp(specs[at].name, name, size) != 0))
		at++;
	return at;
}

int read_select_wanted(const bool **wanted, const struct hpct_select *select, const char *question,
	const struct column_spec *specs, size_t count, struct arena *arena, struct error *error)
{
	const char *at = select ? select->columns : NULL;
	bool *chosen;

	*wanted = NULL;
	if (!at)
		return 0;
	chosen = arena_calloc(arena, count + 1, sizeof *chosen);
	if (!chosen)
		return error_memory(error);
	for (at += strspn(at, BLANKS); *at; at += strspn(at, BLANKS)) {
		size_t size = strcspn(at, BLANKS), column = find(specs, count, at, size);

		if (column == count)
			return error_set(error, ERROR_USAGE, "%s has no column '%.*s'; its columns are in %s",
				question, (int)size, at, "hpct-sql(1)");
		chosen[column] = true;
		at += size;
	}
	*wanted = chosen;
	return 0;
}
