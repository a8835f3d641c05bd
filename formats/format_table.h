/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_table.h - all formats by name, direction and content. A new format is a folder, a line in
 * format.h and one in the table in format_table.c.
 */
#ifndef FORMATS_FORMAT_TABLE_H
#define FORMATS_FORMAT_TABLE_H

#include "formats/base/format.h"

enum format_way { FORMAT_PUTS, FORMAT_TAKES, FORMAT_PUTS_STATE_METRICS };

#define FORMAT_TEXT_MAX 1024u

/* NULL: no such format in that direction. */
const struct format *format_find(const char *name, enum format_way way);
/* The format that can be imported of a file that begins with these bytes; NULL: it looks like none. */
const struct format *format_guess(const uint8_t *head, size_t size);
/* The format that a directory is of (that one, if `only` is not NULL), and its file in there, PATH_MAX bytes.
 * NULL: none. */
const struct format *format_directory(const struct format *only, const char *path, char *file);
/* All formats in that direction, cut if too long: "tsv, folded or chrome". */
void format_names(char out[FORMAT_TEXT_MAX], enum format_way way);
/* The same for --help, with descriptions: "tsv: rows, as hpct-slice; ...". */
void format_help(char out[FORMAT_TEXT_MAX], enum format_way way);

#endif
