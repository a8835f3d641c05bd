/* SPDX-License-Identifier: Apache-2.0 */
/* proc_read.c - see proc_read.h. */
#include "record/base/proc_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
