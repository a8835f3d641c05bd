/* SPDX-License-Identifier: Apache-2.0 */
/* python_places.c - see python_places.h. */
#include "record/process/python_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS (EVENT_NAMES_DATA / 8)

static bool places_grow(struct python_places *places, uint32_t number)
{
	uint32_t room = places->capacity ? places->capacity : 1024;
	uint32_t *grown;

	while (room <= number)
		room *= 2;
	if (room == places->capacity)
		return true;
	grown = realloc(places->texts, room * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + places->capacity, 0, (room - places->capacity) * sizeof(*grown));
	places->texts = grown;
	places->capacity = room;
	return true;
}

/* The text of an entry, with its first line behind it; 0: it is none. */
static uint32_t text_of(const char *names, struct store_writer *writer, uint32_t number)
{
	char text[EVENT_NAME_BYTES_MAX + 16];
	struct event_name name;
	uint64_t at = 8 * (uint64_t)number, room = EVENT_NAMES_DATA - at - sizeof(name);
	int line;

	if (EVENT_NAMES_DATA - at < sizeof(name))
		return 0;
	memcpy(&name, names + at, sizeof(name));
	if (!name.bytes || name.bytes > EVENT_NAME_BYTES_MAX || name.bytes > room)
		return 0;
	memcpy(text, names + at + sizeof(name), name.bytes);
	if (!memchr(text, '\0', name.bytes))
		return 0;
	line = snprintf(text + name.bytes, sizeof(text) - name.bytes, "%c%u", '\0', name.line);
	return store_writer_text(writer, text, name.bytes + (line > 0 ? (uint32_t)line : 0));
}

uint64_t python_place(
	struct python_places *places, const char *names, struct store_writer *writer, uint64_t offset)
{
	uint64_t number = offset >> EVENT_PYTHON_LINE_BITS, line = offset & EVENT_PYTHON_LINE_MAX;
	uint32_t text = 0;

	if (names && number && number < NUMBERS && places_grow(places, (uint32_t)number)) {
		if (!places->texts[number])
			places->texts[number] = text_of(names, writer, (uint32_t)number);
		text = places->texts[number];
	}
	return (uint64_t)text << STORE_PYTHON_LINE_BITS | line;
}

void python_places_fini(struct python_places *places)
{
	free(places->texts);
	*places = (struct python_places){0};
}
