/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - what the options of hpct-export and hpct-import chose: the format, and where to. What they say
 * of formats is made of the table in format.c.
 */
#ifndef FORMATS_CHOICE_H
#define FORMATS_CHOICE_H

#include "formats/format.h"

struct choice {
	const struct format *format; /* NULL: none was named */
	const char *output;	     /* the same */
};

/* Options' `take`, `own` a choice. ERROR_USAGE: no format of that name goes that way. */
int choice_take_to(void *own, const char *value, struct error *error);
int choice_take_from(void *own, const char *value, struct error *error);

#endif
