/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - the patterns of `/`: a part of a name, or after `~` an extended regular expression, in which \<
 * and \> match the ends of a word. Ignores case unless the pattern has an upper-case letter.
 */
#ifndef TUI_PATTERN_H
#define TUI_PATTERN_H

#include <regex.h>
#include <stdbool.h>

struct pattern {
	const char *text; /* the caller's */
	bool is_regex, has_case;
	regex_t regex;
};

/* False: no regular expression, and nothing to end. */
bool pattern_init(struct pattern *pattern, const char *text);
void pattern_fini(struct pattern *pattern);
bool pattern_match(const struct pattern *pattern, const char *text);

#endif
