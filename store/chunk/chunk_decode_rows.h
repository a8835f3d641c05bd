/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_decode_rows.h - copies a block's values to the batch and checks ends and ids. Inlined into the loops
 * of the decoder.
 */
#ifndef STORE_CHUNK_DECODE_ROWS_H
#define STORE_CHUNK_DECODE_ROWS_H

#include "store/chunk/chunk_decode_internal.h"

/* Has the highest bit if the value is above the limit (which has not): checks many values without unsigned
 * 64-bit comparisons, which vectors lack. */
static inline uint64_t sign_beyond(uint64_t value, uint64_t limit)
{
	return (limit - value) | value;
}

/* ---- ids that exist ---- */

static uint64_t limit_of(uint32_t limit)
{
	return limit ? limit : (uint64_t)UINT32_MAX + 1;
}

static uint64_t limit_of_what(const struct store_chunk_job *job)
{
	const struct store_chunk *chunk = job->chunk;

	if (job->header.track != STORE_SPANS)
		return limit_of(chunk->metrics);
	return chunk->texts ? (uint64_t)STORE_OP_TEXT + chunk->texts : limit_of(0);
}

static uint64_t limit_of_ids(const struct store_chunk_job *job, unsigned column)
{
	switch (column) {
	case CHUNK_CONTEXT:
		return limit_of(job->chunk->contexts);
	case CHUNK_WHAT:
		return limit_of_what(job);
	case CHUNK_ATTRIBUTES:
		return limit_of(job->chunk->texts);
	default:
		return limit_of(0);
	}
}

/* Checks that the tables hold existing ids. */
static void check_tables(struct store_chunk_job *job)
{
	for (unsigned column = CHUNK_WHAT; column < CHUNK_COLUMN_COUNT; column++) {
		uint64_t limit = limit_of_ids(job, column), signs = 0;

		if (!store_chunk_has_table(job, column))
			continue;
		for (uint32_t i = 0; i < job->header.dictionary; i++)
			signs |= sign_beyond(job->tables[column][i], limit - 1);
		job->sound |= (unsigned)!(signs >> 63) << column;
	}
}

/* ---- columns ---- */

/* Parts of a chunk reuse the batch: the first part has filled constant columns. */
static bool is_filled(const struct store_chunk_job *job, unsigned column, unsigned at, unsigned count)
{
	return store_chunk_is_constant(job, column) && at + count <= job->filled;
}

static bool put_end(struct store_chunk_job *job, unsigned at, unsigned count)
{
	const uint64_t *begin = job->columns[CHUNK_BEGIN], *duration = job->columns[CHUNK_DURATION];
	uint64_t *restrict end = job->batch->end_ns + at, limit_ns = job->header.end_ns;
	uint64_t signs = limit_ns, bad = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t begin_ns = begin[i], duration_ns = duration[i], end_ns = begin_ns + duration_ns;

		end[i] = end_ns;
		signs |= sign_beyond(end_ns, limit_ns) | begin_ns | duration_ns;
	}
	for (unsigned i = 0; signs >> 63 && i < count; i++)
		bad |= (end[i] < begin[i]) | (end[i] > limit_ns);
	return bad ? store_chunk_damaged(job, "an end beyond the latest one") : true;
}

static bool put_narrow(
	struct store_chunk_job *job, uint32_t *to, const uint64_t *values, unsigned count, uint64_t limit)
{
	uint64_t signs = 0;

	for (unsigned i = 0; i < count; i++) {
		signs |= sign_beyond(values[i], limit - 1);
		to[i] = (uint32_t)values[i];
	}
	return signs >> 63 ? store_chunk_damaged(job, "an id that does not exist") : true;
}

static void put_looked_up(
	const struct store_chunk_job *job, uint32_t *to, const uint64_t *table, unsigned count)
{
	const uint64_t *index = job->columns[CHUNK_CONTEXT];

#pragma GCC unroll 8
	for (size_t i = 0; i < count; i++)
		to[i] = (uint32_t)table[index[i]];
}

/* A column of ids; where all are equal, `to` is filled already. */
static bool put_ids(struct store_chunk_job *job, unsigned column, uint32_t *to, unsigned at, unsigned count)
{
	if (!to || is_filled(job, column, at, count))
		return true;
	if (!(job->looked_up >> column & 1))
		return put_narrow(job, to + at, job->columns[column], count, limit_of_ids(job, column));
	put_looked_up(job, to + at, job->tables[column], count);
	return true;
}

static bool put_context(struct store_chunk_job *job, unsigned at, unsigned count)
{
	const uint64_t *values = job->columns[CHUNK_CONTEXT];
	const uint32_t *dictionary = job->dictionary;
	uint32_t *to = job->batch->context;

	if (!job->header.dictionary || store_chunk_is_constant(job, CHUNK_CONTEXT))
		return put_ids(job, CHUNK_CONTEXT, to, at, count);
	for (unsigned i = 0; to && i < count; i++)
		to[at + i] = dictionary[values[i]];
	return true;
}

/* Columns of 64 bits, except constant ones, are decoded directly into the batch. */
static void place_columns(struct store_chunk_job *job, unsigned at)
{
	const struct store_batch *batch = job->batch;
	uint64_t *const wide[CHUNK_COLUMN_COUNT] = {[CHUNK_BEGIN] = batch->begin_ns,
		[CHUNK_AMOUNT] = batch->amount,
		[CHUNK_BYTES] = batch->bytes,
		[CHUNK_LINK] = batch->link};

	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (wide[column] && !store_chunk_is_constant(job, column))
			job->columns[column] = wide[column] + at;
}

static void put_wide(
	const struct store_chunk_job *job, unsigned column, uint64_t *to, unsigned at, unsigned count)
{
	if (to && store_chunk_is_constant(job, column) && !is_filled(job, column, at, count))
		memcpy(to + at, job->columns[column], count * sizeof *to);
}

static bool put_batch(struct store_chunk_job *job, unsigned at, unsigned count)
{
	struct store_batch *batch = job->batch;

	put_wide(job, CHUNK_BEGIN, batch->begin_ns, at, count);
	put_wide(job, CHUNK_AMOUNT, batch->amount, at, count);
	put_wide(job, CHUNK_BYTES, batch->bytes, at, count);
	put_wide(job, CHUNK_LINK, batch->link, at, count);
	return (!batch->end_ns || put_end(job, at, count)) && put_context(job, at, count) &&
	       put_ids(job, CHUNK_WHAT, batch->what, at, count) &&
	       put_ids(job, CHUNK_ATTRIBUTES, batch->attributes, at, count) &&
	       put_ids(job, CHUNK_FLAGS, batch->flags, at, count);
}

#endif
