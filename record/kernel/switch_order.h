/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_order.h - switch records of several rings, put into the order in which they are taken:
 *
 *   ring of cpu 0   a1 b2 a3 b4 a9          a1 a3 a5 a6 a9 | b2 b4 | c7 c8
 *   ring of cpu 1   a5 a6 c7 c8       ->    by thread, and each thread's by time
 *
 * What one ring says of one thread is in order already, so that each thread's are a few runs to merge.
 */
#ifndef RECORD_SWITCH_ORDER_H
#define RECORD_SWITCH_ORDER_H

#include "record/kernel/perf_ring.h"

/* Those of a thread stand together then, in order of time; threads in no order. `scratch` is the caller's,
 * its content is lost. False: no memory, and nothing has changed. */
bool switch_events_order(struct switch_events *events, struct switch_events *scratch);

#endif
