/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_check.h - checks rollups of state timelines against the records. The part of hpct-info --check that
 * needs the timeline's rules; store_reader_check() checks sums of samples.
 */
#ifndef TIMELINE_STATE_CHECK_H
#define TIMELINE_STATE_CHECK_H

#include "timeline/run/run.h"

/* Compares every rollup that readers would use with what is below it: smaller rollups, which are compared
 * too, and records. Sets *rollups to their number. ERROR_RUN names the first that differs. Takes as long as
 * reading the run's spans and samples a few times. */
int state_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
