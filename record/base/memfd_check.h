/* SPDX-License-Identifier: Apache-2.0 */
/* memfd_check.h - checks a memfd from an untrusted program before it is mapped. */
#ifndef RECORD_MEMFD_CHECK_H
#define RECORD_MEMFD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* True if `memory` is a memfd with all of `seals` (which include F_SEAL_SHRINK) and can be read to its end
 * without a fault; then *bytes is its size. The caller keeps the descriptor. */
bool memfd_check(int memory, int seals, size_t *bytes);

#endif
