/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - a chunk while records still come: its records as they were given, sorted and encoded when it is
 * put. Shared by ingest.c, which chooses the builder, and ingest_put.c, which commits.
 *
 *   stash    | put by in little room, the earlier ones |          where many streams share the caches
 *   records                                            | the last ones, as they came |   room |
 */
#ifndef STORE_BUILDER_H
#define STORE_BUILDER_H

#include "store/ingest/ingest.h"
#include "store/rollup/rollup_write.h"

struct store_builder {
	struct store_key_chunk key;
	bool is_stored; /* the file has an earlier state under the key */
	bool is_unsorted;
	bool is_past;	   /* a later bucket of its size has begun: it has what it will have, mostly */
	uint32_t count;	   /* records, those in the stash included */
	uint32_t capacity; /* of `records` */
	uint32_t fresh;	   /* records since the last commit */
	uint32_t surveyed; /* records, all or the first, that its survey has */
	uint32_t counted;  /* records, the first, that the total of all streams has */
	uint32_t expected; /* records, by the bucket before; 0: who knows */
	uint32_t likely;   /* records that it stands for in ingest->likely_records */
	uint64_t min_ns, max_ns;
	uint64_t used;	/* tick of the last record */
	uint64_t order; /* of opening and use, for choosing whom to push out */
	struct store_chunk_stats survey;
	struct store_record first; /* that came, for the survey */
	struct store_chunk_parked stash;
	struct store_record *records; /* the last one at least; NULL: parked */
};

struct store_track_state {
	uint32_t stream;
	uint8_t track;
	uint8_t base_shift;
	uint8_t count, capacity;
	bool is_active;
	uint32_t expected; /* as many records had the last one that was closed */
	uint64_t order;
	uint64_t latest_ns; /* begin of a record */
	struct store_builder *builders;
	struct store_rollup_front front;
};

void store_spares_fini(struct store_spares *spares);

/* Where the next record goes, once there is room. */
static inline struct store_record *store_builder_end(const struct store_builder *builder)
{
	return builder->records + (builder->count - builder->stash.count);
}

/* Room for so many more records behind the others, or for fewer, but one; how many there is room for. 0 (and
 * ingest->failed): memory is out. */
uint32_t store_builder_reserve(struct store_ingest *ingest, struct store_builder *builder, uint32_t more);
/* So many have come in there. */
void store_builder_added(struct store_ingest *ingest, struct store_builder *builder, uint32_t count);
/* What it is to a commit has changed: where it has fresh records and will have more, it stands for all that
 * it will have, for a later commit puts those again. */
void store_builder_stand(struct store_ingest *ingest, struct store_builder *builder);
/* A bucket of the track begins: those of its size ahead of it are past. */
void store_builders_pass(
	struct store_ingest *ingest, struct store_track_state *track, uint64_t bucket_ns, unsigned shift);
/* Lets its records go. */
void store_builder_empty(struct store_ingest *ingest, struct store_builder *builder);
/* Appends the bytes of its chunk. */
void store_builder_encode(
	struct store_ingest *ingest, struct store_builder *builder, struct store_bytes *out);
/* Forgets it: the file has all. The last builder of the track takes its place in the array. */
void store_builder_remove(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Its chunk takes no more records: what the file does not have yet waits, encoded, for the next commit. */
void store_builder_close(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Gives the records of a committed builder back to memory: a full one is forgotten, another can be fetched.
 */
void store_builder_park(
	struct store_ingest *ingest, struct store_track_state *track, struct store_builder *builder);
/* Brings a parked builder's records back; if that fails, it goes on as a new chunk beside the stored one. */
void store_builder_unpark(struct store_ingest *ingest, struct store_builder *builder);

#endif
