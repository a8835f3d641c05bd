/* SPDX-License-Identifier: Apache-2.0 */
/* safe_read.h - what the program hands over to the kernel is looked at as the kernel does it: it may be
 * anywhere.
 */
#ifndef RECORD_AGENT_SAFE_READ_H
#define RECORD_AGENT_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>

/* Copies from any address of this process. false: not all of it can be read. Signal safe. */
bool safe_read(void *to, const void *from, size_t bytes);

/* Can a string, or NULL, and a list of them that ends with NULL, be read to the end? */
bool safe_read_string(const char *text);
bool safe_read_words(char *const *words);

#endif
