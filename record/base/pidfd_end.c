/* SPDX-License-Identifier: Apache-2.0 */
/* pidfd_end.c - see pidfd_end.h. */
#include "record/base/pidfd_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* The kernel's struct, which the headers lack. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "its size is part of the call's number");
#define GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define INFO_EXIT (UINT64_C(1) << 3)

static bool pidfd_status(int pidfd, int *status)
{
	struct pidfd_info info = {.mask = INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

/* Exit status of a process whose parent has not reaped it yet. */
static bool zombie_status(uint32_t pid, int *status)
{
	char path[32], line[1024];
	const char *behind_name, *last;
	FILE *file;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(line, sizeof(line), file);
	fclose(file);
	behind_name = is_read ? strrchr(line, ')') : NULL;
	if (!behind_name || (behind_name[2] != 'Z' && behind_name[2] != 'X'))
		return false;
	last = strrchr(behind_name, ' ');
	*status = (int)strtol(last, NULL, 10);
	return true;
}

bool pidfd_end_status(uint32_t pid, int pidfd, int *status)
{
	return pidfd_status(pidfd, status) || zombie_status(pid, status);
}

enum pidfd_end pidfd_end_how(uint32_t pid, int pidfd)
{
	int status;

	if (!pidfd_end_status(pid, pidfd, &status))
		return PIDFD_END_UNKNOWN;
	return WIFSIGNALED(status) ? PIDFD_END_BY_SIGNAL : PIDFD_END_BY_ITSELF;
}
