/* SPDX-License-Identifier: Apache-2.0 */
/* memfd_check.h - memory that a program nobody trusts has handed over, before it is mapped. */
#ifndef RECORD_MEMFD_CHECK_H
#define RECORD_MEMFD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `memory` is a memfd with all these seals, F_SEAL_SHRINK among them, that can be read to its end
 * without a fault: *bytes is its size then. The descriptor stays the caller's. */
bool memfd_check(int memory, int seals, size_t *bytes);

#endif
