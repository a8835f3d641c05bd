/* SPDX-License-Identifier: Apache-2.0 */
/* python_memory.c - see python_memory.h. */
#include "record/agent/python/python_memory.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOW_NONE 0x7fffffff /* no way to change a mask: the kernel reads the set, then refuses */

/* EINVAL: the page was read; EFAULT: it cannot be. Cheaper than process_vm_readv, and never forbidden. */
static bool is_readable(uint64_t address)
{
	int error = errno;
	bool is_faulty;

	is_faulty = syscall(SYS_rt_sigprocmask, HOW_NONE, address, NULL, 8) < 0 && errno == EFAULT;
	errno = error;
	return !is_faulty;
}

bool python_memory_ask(struct python_thread *t, uint64_t page)
{
	uint64_t number = (page * UINT64_C(0x9e3779b97f4a7c15)) >> 55;

	if (!page || page >> 44 || !is_readable(page << 12))
		return false;
	t->page[number][t->page_next[number] & 1] = page + 1;
	t->page_next[number]++;
	t->asked = page;
	return true;
}
