/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages.h - asks for huge pages under large memory: page faults are most of the cost of filling it. */
#ifndef STORE_HUGE_PAGES_H
#define STORE_HUGE_PAGES_H

#include <stddef.h>

#define HUGE_PAGES_BYTES ((size_t)4 << 20) /* from this size on */

/* Does nothing for less, and where there are none. Keeps errno. */
void huge_pages_advise(void *memory, size_t bytes);

#endif
