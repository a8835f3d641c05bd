/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.h - the rows of a scan for what is written in their order: those of one time (equal begins, and
 * ends) come by what they say, since the order of a scan is that of the store's ids, which a slice of the run
 * numbers anew.
 */
#ifndef FORMATS_ROW_ORDER_H
#define FORMATS_ROW_ORDER_H

#include "timeline/scan/scan.h"

/* Gives `put` each row of the scan, which is to have STORE_ALL columns; false: memory is out, and no row
 * follows. The batch lasts as long as the call. */
int row_order_walk(const struct run *run, struct scan *scan,
	bool (*put)(void *own, const struct batch *batch, size_t row), void *own, struct error *error);

#endif
