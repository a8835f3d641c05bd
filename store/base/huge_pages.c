/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages.c - see huge_pages.h. */
#include "store/base/huge_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void huge_pages_advise(void *memory, size_t bytes)
{
	int before = errno;
	uintptr_t at;
	size_t page;

	if (!memory || bytes < HUGE_PAGES_BYTES)
		return;
	/* Whole pages, so that a map of malloc's stays one and realloc() can move it without a copy. */
	page = (size_t)sysconf(_SC_PAGESIZE);
	at = (uintptr_t)memory / page * page;
	madvise((void *)at, ((uintptr_t)memory + bytes - at + page - 1) / page * page, MADV_HUGEPAGE);
	errno = before;
}
