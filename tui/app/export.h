/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - writes the shown table as CSV, and the full name under the cursor, which the screen may have
 * shortened.
 */
#ifndef TUI_EXPORT_H
#define TUI_EXPORT_H

#include <stdio.h>

#include "tui/session/session.h"

/* `:csv FILE`: the profile where it has the screen, else the statistics: times in ns, RFC 4180 quotes. */
void export_csv(struct session *session, const char *path);
/* The key `y`: into $XDG_CACHE_HOME/hpct/copied. */
void export_copy(struct session *session);

/* Message: the file could not be written because of `why` (an errno), and a remedy. */
void export_say_unwritten(struct session *session, const char *path, int why);

/* Closes the file. Returns 0 or the errno of any earlier write; fclose() reports only the last one. */
int export_close(FILE *out);

#endif
