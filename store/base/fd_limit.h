/* SPDX-License-Identifier: Apache-2.0 */
/* fd_limit.h - how many a process may have; and for processes made by fork alone: what was open before is
 * none of theirs. */
#ifndef STORE_FD_LIMIT_H
#define STORE_FD_LIMIT_H

#include <stdint.h>

/* Closes all descriptors from `first` on, also where the kernel has no call for that (before Linux 5.9), or a
 * sandbox refuses it. Allocates nothing, so that a child of a process with threads may call it. */
void fd_close_from(unsigned first);

/* So many will be needed: where fewer are allowed by a limit that may be lifted, it is. */
void fd_limit_raise(uint64_t count);

#endif
