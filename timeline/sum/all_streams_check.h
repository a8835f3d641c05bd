/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams_check.h - are the sums of all streams' lines (store/states/all_streams.h) what the lines say? A
 * part of hpct-info
 * --check.
 */
#ifndef TIMELINE_ALL_STREAMS_CHECK_H
#define TIMELINE_ALL_STREAMS_CHECK_H

#include "timeline/run/run.h"

/* Walks every stream's line once, and compares. Adds to *rollups how many sums there were. ERROR_RUN: some
 * differ. */
int all_streams_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
