/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_calls.h - call edges in GPU code (S4 8.2.4): the calls in the machine code of a GPU binary, or of
 * all binaries in a run, as a table. Samples of GPU functions have no call paths; this table tells which
 * kernels they may come from.
 */
#ifndef TIMELINE_NAMES_CALLS_H
#define TIMELINE_NAMES_CALLS_H

#include <stdio.h>

#include "store/base/error.h"

/* `path`: a GPU binary, or a run. Prints a TSV row for each call, by binary and address. Skips a run's
 * damaged binary and tells `note`. */
int names_calls_print(const char *path, FILE *out, void (*note)(const char *sentence), struct error *error);

#endif
