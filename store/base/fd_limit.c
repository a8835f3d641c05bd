/* SPDX-License-Identifier: Apache-2.0 */
/* fd_limit.c - see fd_limit.h. */
#include "store/base/fd_limit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define LIST "/proc/self/fd"
#define UNLISTED_MOST 65536u /* without /proc: a limit may be a thousand times that */

/* By the list of those that are open. opendir() would allocate. */
static bool listed_close(unsigned first)
{
	_Alignas(struct dirent64) char entries[4096];
	int list = open(LIST, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long got;

	if (list < 0)
		return false;
	while ((got = syscall(SYS_getdents64, list, entries, sizeof(entries))) > 0)
		for (long at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(entries + at);
			unsigned long number = strtoul(entry->d_name, NULL, 10);

			if (entry->d_name[0] != '.' && number >= first && number != (unsigned long)list)
				close((int)number);
			at += entry->d_reclen;
		}
	close(list);
	return true;
}

void fd_close_from(unsigned first)
{
	struct rlimit limit = {UNLISTED_MOST, 0};

	if (!syscall(SYS_close_range, first, ~0u, 0u) || listed_close(first))
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned number = first; number < limit.rlim_cur && number < UNLISTED_MOST; number++)
		close((int)number);
}

void fd_limit_raise(uint64_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= count)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
