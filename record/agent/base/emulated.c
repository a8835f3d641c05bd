/* SPDX-License-Identifier: Apache-2.0 */
/* emulated.c - see emulated.h. Emulators intercept /proc/self, but not /proc/thread-self. */
#include "record/agent/base/emulated.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 512

static const char *const libraries[] = {"/hpct-agent.so", "/hpct-agent-memleak.so"};

static bool is_other_program(void)
{
	char told[PATH_BYTES], real[PATH_BYTES];
	ssize_t told_bytes = readlink("/proc/self/exe", told, sizeof(told));
	ssize_t real_bytes = readlink("/proc/thread-self/exe", real, sizeof(real));

	return told_bytes > 0 && real_bytes > 0 &&
	       (told_bytes != real_bytes || memcmp(told, real, (size_t)told_bytes) != 0);
}

/* "55d0-55d4 r--p 00000000 fe:01 1234   /usr/lib/hpct/hpct-agent.so" */
static bool is_begin_of(const char *library, const char *line, size_t bytes)
{
	size_t name = strlen(library);
	const char *offset;

	if (bytes < name || memcmp(line + bytes - name, library, name) != 0)
		return false;
	offset = memchr(line, ' ', bytes);
	offset = offset ? memchr(offset + 1, ' ', (size_t)(line + bytes - offset - 1)) : NULL;
	return offset && (size_t)(line + bytes - offset) > 9 && !memcmp(offset, " 00000000 ", 10);
}

/* How often the first page of the library is mapped. */
static unsigned libraries_count(int fd)
{
	char text[4096], line[PATH_BYTES];
	size_t length = 0;
	unsigned count = 0;
	ssize_t got;

	while ((got = syscall(SYS_read, fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] == '\n') {
				count += is_begin_of(libraries[0], line, length) ||
					 is_begin_of(libraries[1], line, length);
				length = 0;
			} else if (length < sizeof(line)) {
				line[length++] = text[i];
			}
		}
	return count;
}

bool emulated_is_measured(void)
{
	unsigned count;
	int fd;

	if (!is_other_program())
		return false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	count = libraries_count(fd);
	syscall(SYS_close, fd);
	return count > 1;
}
