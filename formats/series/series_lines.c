/* SPDX-License-Identifier: Apache-2.0 */
/* series_lines.c - see series_lines.h. */
#include "formats/series/series_lines.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

int series_lines_next(struct series_lines *lines, struct series_text *line, struct error *error)
{
	size_t size = 0;
	int c;

	while ((c = getc_unlocked(lines->in)) != EOF && c != '\n') {
		if (size > SERIES_LINE_MAX)
			continue;
		if (!array_reserve(&lines->text, &lines->room, size + 1, 1))
			return error_memory(error);
		lines->text[size++] = (char)c;
	}
	if (!size && c == EOF)
		return 0;
	lines->lines++;
	if (size > SERIES_LINE_MAX) {
		lines->too_long++;
		size = 0;
	}
	*line = (struct series_text){lines->text ? lines->text : "", size};
	if (lines->lines == 1 && size >= 3 && memcmp(lines->text, "\xef\xbb\xbf", 3) == 0)
		*line = (struct series_text){lines->text + 3, size - 3};
	while (line->size && line->bytes[line->size - 1] == '\r')
		line->size--;
	return 1;
}

void series_lines_fini(struct series_lines *lines)
{
	free(lines->text);
}
