/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - the one kind of pattern of the selector: '*' stands for any bytes, '?' for one byte, everything
 * else for itself.
 */
#ifndef TIMELINE_GLOB_H
#define TIMELINE_GLOB_H

#include <stdbool.h>

/* The whole text must match. Linear but for the length of the pattern. */
bool glob_match(const char *pattern, const char *text);

#endif
