/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - the format and output chosen by the options of hpct-export and hpct-import. Help texts about
 * formats come from the table in format_table.c.
 */
#ifndef FORMATS_CHOICE_H
#define FORMATS_CHOICE_H

#include "formats/format_table.h"

struct choice {
	const struct format *format; /* NULL: none was named */
	const char *output;	     /* the same */
	const char *into;	     /* of an import: the run that series go into */
};

/* `take` of options, where `own` is a choice. ERROR_USAGE: no such format in that direction. */
int choice_take_to(void *own, const char *value, struct error *error);
int choice_take_from(void *own, const char *value, struct error *error);

#endif
