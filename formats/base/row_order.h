/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.h - a scan's rows in a stable order: rows with equal begins and ends are ordered by content,
 * because a scan orders them by the store's ids, which differ in a slice of the run.
 */
#ifndef FORMATS_ROW_ORDER_H
#define FORMATS_ROW_ORDER_H

#include "timeline/scan/scan.h"

/* Calls `put` for each row of the scan, which must have STORE_ALL columns; false: no memory, and stops. The
 * batch is valid during the call. */
int row_order_walk(const struct run *run, struct scan *scan,
	bool (*put)(void *own, const struct batch *batch, size_t row), void *own, struct error *error);

#endif
