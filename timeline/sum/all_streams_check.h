/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_check.h - checks the sums of all streams' timelines (store/states/all_streams.h) against the
 * timelines. Part of hpct-info --check.
 */
#ifndef TIMELINE_ALL_STREAMS_CHECK_H
#define TIMELINE_ALL_STREAMS_CHECK_H

#include "timeline/run/run.h"

/* Walks every stream's timeline once, and compares. Adds the number of sums to *rollups. ERROR_RUN: some
 * differ. */
int all_streams_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
