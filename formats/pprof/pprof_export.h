/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_export.h - writes a selection's profile as pprof reads it, packed by gzip.
 */
#ifndef FORMATS_PPROF_EXPORT_H
#define FORMATS_PPROF_EXPORT_H

#include "formats/base/format.h"

/* struct format's `put`. */
int pprof_export(
	struct run *run, const struct select *select, struct format_output *output, struct error *error);

#endif
