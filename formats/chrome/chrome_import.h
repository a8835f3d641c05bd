/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_import.h - imports a Chrome Trace Event file, as chrome://tracing, Perfetto's older writers, Kineto
 * (PyTorch), TensorFlow and others write it.
 */
#ifndef FORMATS_CHROME_IMPORT_H
#define FORMATS_CHROME_IMPORT_H

#include "formats/base/format.h"

/* struct format's `take` and `is`. */
int chrome_import(struct format_input *input, const char *path, struct error *error);
bool chrome_is(const uint8_t *head, size_t size);

#endif
