/* SPDX-License-Identifier: Apache-2.0 */
/* peek.c - see peek.h. */
#include "record/agent/peek.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool peek(void *to, const void *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};

	return syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1, &remote, 1, 0) == (long)bytes;
}
