/* SPDX-License-Identifier: Apache-2.0 */
/* names_addr2line.h - names of the addresses of one file, for people and scripts
 * (timeline/names/names_table.h). */
#ifndef TIMELINE_NAMES_ADDR2LINE_H
#define TIMELINE_NAMES_ADDR2LINE_H

#include "timeline/names/names.h"

/* Prints a table for hexadecimal addresses, in their order: those of `texts`, which NULL ends, or, where that
 * is NULL, those on stdin. ERROR_USAGE: one is none, or `file` is a directory; ERROR_IO: it cannot be read,
 * the table not be written. */
int names_addr2line(
	const char *file, char *const *texts, const struct names_options *options, struct error *error);

#endif
