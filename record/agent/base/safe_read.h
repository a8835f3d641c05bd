/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_read.h - reads memory that the program passes to system calls, which may be unmapped, without
 * faulting.
 */
#ifndef RECORD_AGENT_SAFE_READ_H
#define RECORD_AGENT_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>

/* Copies from any address of this process. False: a part is unreadable. Signal safe. */
bool safe_read(void *to, const void *from, size_t bytes);

/* True if a string, or a NULL-terminated list of strings, is readable to its end; NULL is. */
bool safe_read_string(const char *text);
bool safe_read_words(char *const *words);

#endif
