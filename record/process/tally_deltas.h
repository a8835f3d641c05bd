/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_deltas.h - the increase of a thread's tallies (store/ring/ring.h) since the last read: sums that need
 * no record each and that a full ring cannot lose. Only the collector's loop uses it; drain.c turns the
 * increases into values.
 */
#ifndef RECORD_TALLY_DELTAS_H
#define RECORD_TALLY_DELTAS_H

#include "store/ring/ring.h"

/* The totals as last read. */
struct tally_deltas {
	uint64_t *total; /* owned */
	uint32_t count;	 /* of totals known; others are 0 */
};

/* A new claim: resets all to 0. */
void tally_deltas_clear(struct tally_deltas *tally_deltas);
void tally_deltas_fini(struct tally_deltas *tally_deltas);

/* Calls `put` with the increase of each of the first `count` tallies that grew. The numbers are untrusted:
 * the caller checks node and metric. If memory is out, it reports them at a later call. */
void tally_deltas_walk(struct tally_deltas *tally_deltas, const struct event_tally *shared, uint32_t count,
	void (*put)(void *context, uint32_t node, uint32_t metric, uint64_t more), void *context);

#endif
