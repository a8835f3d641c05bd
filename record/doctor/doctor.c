/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - helpers of the checks, see doctor.h. */
#include "record/doctor/doctor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY_WAIT_MS 5000
#define FIRST_USER_NAMESPACE 0xEFFFFFFDu /* the kernel's PROC_USER_INIT_INO */

void doctor_say(struct doctor_row *row, enum doctor_state state, const char *remedy, const char *reason, ...)
{
	va_list list;

	row->state = state;
	snprintf(row->remedy, sizeof(row->remedy), "%s", remedy ? remedy : "");
	va_start(list, reason);
	vsnprintf(row->reason, sizeof(row->reason), reason, list);
	va_end(list);
}

bool doctor_line(const char *path, char *line, unsigned room)
{
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, (int)room, file);

	if (file)
		fclose(file);
	if (is_read)
		line[strcspn(line, "\n")] = '\0';
	return is_read;
}

long doctor_number(const char *path, long missing)
{
	char line[64], *end = line;
	long number = doctor_line(path, line, sizeof(line)) ? strtol(line, &end, 10) : missing;

	return end == line ? missing : number;
}

bool doctor_has(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {{0}};
	struct stat status;

	if (syscall(SYS_capget, &header, sets) || !(sets[capability / 32].effective & 1u << capability % 32))
		return false;
	return stat("/proc/self/ns/user", &status) || status.st_ino == FIRST_USER_NAMESPACE;
}

/* Output that a library prints while loading must not reach ours. */
static void library_load(const char *name, int answer)
{
	struct link_map *map = NULL;
	int null = open("/dev/null", O_RDWR);
	void *library;

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map) && map &&
		write(answer, map->l_name, strlen(map->l_name)) > 0)
		_exit(0);
	_exit(1);
}

bool doctor_library(const char *name, char *path, unsigned room)
{
	struct pollfd ready = {.events = POLLIN};
	ssize_t got = -1;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		library_load(name, ends[1]);
	close(ends[1]);
	ready.fd = ends[0];
	if (child > 0 && poll(&ready, 1, LIBRARY_WAIT_MS) > 0)
		got = read(ends[0], path, room - 1);
	close(ends[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	path[got > 0 ? got : 0] = '\0';
	return got > 0;
}
