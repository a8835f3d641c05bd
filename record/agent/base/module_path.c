/* SPDX-License-Identifier: Apache-2.0 */
/* module_path.c - see module_path.h. */
#include "record/agent/base/module_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY_BYTES 432

static char first[DIRECTORY_BYTES]; /* where the process began; "": not known */

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
		directory[0] = '\0'; /* longer than that, or out of reach */
}

void module_path_init(void)
{
	directory_read(first);
}

/* False: it does not fit, or nothing is there. */
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

/* It was loaded a moment ago, or, where the process has changed its directory, at its begin. */
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
