/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - the two ways of tables with a clock: format_csv. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "formats/base/format.h"

/* Make a run of the input, as format.take. */
int csv_import(struct format_input *input, const char *path, struct error *error);
bool csv_is(const uint8_t *head, size_t size);
/* Write figures over time, as format.put: time_ns,host,device,uuid,pid,rank,metric,unit,kind,value. */
int csv_export(
	struct run *run, const struct select *select, struct format_output *output, struct error *error);

#endif
