/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_import.h - imports TSV rows as a run, in two passes, see tsv_import.c.
 */
#ifndef FORMATS_TSV_IMPORT_H
#define FORMATS_TSV_IMPORT_H

#include <stdio.h>

#include "store/base/error.h"

/* Makes the run `path`, which must not exist (ERROR_USAGE), from the rows in `in`, which stays the caller's;
 * `name` is its name in messages. ERROR_RUN: malformed rows; ERROR_IO: reading, writing or memory failed.
 * Then nothing is left at `path`. */
int tsv_import(FILE *in, const char *name, const char *path, struct error *error);

#endif
