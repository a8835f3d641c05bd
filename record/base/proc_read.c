/* SPDX-License-Identifier: Apache-2.0 */
/* proc_read.c - see proc_read.h. */
#include "record/base/proc_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/hash.h"

size_t proc_read(uint32_t pid, const char *name, char *text, size_t room)
{
	char path[96];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	text[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, room - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

char proc_read_state(uint32_t pid, uint32_t tid)
{
	char name[32], text[512];
	const char *behind_name;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	proc_read(pid, name, text, sizeof(text));
	behind_name = strrchr(text, ')'); /* which may hold anything */
	return behind_name && behind_name[1] == ' ' ? behind_name[2] : '\0';
}

static bool lives(uint32_t pid, uint32_t tid)
{
	char state = proc_read_state(pid, tid);

	return state && state != 'Z' && state != 'X';
}

uint32_t proc_read_living(uint32_t pid)
{
	uint32_t found = lives(pid, pid) ? pid : 0;
	struct dirent *entry;
	char path[40];
	DIR *list;

	if (found)
		return found;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	list = opendir(path);
	while (list && !found && (entry = readdir(list))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		found = tid && lives(pid, tid) ? tid : 0;
	}
	if (list)
		closedir(list);
	return found;
}

uint64_t proc_read_program(uint32_t pid)
{
	char vector[1024];
	size_t bytes = proc_read(pid, "auxv", vector, sizeof(vector));

	return bytes ? store_hash64(vector, bytes, 0) | 1 : 0;
}
