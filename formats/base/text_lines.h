/* SPDX-License-Identifier: Apache-2.0 */
/* text_lines.h - lines of a text that is untrusted: of any length up to a bound, longer ones are passed
 * over and counted. */
#ifndef FORMATS_TEXT_LINES_H
#define FORMATS_TEXT_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "store/base/error.h"

struct text_part {
	const char *bytes; /* not NUL-terminated */
	size_t size;
};

#define TEXT_LINE_MAX ((size_t)1 << 20)

/* All-zero but for `in` is ready. */
struct text_lines {
	FILE *in;
	char *text;
	size_t room;
	uint64_t lines, too_long;
};
/* The next line without its end and a byte order mark: 1; 0: no more; negative: no memory. */
int text_lines_next(struct text_lines *lines, struct text_part *line, struct error *error);
void text_lines_fini(struct text_lines *lines);

#endif
