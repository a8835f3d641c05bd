/* SPDX-License-Identifier: Apache-2.0 */
/* text_lines.c - see text_lines.h. */
#include "formats/base/text_lines.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

int text_lines_next(struct text_lines *lines, struct text_part *line, struct error *error)
{
	size_t size = 0;
	int c;

	while ((c = getc_unlocked(lines->in)) != EOF && c != '\n') {
		if (size > TEXT_LINE_MAX)
			continue;
		if (!array_reserve(&lines->text, &lines->room, size + 1, 1))
			return error_memory(error);
		lines->text[size++] = (char)c;
	}
	if (!size && c == EOF)
		return 0;
	lines->lines++;
	if (size > TEXT_LINE_MAX) {
		lines->too_long++;
		size = 0;
	}
	*line = (struct text_part){lines->text ? lines->text : "", size};
	if (lines->lines == 1 && size >= 3 && memcmp(lines->text, "\xef\xbb\xbf", 3) == 0)
		*line = (struct text_part){lines->text + 3, size - 3};
	while (line->size && line->bytes[line->size - 1] == '\r')
		line->size--;
	return 1;
}

void text_lines_fini(struct text_lines *lines)
{
	free(lines->text);
}
