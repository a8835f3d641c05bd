/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest_shift.h - how large a track's buckets are: 2^shift ns, which follow the rate of its records.
 */
#ifndef STORE_INGEST_SHIFT_H
#define STORE_INGEST_SHIFT_H

#include "store/ingest/builder.h"
#include "store/ingest/ingest.h"

#define INGEST_SHIFT_FIRST 30u
#define INGEST_SHIFT_MAX 62u /* of the base; a span as long as time itself takes 63 */

/* The shift, as far as the ingest allows it. */
unsigned ingest_shift_most(const struct store_ingest *ingest, unsigned shift);

/* A record leaves the base bucket where the last ones went: what was the rate there? */
void ingest_shift_next(const struct store_ingest *ingest, struct store_track_state *track,
	const struct store_record *record);

/* A base bucket is full before its time is over: smaller ones from here. */
void ingest_shift_full(struct store_track_state *track, const struct store_builder *full);

#endif
