/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_deltas.h - what a thread's tallies (store/ring/ring.h) have grown by since they were last
 * looked at: sums that need no record each, and that no full ring can lose. Belongs to the
 * collector's loop; drain.c makes values of it.
 */
#ifndef RECORD_TALLY_DELTAS_H
#define RECORD_TALLY_DELTAS_H

#include "store/ring/ring.h"

/* As last read. */
struct tally_deltas {
	uint64_t *total; /* ours */
	uint32_t count;	 /* of them known; the others are 0 */
};

/* A new claim: all are 0 again. */
void tally_deltas_clear(struct tally_deltas *tally_deltas);
void tally_deltas_fini(struct tally_deltas *tally_deltas);

/* Calls `put` for each of the first `count` that has grown, with what it has grown by. Numbers of a program
 * nobody trusts: the node and the metric are the caller's to check. Without memory nothing is told now. */
void tally_deltas_walk(struct tally_deltas *tally_deltas, const struct event_tally *shared, uint32_t count,
	void (*put)(void *context, uint32_t node, uint32_t metric, uint64_t more), void *context);

#endif
