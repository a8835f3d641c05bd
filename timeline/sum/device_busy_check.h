/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy_check.h - are the busy times of devices (store/states/device_busy.h) what their queues' records
 * say? A part of hpct-info --check.
 */
#ifndef TIMELINE_DEVICE_BUSY_CHECK_H
#define TIMELINE_DEVICE_BUSY_CHECK_H

#include "timeline/run/run.h"

/* Sweeps every device of several queues once, and compares. Adds to *rollups how many buckets there were.
 * ERROR_RUN: some differ. */
int device_busy_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
