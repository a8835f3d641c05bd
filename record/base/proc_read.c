/* SPDX-License-Identifier: Apache-2.0 */
/* proc_read.c - see proc_read.h. */
#include "record/base/proc_read.h"

#include <fcntl.h>
#include <stdio.h>
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
