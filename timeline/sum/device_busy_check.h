/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy_check.h - checks the busy times of devices (store/states/device_busy.h) against their queues'
 * records. Part of hpct-info --check.
 */
#ifndef TIMELINE_DEVICE_BUSY_CHECK_H
#define TIMELINE_DEVICE_BUSY_CHECK_H

#include "timeline/run/run.h"

/* Sweeps every device of several queues once, and compares. Adds the number of buckets to *rollups.
 * ERROR_RUN: some differ. */
int device_busy_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
