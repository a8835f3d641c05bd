/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_import.h - imports folded stacks, as stackcollapse-perf.pl, py-spy, async-profiler, inferno and
 * others write them: a line of frames, joined by ';', then a space and a number.
 */
#ifndef FORMATS_FOLDED_IMPORT_H
#define FORMATS_FOLDED_IMPORT_H

#include "formats/base/format.h"

/* struct format's `take` and `is`. */
int folded_import(struct format_input *input, const char *path, struct error *error);
bool folded_is(const uint8_t *head, size_t size);

#endif
