/* SPDX-License-Identifier: Apache-2.0 */
/* device_busy_internal.h - what device_busy.c (queues, buckets) and device_busy_merge.c share. */
#ifndef STORE_DEVICE_BUSY_INTERNAL_H
#define STORE_DEVICE_BUSY_INTERNAL_H

#include "store/states/device_busy.h"

#define UNITED_QUEUES_MAX 128u /* of one device */

/* ---- device_busy.c ---- */

/* Adds a busy stretch, after all stretches added before. */
void device_busy_fill(struct store_device_busy *united, uint64_t begin_ns, uint64_t end_ns);

/* ---- device_busy_merge.c ---- */

/* Merges the queues' spans before `until_ns`; later ones stay queued. */
void device_busy_merge(struct store_device_busy *united, uint64_t until_ns);

#endif
