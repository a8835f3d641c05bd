/* SPDX-License-Identifier: Apache-2.0 */
/*
 * united_check.h - are the busy times of devices (store/united.h) what their queues' records say? A part of
 * hpct-info --check.
 */
#ifndef TIMELINE_UNITED_CHECK_H
#define TIMELINE_UNITED_CHECK_H

#include "timeline/run.h"

/* Sweeps every device of several queues once, and compares. Adds to *rollups how many buckets there were.
 * ERROR_RUN: some differ. */
int united_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
