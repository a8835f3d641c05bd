/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_import.h - makes a run of a Perfetto trace: track events, counters, the kernel's scheduling.
 */
#ifndef FORMATS_PERFETTO_IMPORT_H
#define FORMATS_PERFETTO_IMPORT_H

#include "formats/base/format.h"

int perfetto_import(struct format_input *input, const char *path, struct error *error);

#endif
