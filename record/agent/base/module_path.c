/* SPDX-License-Identifier: Apache-2.0 */
/* module_path.c - see module_path.h. */
#include "record/agent/base/module_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY_BYTES 432

static char first[DIRECTORY_BYTES]; /* initial working directory; "": unknown */

static const char *plain(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		for (name += 2; *name == '/'; name++)
			;
	return name;
}

static void directory_read(char directory[DIRECTORY_BYTES])
{
	if (syscall(SYS_getcwd, directory, (size_t)DIRECTORY_BYTES) <= 0 || directory[0] != '/')
		directory[0] = '\0'; /* too long, or unreachable */
}

void module_path_init(void)
{
	directory_read(first);
}

/* False: too long, or no such file. */
static bool join(char *path, size_t bytes, const char *directory, const char *name)
{
	size_t length = strlen(directory);

	if (!length || length + strlen(name) + 2 > bytes)
		return false;
	strcpy(path, directory);
	if (path[length - 1] != '/')
		path[length++] = '/';
	strcpy(path + length, name);
	return !syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
}

/* The name is relative to the current directory, or, if the process has changed that, to the initial one. */
void module_path_set(char *path, size_t bytes, const char *name)
{
	char now[DIRECTORY_BYTES];

	if (name[0] && name[0] != '/') {
		directory_read(now);
		if (join(path, bytes, now, plain(name)) || join(path, bytes, first, plain(name)))
			return;
	}
	strncpy(path, name, bytes - 1);
	path[bytes - 1] = '\0';
}

bool module_path_is(const char *path, size_t bytes, const char *name)
{
	size_t length = strnlen(path, bytes), tail;

	if (!strncmp(path, name, bytes - 1))
		return true;
	if (!name[0] || name[0] == '/' || path[0] != '/')
		return false;
	name = plain(name);
	tail = strlen(name);
	return tail < length && path[length - tail - 1] == '/' && !memcmp(path + length - tail, name, tail);
}
