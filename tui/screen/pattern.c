/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - see pattern.h. */
#include "tui/screen/pattern.h"

#include <ctype.h>
#include <string.h>

/* \W and the like are no letters of a name. */
static bool has_upper(const char *text)
{
	for (; *text; text++) {
		if (text[0] == '\\' && text[1])
			text++;
		else if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

bool pattern_init(struct pattern *pattern, const char *text)
{
	*pattern = (struct pattern){.text = text, .is_regex = text[0] == '~', .has_case = has_upper(text)};
	return !pattern->is_regex ||
	       regcomp(&pattern->regex, text + 1,
		       REG_EXTENDED | REG_NOSUB | (pattern->has_case ? 0 : REG_ICASE)) == 0;
}

void pattern_fini(struct pattern *pattern)
{
	if (pattern->is_regex)
		regfree(&pattern->regex);
}

bool pattern_match(const struct pattern *pattern, const char *text)
{
	if (pattern->is_regex)
		return regexec(&pattern->regex, text, 0, NULL, 0) == 0;
	return (pattern->has_case ? strstr(text, pattern->text) : strcasestr(text, pattern->text)) != NULL;
}
