/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rows.h - records as batches of columns: millions of rows, column by column, with streams, paths,
 * operations and metrics as choices among the texts of that batch.
 */
#ifndef FORMATS_RECORD_ROWS_H
#define FORMATS_RECORD_ROWS_H

#include "formats/library/columns.h"
#include "formats/library/record_scan.h"

struct record_rows;

/* The columns of a track. */
const struct column_spec *record_rows_specs(enum store_track track, size_t *count);
/* `wanted`, run and select must outlive it. */
int record_rows_new(struct record_rows **rows, struct run *run, const struct select *select,
	enum store_track track, const bool *wanted, struct error *error);
void record_rows_free(struct record_rows *rows);
/* The next rows, about `most` (0: all): 1; 0 at the end. The first batch is there, even if it has no rows.
 * The batch has ended. */
int record_rows_next(struct record_rows *rows, size_t most, struct hpct_batch **batch, struct error *error);

#endif
