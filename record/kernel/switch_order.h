/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_order.h - sorts the switch records of several rings by thread and time:
 *
 *   ring of cpu 0   a1 b2 a3 b4 a9          a1 a3 a5 a6 a9 | b2 b4 | c7 c8
 *   ring of cpu 1   a5 a6 c7 c8       ->    by thread, and each thread's by time
 *
 * Within one ring each thread's records are already in order, so sorting merges a few runs per thread.
 */
#ifndef RECORD_SWITCH_ORDER_H
#define RECORD_SWITCH_ORDER_H

#include "record/kernel/perf_ring.h"

/* Groups the events by thread, in any order, each group sorted by time. Overwrites `scratch`, which the
 * caller owns. False: no memory, `events` is unchanged. */
bool switch_events_order(struct switch_events *events, struct switch_events *scratch);

#endif
