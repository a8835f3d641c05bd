/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - the table of formats.
 */
#include "formats/format.h"

#include <string.h>

static const struct format *const formats[] = {&format_tsv, &format_folded, &format_chrome, NULL};

const struct format *format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
