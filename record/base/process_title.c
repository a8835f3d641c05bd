/* SPDX-License-Identifier: Apache-2.0 */
/* process_title.c - see process_title.h. */
#include "record/base/process_title.h"

#include <stddef.h>
#include <string.h>

static char *first;
static size_t room;

void process_title_init(char **argv)
{
	char **last = argv;

	if (!*argv)
		return;
	while (last[1])
		last++;
	first = *argv;
	room = (size_t)(*last + strlen(*last) + 1 - first);
}

void process_title_set(const char *name)
{
	size_t length = strlen(name);

	if (!room)
		return;
	memset(first, 0, room);
	memcpy(first, name, length < room ? length : room - 1);
}

void process_title_keep(const char *word)
{
	size_t before = (size_t)(word - first);

	if (before >= room)
		return;
	memmove(first, word, room - before);
	memset(first + room - before, 0, before);
}
