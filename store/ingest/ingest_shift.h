/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest_shift.h - chooses a track's bucket size, 2^shift ns, from its rate of records.
 */
#ifndef STORE_INGEST_SHIFT_H
#define STORE_INGEST_SHIFT_H

#include "store/ingest/builder.h"
#include "store/ingest/ingest.h"

#define INGEST_SHIFT_FIRST 30u
#define INGEST_SHIFT_MAX 62u /* of the base; a span of maximal length takes 63 */

/* The shift, at most the ingest's limit. */
unsigned ingest_shift_most(const struct store_ingest *ingest, unsigned shift);

/* A record begins outside the last base bucket: chooses the size from that bucket's rate. */
void ingest_shift_next(const struct store_ingest *ingest, struct store_track_state *track,
	const struct store_record *record);

/* A base bucket is full before its end: chooses smaller ones. */
void ingest_shift_full(struct store_track_state *track, const struct store_builder *full);

#endif
