/* SPDX-License-Identifier: Apache-2.0 */
/* series_lines.h - lines of a text that is untrusted: of any length up to a bound, longer ones are passed
 * over and counted. */
#ifndef FORMATS_SERIES_LINES_H
#define FORMATS_SERIES_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "formats/series/series_import.h"

#define SERIES_LINE_MAX ((size_t)1 << 20)

/* All-zero but for `in` is ready. */
struct series_lines {
	FILE *in;
	char *text;
	size_t room;
	uint64_t lines, too_long;
};
/* The next line without its end and a byte order mark: 1; 0: no more; negative: no memory. */
int series_lines_next(struct series_lines *lines, struct series_text *line, struct error *error);
void series_lines_fini(struct series_lines *lines);

#endif
