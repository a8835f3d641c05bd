/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.c - see launcher.h. */
#include "record/launch/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANK "PMI_RANK="
#define ANCESTORS_MAX 64

static bool is_rank(long pid)
{
	char path[64], *word = NULL;
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getdelim(&word, &room, '\0', file) > 0)
		found = !strncmp(word, RANK, strlen(RANK));
	free(word);
	fclose(file);
	return found;
}

/* Fields 4 and 22 of /proc/PID/stat; the name before them may contain anything. */
static int stat_read(long pid, long *parent, unsigned long long *start)
{
	char path[64], text[1024], *at;
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	at = strrchr(text, ')');
	if (!at ||
		sscanf(at,
			") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			parent, start) != 2)
		return -1;
	return 0;
}

int launcher_find(char *text, size_t room)
{
	long pid = getppid(), parent;
	unsigned long long start;

	if (!getenv("PMI_RANK"))
		return -1;
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = parent) {
		if (stat_read(pid, &parent, &start))
			return -1;
		if (is_rank(pid))
			continue;
		snprintf(text, room, "%ld.%llu", pid, start);
		return 0;
	}
	return -1;
}
