/* SPDX-License-Identifier: Apache-2.0 */
/* fd_limit.h - raises the limit of open descriptors, and closes inherited ones in forked processes. */
#ifndef STORE_FD_LIMIT_H
#define STORE_FD_LIMIT_H

#include <stdint.h>

/* Closes all descriptors from `first` on, even where close_range() is missing (before Linux 5.9) or a
 * sandbox refuses it. Allocates nothing, so a child forked by a threaded process may call it. */
void fd_close_from(unsigned first);

/* Raises the soft limit to `count` descriptors, as far as the hard limit allows. */
void fd_limit_raise(uint64_t count);

#endif
