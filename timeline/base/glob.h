/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - the selector's only kind of pattern: '*' matches any bytes, '?' one byte, everything else itself.
 */
#ifndef TIMELINE_GLOB_H
#define TIMELINE_GLOB_H

#include <stdbool.h>

/* The whole text must match. Time is linear in the text, times the pattern's length. */
bool glob_match(const char *pattern, const char *text);

#endif
