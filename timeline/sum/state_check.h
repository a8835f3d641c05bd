/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_check.h - are rollups of lines what the records say? The part of hpct-info --check that must know how
 * a line is read; sums of samples are checked by the store itself (store_reader_check()).
 */
#ifndef TIMELINE_STATE_CHECK_H
#define TIMELINE_STATE_CHECK_H

#include "timeline/run/run.h"

/* Compares every rollup that readers would believe with the line below it: smaller rollups, which are
 * compared too, and records. Sets *rollups to how many there were. ERROR_RUN names the first that differs.
 * Takes the time of reading the run's spans and samples a few times. */
int state_check(struct run *run, uint64_t *rollups, struct error *error);

#endif
