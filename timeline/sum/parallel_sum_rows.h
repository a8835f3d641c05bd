/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum_rows.h - a window's rows as bytes from one process of this program to another, for
 * parallel_sum.c.
 */
#ifndef TIMELINE_PARALLEL_SUM_ROWS_H
#define TIMELINE_PARALLEL_SUM_ROWS_H

#include "store/base/bytes.h"
#include "timeline/sum/window.h"

/* Behind what is in `out`; false: memory is out. */
bool parallel_sum_rows_put(struct store_bytes *out, const struct run *run, const struct window *window);
/* Instead of what is in `out`. */
void parallel_sum_rows_put_error(struct store_bytes *out, int code, const struct error *error);
/* Adds them to the window, or gives the error that they are. ERROR_IO: they are not whole; ERROR_RUN: they
 * are of another state of the run. */
int parallel_sum_rows_take(
	struct window *window, struct run *run, struct store_slice from, struct error *error);

#endif
