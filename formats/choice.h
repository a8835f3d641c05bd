/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - the format and output chosen by the options of hpct-export and hpct-import. Help texts about
 * formats come from the table in format_table.c.
 */
#ifndef FORMATS_CHOICE_H
#define FORMATS_CHOICE_H

#include "formats/format_table.h"

#define CHOICE_BINARIES_MAX 64u

struct choice {
	const struct format *format;		   /* NULL: none was named */
	const char *output;			   /* the same */
	const char *into;			   /* of an import: the run that series go into */
	const char *binaries[CHOICE_BINARIES_MAX]; /* of an import: files of GPU code */
	size_t binary_count;
};

/* `take` of options, where `own` is a choice. ERROR_USAGE: no such format in that direction. */
int choice_take_to(void *own, const char *value, struct error *error);
int choice_take_from(void *own, const char *value, struct error *error);
/* ERROR_USAGE: too many. */
int choice_take_binary(void *own, const char *value, struct error *error);

#endif
