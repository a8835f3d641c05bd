/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_decode_internal.h - what the files that take chunks apart share: one chunk under way, its header
 * checked, its constants, dictionary and tables read. chunk_read.c goes on with the blocks, chunk_sums.c with
 * the sums.
 */
#ifndef STORE_CHUNK_DECODE_INTERNAL_H
#define STORE_CHUNK_DECODE_INTERNAL_H

#include "store/chunk/chunk.h"
#include "store/chunk/chunk_decode.h"
#include "store/file/tree.h"

/* What one decoding is about. */
struct store_chunk_job {
	const struct store_chunk *chunk;
	struct store_chunk_header header;
	struct store_batch *batch;
	unsigned wanted; /* bit per enum chunk_column */
	uint32_t *dictionary;
	uint64_t *tables[CHUNK_COLUMN_COUNT];
	uint64_t constants[CHUNK_COLUMN_COUNT];
	uint64_t *columns[CHUNK_COLUMN_COUNT]; /* of the block at hand */
	unsigned sound;	    /* bits of columns of ids whose tables have none that does not exist */
	unsigned looked_up; /* bits of its columns that are their tables' values and nothing more: not decoded
			     */
	bool rises;	    /* its begins surely do */
	uint64_t last_ns;   /* begin of the last record decoded */
	uint64_t begin_ns, end_ns; /* blocks without a record that begins here are passed over */
	size_t block;		   /* the next one */
	size_t room;		   /* rows of the batch: a part of the chunk, or all of it */
	size_t filled;		   /* of which so many have the values of constant columns */
	const char *damage;	   /* what is wrong */
	bool is_wide;		   /* vectors of 256 bits may be used */
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

/* Checks the header, makes room in the batch for the columns asked for, reads what stands in front of the
 * sums: *input is there. False: damage, or memory is out (no damage then, *error is set). */
bool store_chunk_job_begin(
	struct store_chunk_job *job, unsigned asked, struct store_input *input, struct error *error);
/* Whole blocks: what a part holds, so that the columns of some streams stay in the cache together. */
#define STORE_CHUNK_PART (8u * STORE_BLOCK_RECORDS)
/* The job's failure as a code and its sentence. */
int store_chunk_job_failed(const struct store_chunk_job *job, struct error *error);
/* Do its pages belong to another moment by now? */
bool store_chunk_job_is_lost(const struct store_chunk_job *job);

#endif
