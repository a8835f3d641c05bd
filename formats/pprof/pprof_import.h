/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_import.h - imports a profile of pprof: Go's, gperftools', and what other tools write for it.
 */
#ifndef FORMATS_PPROF_IMPORT_H
#define FORMATS_PPROF_IMPORT_H

#include "formats/base/format.h"

/* struct format's `take` and `is`. */
int pprof_import(struct format_input *input, const char *path, struct error *error);
bool pprof_is(const uint8_t *head, size_t size);

#endif
