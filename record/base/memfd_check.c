/* SPDX-License-Identifier: Apache-2.0 */
/* memfd_check.c - see memfd_check.h. */
#include "record/base/memfd_check.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* A huge page may be unavailable at its first access, which then raises SIGBUS. */
static bool is_of_huge_pages(int memory)
{
	struct statfs place;

	return fstatfs(memory, &place) || place.f_type == HUGETLBFS_MAGIC;
}

bool memfd_check(int memory, int seals, size_t *bytes)
{
	int had = fcntl(memory, F_GET_SEALS);
	struct stat status;

	if (had < 0 || (had & seals) != seals || is_of_huge_pages(memory) || fstat(memory, &status))
		return false;
	*bytes = (size_t)status.st_size;
	return true;
}
