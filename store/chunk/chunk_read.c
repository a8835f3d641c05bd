/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_read.c - decodes the blocks of a chunk into columns. The bytes are untrusted: besides the checksum
 * it checks every length, index and order before use, so that its results keep their guarantees.
 */
#include "store/chunk/chunk_decode_residuals.h"
#include "store/chunk/chunk_decode_rows.h"

/* ---- what the caller wants, and what that needs ---- */

static unsigned columns_wanted(const struct store_chunk_job *job, unsigned asked)
{
	unsigned wanted = 0;

	if (asked & (STORE_BEGIN | STORE_END))
		wanted |= 1u << CHUNK_BEGIN;
	if (asked & STORE_END || (wanted && store_chunk_has_table(job, CHUNK_BEGIN)))
		wanted |= 1u << CHUNK_DURATION;
	if (asked & STORE_AMOUNT)
		wanted |= 1u << CHUNK_AMOUNT;
	if (asked & STORE_WHAT)
		wanted |= 1u << CHUNK_WHAT;
	if (asked & STORE_BYTES)
		wanted |= 1u << CHUNK_BYTES;
	if (asked & STORE_LINK)
		wanted |= 1u << CHUNK_LINK;
	if (asked & STORE_ATTRIBUTES)
		wanted |= 1u << CHUNK_ATTRIBUTES;
	if (asked & STORE_FLAGS)
		wanted |= 1u << CHUNK_FLAGS;
	if (asked & STORE_CONTEXT || wanted & job->header.tables & ~(1u << CHUNK_BEGIN))
		wanted |= 1u << CHUNK_CONTEXT;
	return wanted;
}

/* ---- one column of one block: residuals to values, in place ---- */

static void fill(uint64_t *values, unsigned count, uint64_t value)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = value;
}

static bool undo_delta(struct store_chunk_job *job, unsigned column, uint64_t *values, unsigned count,
	uint64_t first, uint64_t centre)
{
	bool rises;

	values[0] = first;
	rises = undo_steps(job, values, NULL, count, centre);
	job->rises |= column == CHUNK_BEGIN && rises;
	return true;
}

static bool undo_centre(uint64_t *values, unsigned count, uint64_t centre)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = centre + store_unzigzag(values[i]);
	return true;
}

static bool undo_gap(
	struct store_chunk_job *job, uint64_t *values, unsigned count, uint64_t first, uint64_t centre)
{
	if (!store_chunk_has_table(job, CHUNK_BEGIN))
		return store_chunk_damaged(job, "gaps where none are announced");
	values[0] = first;
	job->rises = undo_steps(job, values, job->columns[CHUNK_DURATION], count, centre);
	return true;
}

static bool undo_table(struct store_chunk_job *job, unsigned column, uint64_t *values, unsigned count)
{
	const uint64_t *index = job->columns[CHUNK_CONTEXT], *table = job->tables[column];

	if (column == CHUNK_CONTEXT || column == CHUNK_BEGIN || !store_chunk_has_table(job, column))
		return store_chunk_damaged(job, "a table where none is announced");
#ifdef STORE_HAS_AVX2
	if (job->is_wide) {
		add_table_wide(values, table, index, count);
		return true;
	}
#endif
	add_table(values, table, index, count);
	return true;
}

/* The bodies behind the first; see CHUNK_FRESH. */
static bool get_fresh(struct store_chunk_job *job, struct store_input *input, unsigned count)
{
	uint64_t above[STORE_BLOCK_RECORDS] = {0}, below[STORE_BLOCK_RECORDS] = {0};
	uint64_t *values = job->columns[CHUNK_CONTEXT], most = store_input_varint(input) - 1;
	const uint64_t *next_above = above, *next_below = below;
	unsigned fresh = 0;

	if (!store_codec_get(input, values, count))
		return store_chunk_damaged(job, "a column that is cut short");
	for (unsigned i = 0; i < count; i++)
		fresh += values[i] & 1;
	if ((fresh && !store_codec_get(input, above, fresh)) ||
		(fresh < count && !store_codec_get(input, below, count - fresh)))
		return store_chunk_damaged(job, "a column that is cut short");
	for (unsigned i = 0; i < count; i++) {
		if (values[i] & 1)
			values[i] = most += *next_above++ + 1;
		else
			values[i] = most - *next_below++;
	}
	return true;
}

/* Residuals that are all the same: some columns need no look at each. False: they do, and are in place. */
static bool undo_alike(struct store_chunk_job *job, unsigned column, enum chunk_transform how, unsigned count,
	uint64_t first, uint64_t parameter, uint64_t residual)
{
	uint64_t *values = job->columns[column];

	if (how == CHUNK_DELTA) {
		uint64_t step = parameter + store_unzigzag(residual);

		for (unsigned i = 0; i < count; i++)
			values[i] = first + i * step;
		return true;
	}
	if (how == CHUNK_TABLE && !residual && job->sound >> column & 1) {
		job->looked_up |= 1u << column;
		return true;
	}
	fill(values, count, residual);
	return false;
}

static bool undo(struct store_chunk_job *job, unsigned column, enum chunk_transform how, unsigned count,
	uint64_t first, uint64_t parameter, uint64_t scale)
{
	uint64_t *values = job->columns[column];

	for (unsigned i = 0; scale != 1 && i < count; i++)
		values[i] = store_zigzag(store_unzigzag(values[i]) * scale);
	if (how == CHUNK_DELTA || how == CHUNK_SCALED)
		return undo_delta(job, column, values, count, first, parameter);
	if (how == CHUNK_CENTRE)
		return undo_centre(values, count, parameter);
	if (how == CHUNK_GAP)
		return undo_gap(job, values, count, first, parameter);
	if (how == CHUNK_TABLE)
		return undo_table(job, column, values, count);
	for (unsigned i = 0; parameter && i < count; i++)
		values[i] += parameter;
	return true;
}

static bool get_column(struct store_chunk_job *job, struct store_input *input, unsigned column,
	unsigned count, uint64_t first)
{
	const uint8_t *how = store_input_take(input, 1);
	uint64_t parameter = 0, scale = 1, residual;
	bool wanted = job->wanted >> column & 1, are_alike, is_got;

	if (!how || *how > CHUNK_SCALED || (*how >= CHUNK_FRESH && job->header.codec < 2) ||
		(*how == CHUNK_SCALED && (column != CHUNK_AMOUNT || job->header.codec < 4)) ||
		(*how == CHUNK_GAP && column != CHUNK_BEGIN) ||
		(*how == CHUNK_FRESH && (column != CHUNK_CONTEXT || job->header.dictionary)))
		return store_chunk_damaged(job, "an unknown transform");
	if (*how == CHUNK_FRESH)
		return get_fresh(job, input, count);
	if ((*how == CHUNK_DELTA && column != CHUNK_BEGIN) || *how == CHUNK_SCALED)
		first = store_input_varint(input);
	if (*how == CHUNK_PLAIN || *how == CHUNK_CENTRE)
		parameter = store_input_varint(input);
	else if (*how != CHUNK_TABLE)
		parameter = store_input_zigzag(input);
	if (*how == CHUNK_SCALED)
		scale = store_input_varint(input);
	are_alike = wanted && store_codec_get_const(input, &residual);
	if (are_alike)
		is_got = !input->bad;
	else
		is_got = wanted ? store_codec_get(input, job->columns[column], count)
				: store_codec_skip(input, count);
	if (!is_got)
		return store_chunk_damaged(job, "a column that is cut short");
	if (!wanted || (are_alike && undo_alike(job, column, *how, count, first, parameter, residual)))
		return true;
	return undo(job, column, *how, count, first, parameter, scale);
}

/* Indices are checked before a table is looked up with them. */
static bool check_index(struct store_chunk_job *job, unsigned count)
{
	const uint64_t *index = job->columns[CHUNK_CONTEXT];
	uint64_t signs = 0;

	for (unsigned i = 0; i < count; i++)
		signs |= sign_beyond(index[i], job->header.dictionary - UINT64_C(1));
	return signs >> 63 ? store_chunk_damaged(job, "an index beyond the dictionary") : true;
}

static bool get_columns(
	struct store_chunk_job *job, struct store_input *input, unsigned count, uint64_t first)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		if (store_chunk_is_constant(job, column))
			continue;
		if (!get_column(job, input, column, count, first))
			return false;
		if (column == CHUNK_CONTEXT && job->wanted >> column & 1 && job->header.dictionary &&
			!check_index(job, count))
			return false;
	}
	return true;
}

/* ---- the walk over the blocks ---- */

static bool check_begin(struct store_chunk_job *job, const uint64_t *begin, unsigned count)
{
	uint64_t bad = begin[0] < job->last_ns, signs = job->rises ? 0 : begin[0];

	for (unsigned i = 1; !job->rises && i < count; i++)
		signs |= sign_beyond(begin[i - 1], begin[i]) | begin[i];
	for (unsigned i = 1; signs >> 63 && i < count; i++)
		bad |= begin[i] < begin[i - 1];
	job->last_ns = begin[count - 1];
	return bad || job->last_ns > job->header.last_ns ? store_chunk_damaged(job, "records out of order")
							 : true;
}

/* Constant columns are equal in every block: fills the requested ones once. */
static void fill_constants(struct store_chunk_job *job)
{
	const uint32_t count = job->header.count;
	unsigned columns = job->wanted & job->header.constant;

	for (; columns; columns &= columns - 1) {
		const unsigned column = (unsigned)__builtin_ctz(columns);

		fill(job->columns[column], count < STORE_BLOCK_RECORDS ? count : STORE_BLOCK_RECORDS,
			job->constants[column]);
	}
}

static bool get_block(struct store_chunk_job *job, unsigned block, uint32_t count)
{
	const struct store_chunk *chunk = job->chunk;
	const uint8_t *entry =
		chunk->bytes + job->header.directory_at + block * sizeof(struct store_chunk_entry);
	uint64_t first = store_load64(entry);
	uint32_t at = store_load32(entry + offsetof(struct store_chunk_entry, at));
	struct store_input input = {.at = chunk->bytes + at, .end = chunk->bytes + chunk->size_bytes};

	if (at > chunk->size_bytes)
		return store_chunk_damaged(job, "a block beyond its end");
	job->looked_up = 0;
	job->rises = false;
	place_columns(job, (unsigned)job->batch->count);
	if (!get_columns(job, &input, count, first))
		return false;
	if (job->wanted >> CHUNK_BEGIN & 1 && !check_begin(job, job->columns[CHUNK_BEGIN], count))
		return false;
	if (!put_batch(job, (unsigned)job->batch->count, count))
		return false;
	job->batch->count += count;
	return true;
}

static uint64_t first_of(const struct store_chunk_job *job, size_t block)
{
	return store_load64(
		job->chunk->bytes + job->header.directory_at + block * sizeof(struct store_chunk_entry));
}

/* How many of the first blocks end before the window. A block's records may begin as late as the next one's
 * first. */
static size_t blocks_before(const struct store_chunk_job *job, size_t blocks)
{
	size_t before = 0;

	while (before + 1 < blocks && first_of(job, before + 1) < job->begin_ns)
		before++;
	return before;
}

/* As many as there is room for. */
static bool get_blocks(struct store_chunk_job *job)
{
	const uint32_t count = job->header.count;
	const size_t blocks = (count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;

	job->batch->count = 0;
	for (; job->block < blocks && job->batch->count < job->room; job->block++) {
		uint32_t left = count - (uint32_t)job->block * STORE_BLOCK_RECORDS;

		if (first_of(job, job->block) >= job->end_ns)
			break;
		if (!get_block(job, (unsigned)job->block,
			    left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS))
			return false;
	}
	job->filled = job->batch->count > job->filled ? job->batch->count : job->filled;
	return true;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static bool get_blocks_wide(struct store_chunk_job *job)
{
	return get_blocks(job);
}
#endif

static bool get_blocks_best(struct store_chunk_job *job)
{
#ifdef STORE_HAS_AVX2
	job->is_wide = store_cpu_has_avx2();
	if (job->is_wide)
		return get_blocks_wide(job);
#endif
	return get_blocks(job);
}

/* ---- the whole ---- */

/* Up to the first block. */
static bool begin(struct store_chunk_job *job, unsigned columns, struct error *error)
{
	struct store_input input;
	size_t blocks;

	if (!store_chunk_job_begin(job, columns, &input, error))
		return false;
	blocks = (job->header.count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;
	job->batch->count = 0;
	job->wanted = columns_wanted(job, columns);
	job->last_ns = job->header.first_ns;
	if (job->header.directory_at > job->chunk->size_bytes ||
		job->chunk->size_bytes - job->header.directory_at < blocks * sizeof(struct store_chunk_entry))
		return store_chunk_damaged(job, "a directory beyond its end");
	fill_constants(job);
	check_tables(job);
	job->block = blocks_before(job, blocks);
	return true;
}

static int end(struct store_chunk_job *job, bool is_done, struct error *error)
{
	if (is_done && !store_chunk_job_is_lost(job))
		return 0;
	job->batch->count = 0;
	return store_chunk_job_failed(job, error);
}

int store_chunk_decode_between(const struct store_chunk *chunk, uint64_t begin_ns, uint64_t end_ns,
	unsigned columns, struct store_batch *batch, struct error *error)
{
	struct store_chunk_job job = {.chunk = chunk,
		.batch = batch,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.room = STORE_CHUNK_RECORDS_MAX};
	bool is_done = begin(&job, columns, error) && get_blocks_best(&job);

	return end(&job, is_done, error);
}

int store_chunk_decode(
	const struct store_chunk *chunk, unsigned columns, struct store_batch *batch, struct error *error)
{
	return store_chunk_decode_between(chunk, 0, UINT64_MAX, columns, batch, error);
}

int store_chunk_decode_begin(
	const struct store_chunk *chunk, unsigned columns, struct store_batch *batch, struct error *error)
{
	struct store_chunk_job job = {
		.chunk = chunk, .batch = batch, .end_ns = UINT64_MAX, .room = STORE_CHUNK_PART};
	int result;

	batch->job = NULL;
	result = end(&job, begin(&job, columns, error), error);
	if (result)
		return result;
	batch->job = batch->memory;
	*batch->job = job;
	return 0;
}

int store_chunk_decode_next(struct store_batch *batch, struct error *error)
{
	struct store_chunk_job *job = batch->job;
	int result = job ? end(job, get_blocks_best(job), error) : 0;

	if (result || !job || !batch->count)
		batch->job = NULL;
	return result ? result : batch->job != NULL;
}
