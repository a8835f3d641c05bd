/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_import.h - rows to a run, in two passes, see tsv_import.c.
 */
#ifndef FORMATS_TSV_IMPORT_H
#define FORMATS_TSV_IMPORT_H

#include <stdio.h>

#include "store/base/error.h"

/* Makes the run `path`, which must not be there (ERROR_USAGE), of the rows in `in`, which stays the caller's;
 * `name` is what sentences call it. ERROR_RUN: rows that are none; ERROR_IO: reading, writing or memory
 * failed. Nothing is left at `path` then. */
int tsv_import(FILE *in, const char *name, const char *path, struct error *error);

#endif
