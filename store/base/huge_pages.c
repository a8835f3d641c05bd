/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages.c - see huge_pages.h. */
#include "store/base/huge_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void huge_pages_advise(void *memory, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Whole pages, so that a map of malloc's stays one and realloc() can move it without a copy. */
	const uintptr_t at = (uintptr_t)memory / page * page;
	int before = errno;

	if (!memory || bytes < HUGE_PAGES_BYTES)
		return;
	madvise((void *)at, ((uintptr_t)memory + bytes - at + page - 1) / page * page, MADV_HUGEPAGE);
	errno = before;
}
