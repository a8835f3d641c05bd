/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otf2_import.h - makes a run of an OTF2 archive, as Score-P and hpct-export write it.
 */
#ifndef FORMATS_OTF2_IMPORT_H
#define FORMATS_OTF2_IMPORT_H

#include "formats/base/format.h"

int otf2_import(struct format_input *input, const char *path, struct error *error);
bool otf2_is(const uint8_t *head, size_t size);

#endif
