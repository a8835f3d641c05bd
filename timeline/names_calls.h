/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_calls.h - who calls whom in GPU code (S4 8.2.4): the calls in the machine code of a GPU binary, or of
 * all that a run keeps, as a table. Samples of a GPU's functions have no call paths; this is what there is to
 * tell which kernels they may come from.
 */
#ifndef TIMELINE_NAMES_CALLS_H
#define TIMELINE_NAMES_CALLS_H

#include <stdio.h>

#include "store/base/error.h"

/* `path`: a GPU binary, or a run. A row for each call, by binary and address, as TSV. A binary of a run that
 * is damaged is left out, which `note` is told. */
int names_calls_print(const char *path, FILE *out, void (*note)(const char *sentence), struct error *error);

#endif
