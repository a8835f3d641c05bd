/* SPDX-License-Identifier: Apache-2.0 */
/* proc_text.c - see proc_text.h. */
#include "record/gauges/proc_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_below(const char *root, const char *path)
{
	char whole[PROC_TEXT_PATH];

	if ((size_t)snprintf(whole, sizeof whole, "%s%s", root, path) >= sizeof whole)
		return -1;
	return open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool read_from(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t got = 1;

	while (used + 1 < room && (got = pread(fd, text + used, room - 1 - used, (off_t)used)) > 0) {
		used += (size_t)got;
		if (used < room / 2) /* files of /proc come whole: one call less */
			break;
	}
	text[used] = '\0';
	return used > 0;
}

bool proc_file_read(struct proc_file *file, const char *root, const char *path, char *text, size_t room)
{
	if (!file->fd)
		file->fd = open_below(root, path) + 1;
	if (!file->fd)
		file->fd = -1;
	if (file->fd < 0)
		return false;
	if (read_from(file->fd - 1, text, room))
		return true;
	proc_file_close(file);
	file->fd = -1;
	return false;
}

void proc_file_close(struct proc_file *file)
{
	if (file->fd > 0)
		close(file->fd - 1);
	file->fd = 0;
}

bool proc_text_read(const char *root, const char *path, char *text, size_t room)
{
	struct proc_file file = {0};
	bool is_read = proc_file_read(&file, root, path, text, room);

	proc_file_close(&file);
	return is_read;
}

bool proc_number_read(const char *root, const char *path, uint64_t *number)
{
	char text[64];
	const char *at = text;

	return proc_text_read(root, path, text, sizeof text) && proc_text_next(&at, number);
}

bool proc_text_next(const char **at, uint64_t *number)
{
	const char *digit = *at + strcspn(*at, "0123456789\n");
	uint64_t value = 0;

	if (*digit < '0' || *digit > '9')
		return false;
	for (; *digit >= '0' && *digit <= '9'; digit++)
		value = value * 10 + (uint64_t)(*digit - '0');
	*at = digit;
	*number = value;
	return true;
}

bool proc_text_number(const char *text, const char *label, uint64_t *number)
{
	size_t size = strlen(label);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, label, size))
			continue;
		line += size;
		return proc_text_next(&line, number);
	}
	return false;
}
