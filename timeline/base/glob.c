/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.c - matches names from traced programs, so it must not take exponential time: it only backtracks to
 * the last '*'.
 */
#include "timeline/base/glob.h"

#include <stddef.h>

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (*text && (*pattern == *text || *pattern == '?')) {
			pattern++;
			text++;
		} else if (!*text && !*pattern) {
			return true;
		} else if (star && *retry) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
}
