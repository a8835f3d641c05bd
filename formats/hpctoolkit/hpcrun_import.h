/* SPDX-License-Identifier: Apache-2.0 */
/* hpcrun_import.h - a measurement directory of HPCToolkit's hpcrun as a run; hpctoolkit_import.c calls it. */
#ifndef FORMATS_HPCRUN_IMPORT_H
#define FORMATS_HPCRUN_IMPORT_H

#include "formats/base/format.h"

/* Does a file begin as a profile or trace of hpcrun? */
bool hpcrun_is(const uint8_t *head, size_t size);
/* The same of a file by its name. */
bool hpcrun_import_is(const char *path);
/* As format.take, of all profiles in the directory of input->path. */
int hpcrun_import(struct format_input *input, const char *path, struct error *error);

#endif
