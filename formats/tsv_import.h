/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv_import.h - rows to a run, in two passes, see tsv_import.c.
 */
#ifndef FORMATS_TSV_IMPORT_H
#define FORMATS_TSV_IMPORT_H

#include <stdio.h>

#include "store/error.h"

int tsv_import(FILE *in, const char *name, const char *path, struct error *error);

#endif
