/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown_name.h - a name of a traced program within a text: escaped as in tables (store/base/escape.h), since
 * terminals obey control characters, and a newline would begin a line of the text.
 */
#ifndef BLAME_SHOWN_NAME_H
#define BLAME_SHOWN_NAME_H

#include <stdio.h>

/* Without memory it writes "?". */
void shown_name_put(FILE *out, const char *name);

#endif
