/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv.c - the rows of hpct-slice, out and back in.
 */
#include "formats/format.h"
#include "formats/tsv_import.h"
#include "timeline/slice/slice.h"

static int tsv_put(struct run *run, const struct select *select, FILE *out, struct error *error)
{
	return slice_print(run, select, REPORT_TSV, out, error);
}

const struct format format_tsv = {
	.name = "tsv", .about = "rows, as hpct-slice", .put = tsv_put, .take = tsv_import};
