/* SPDX-License-Identifier: Apache-2.0 */
/* names_addr2line.h - prints names of one file's addresses, for people and scripts
 * (timeline/names/names_table.h). */
#ifndef TIMELINE_NAMES_ADDR2LINE_H
#define TIMELINE_NAMES_ADDR2LINE_H

#include "timeline/names/names.h"

/* Prints a table for hexadecimal addresses, in their order: those of `texts` (NULL-terminated) or, if that
 * is NULL, from stdin. ERROR_USAGE: one is no address, or `file` is a directory; ERROR_IO: the file cannot
 * be read, or the table not be written. */
int names_addr2line(
	const char *file, char *const *texts, const struct names_options *options, struct error *error);

#endif
