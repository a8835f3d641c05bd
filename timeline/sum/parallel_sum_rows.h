/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum_rows.h - encodes a window's rows for another process of this program; for parallel_sum.c.
 */
#ifndef TIMELINE_PARALLEL_SUM_ROWS_H
#define TIMELINE_PARALLEL_SUM_ROWS_H

#include "store/base/bytes.h"
#include "timeline/sum/window.h"

/* Appends to `out`; false: no memory. */
bool parallel_sum_rows_put(struct store_bytes *out, const struct run *run, const struct window *window);
/* Replaces the content of `out`. */
void parallel_sum_rows_put_error(struct store_bytes *out, int code, const struct error *error);
/* Adds them to the window, or returns the error that they hold. ERROR_IO: incomplete; ERROR_RUN: they are of
 * another state of the run. */
int parallel_sum_rows_take(
	struct window *window, struct run *run, struct store_slice from, struct error *error);

#endif
