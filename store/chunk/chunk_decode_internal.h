/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_decode_internal.h - what the files that decode chunks share: one decoding in progress, with its
 * header checked, its constants, dictionary and tables read. The blocks or the sums come next.
 */
#ifndef STORE_CHUNK_DECODE_INTERNAL_H
#define STORE_CHUNK_DECODE_INTERNAL_H

#include "store/chunk/chunk.h"
#include "store/chunk/chunk_decode.h"
#include "store/file/tree.h"

/* One decoding in progress. */
struct store_chunk_job {
	const struct store_chunk *chunk;
	struct store_chunk_header header;
	struct store_batch *batch;
	unsigned wanted; /* bit per enum chunk_column */
	uint32_t *dictionary;
	uint64_t *tables[CHUNK_COLUMN_COUNT];
	uint64_t constants[CHUNK_COLUMN_COUNT];
	uint64_t *columns[CHUNK_COLUMN_COUNT]; /* of the current block */
	unsigned sound;			       /* bits of id columns whose tables hold only existing ids */
	unsigned looked_up;	   /* bits of columns that equal their tables and need no decoding */
	bool rises;		   /* begins are known not to fall */
	uint64_t last_ns;	   /* begin of the last record decoded */
	uint64_t begin_ns, end_ns; /* blocks without a record that begins here are skipped */
	size_t block;		   /* the next one */
	size_t room;		   /* rows of the batch: part of the chunk, or all of it */
	size_t filled;		   /* rows that have the values of constant columns already */
	const char *damage;	   /* description of the damage */
	bool is_wide;		   /* AVX2 may be used */
};

static inline bool store_chunk_is_constant(const struct store_chunk_job *job, unsigned column)
{
	return job->header.constant >> column & 1;
}

static inline bool store_chunk_has_table(const struct store_chunk_job *job, unsigned column)
{
	return job->header.tables >> column & 1;
}

static inline bool store_chunk_damaged(struct store_chunk_job *job, const char *what)
{
	job->damage = what;
	return false;
}

/* Checks the header, allocates the batch's columns, reads up to the sums, where *input then stands. False:
 * damage, or no memory (then no damage is set, but *error). */
bool store_chunk_job_begin(
	struct store_chunk_job *job, unsigned asked, struct store_input *input, struct error *error);
/* Rows of one part, a multiple of a block: small enough that the columns of several streams fit the cache. */
#define STORE_CHUNK_PART (8u * STORE_BLOCK_RECORDS)
/* The job's failure as a code and its sentence. */
int store_chunk_job_failed(const struct store_chunk_job *job, struct error *error);
/* True when the writer has reused the chunk's pages since. */
bool store_chunk_job_is_lost(const struct store_chunk_job *job);

#endif
