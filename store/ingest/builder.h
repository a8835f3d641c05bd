/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - a chunk that still receives records. They are kept as given, and sorted and encoded when the
 * chunk is written. Shared by ingest.c, which chooses the builder, and ingest_put.c, which commits.
 *
 *   parked   | the earlier records, compressed |          where many streams share the caches
 *   records                                    | the last ones, as given |   free |
 */
#ifndef STORE_BUILDER_H
#define STORE_BUILDER_H

#include "store/ingest/ingest.h"
#include "store/rollup/rollup_write.h"

struct store_builder {
	struct store_key_chunk key;
	bool is_stored; /* the file has an earlier state of the chunk */
	bool is_unsorted;
	bool is_past;	   /* a later bucket of its size has begun: few more records will come */
	uint32_t count;	   /* records, parked ones included */
	uint32_t capacity; /* of `records` */
	uint32_t fresh;	   /* records since the last commit */
	uint32_t surveyed; /* leading records that the statistics include */
	uint32_t counted;  /* leading records that the run's total includes */
	uint32_t expected; /* records expected, from the bucket before; 0: unknown */
	uint32_t likely;   /* its part of ingest->likely_records */
	uint64_t min_ns, max_ns;
	uint64_t used;	/* tick of the last record */
	uint64_t order; /* order of opening and use, for choosing which builder to close */
	struct store_chunk_stats survey;
	struct store_record first; /* the first record added, for the statistics */
	struct store_chunk_parked parked;
	struct store_record *records; /* at least the last one; NULL: parked */
};

struct store_track_state {
	uint32_t stream;
	uint8_t track;
	uint8_t base_shift;
	uint8_t count, capacity;
	bool is_active;
	uint32_t expected; /* records of the last builder that was closed */
	uint64_t order;
	uint64_t latest_ns; /* latest begin of a record */
	struct store_builder *builders;
	struct store_rollup_front front;
};

void store_spares_fini(struct store_spares *spares);

/* Where the next record goes, once space is reserved. */
static inline struct store_record *store_builder_end(const struct store_builder *builder)
{
	return builder->records + (builder->count - builder->parked.count);
}

/* Reserves space for `count` more records, or for fewer, at least one; returns how many. 0 (and
 * ingest->failed): no memory. */
uint32_t store_builder_reserve(struct store_ingest *ingest, struct store_builder *builder, uint32_t more);
/* Accounts for records written there. */
void store_builder_added(struct store_ingest *ingest, struct store_builder *builder, uint32_t count);
/* Updates its part of likely_records: a chunk with new records that expects more counts in full, because a
 * later commit writes it again. */
void store_builder_stand(struct store_ingest *ingest, struct store_builder *builder);
/* A bucket of the track begins: marks earlier buckets of its size as past. */
void store_builders_pass(
	struct store_ingest *ingest, struct store_track_state *track, uint64_t bucket_ns, unsigned shift);
/* Frees its records. */
void store_builder_empty(struct store_ingest *ingest, struct store_builder *builder);
/* Appends its chunk's bytes. */
void store_builder_encode(
	struct store_ingest *ingest, struct store_builder *builder, struct store_bytes *out);
/* Removes it: the file has all. The track's last builder takes its index. */
void store_builder_remove(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Ends its chunk: what the file lacks is encoded for the next commit. */
void store_builder_close(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Frees the records of a committed builder: a full one is removed, another can be fetched back. */
void store_builder_park(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Fetches a parked builder's records from the file; if that fails, it continues as a new chunk. */
void store_builder_unpark(struct store_ingest *ingest, struct store_builder *builder);

#endif
