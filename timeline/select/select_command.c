/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_command.c - the selector as words of a command line, for `Y` and for provenance.
 */
#include "timeline/select/select_internal.h"

#include <stdio.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/base/shell_word.h"

const char *select_word(const char *value, struct arena *arena)
{
	size_t size = 4 * strlen(value) + 8; /* a byte becomes four at most */
	char *word = arena_alloc(arena, size);

	return word ? shell_word(word, size, value) : NULL;
}

/* Exact, without trailing zeros: "1.335886s". */
static const char *seconds(uint64_t ns, uint64_t origin_ns, char text[40])
{
	uint64_t from_origin = ns > origin_ns ? ns - origin_ns : 0;
	int size = snprintf(text, 32, "%llu.%09llu", (unsigned long long)(from_origin / 1000000000),
		(unsigned long long)(from_origin % 1000000000));

	while (text[size - 1] == '0')
		size--;
	if (text[size - 1] == '.')
		size--;
	strcpy(text + size, "s");
	return text;
}

static const char *value_text(const struct select *select, int option, struct arena *arena)
{
	char begin[40], end[40];

	if (option != SELECT_OPTION_TIME || !select->run)
		return select_word(select->values[option], arena);
	return arena_printf(arena, "%s..%s", seconds(select->begin_ns, run_origin_ns(select->run), begin),
		seconds(select->end_ns, run_origin_ns(select->run), end));
}

/* "top" among "by top". */
static bool is_among(const char *name, const char *names)
{
	size_t size = strlen(name), word;

	for (; *names; names += word + (names[word] == ' ')) {
		word = strcspn(names, " ");
		if (word == size && memcmp(names, name, size) == 0)
			return true;
	}
	return false;
}

char *select_command(const struct select *select, const char *names, struct arena *arena)
{
	char *command = arena_copy(arena, "", 0);

	for (int i = 0; i < SELECT_OPTION_COUNT && command; i++) {
		bool is_asked = !names || is_among(select_option_names[i], names);
		const char *value = is_asked && select->values[i] ? value_text(select, i, arena) : NULL;

		if (value)
			command = arena_printf(arena, "%s%s--%s %s", command, *command ? " " : "",
				select_option_names[i], value);
	}
	return command;
}
