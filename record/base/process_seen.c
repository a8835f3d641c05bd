/* SPDX-License-Identifier: Apache-2.0 */
/* process_seen.c - see process_seen.h. */
#include "record/base/process_seen.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ssize_t proc_read(uint32_t pid, const char *name, char *to, size_t bytes)
{
	char path[48];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, to, bytes - 1);
	close(fd);
	to[got > 0 ? got : 0] = '\0';
	return got;
}

bool process_seen_look(struct process_seen *seen, uint32_t pid, bool has_ended)
{
	unsigned long user, system;
	char text[1024], words[PROCESS_SEEN_WORDS];
	const char *behind_name;
	char state;
	ssize_t got;

	if (proc_read(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	behind_name = strrchr(text, ')'); /* which may hold anything */
	if (!behind_name ||
		sscanf(behind_name + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
			&system) != 3 ||
		(has_ended && state != 'Z'))
		return false;
	seen->cpu_ns = (uint64_t)(user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	got = proc_read(pid, "cmdline", words, sizeof(words) - 1);
	if (got <= 0) /* it has ended, and its parent has not waited for it yet */
		return true;
	memset(words + got, 0, sizeof(words) - (size_t)got);
	memcpy(seen->words, words, sizeof(words));
	return true;
}
