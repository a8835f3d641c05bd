/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_read.c - the bytes of a chunk to columns. The bytes may be anybody's: beyond the checksum every
 * length, index and order is checked before it is used, so that what comes out keeps its promises.
 */
#include <stdlib.h>

#include "store/chunk.h"
#include "store/hash.h"
#include "store/reader.h"
#include "store/sums.h"
#include "store/tree.h"
#include "store/wide.h"

#define PARTS_MAX 16u

/* What one decoding is about. */
struct job {
	const struct store_chunk *chunk;
	struct store_chunk_header header;
	struct store_batch *batch;
	unsigned wanted; /* bit per enum chunk_column */
	uint32_t *dictionary;
	uint64_t *tables[CHUNK_COLUMN_COUNT];
	uint64_t constants[CHUNK_COLUMN_COUNT];
	uint64_t *columns[CHUNK_COLUMN_COUNT]; /* of the block at hand */
	uint64_t last_ns;		       /* begin of the last record decoded */
	uint64_t begin_ns, end_ns;	       /* blocks without a record that begins here are passed over */
	const char *damage;		       /* what is wrong */
	bool is_wide;			       /* vectors of 256 bits may be used */
};

bool store_chunk_peek(struct store_chunk *chunk, struct store_slice bytes)
{
	struct store_chunk_header header;

	if (bytes.size < sizeof header)
		return false;
	memcpy(&header, bytes.bytes, sizeof header);
	*chunk = (struct store_chunk){.bucket_ns = header.bucket_ns,
		.shift = header.shift,
		.count = header.count,
		.first_ns = header.first_ns,
		.last_ns = header.last_ns,
		.end_ns = header.end_ns,
		.bytes = bytes.bytes,
		.size_bytes = bytes.size};
	if (header.shift > STORE_SHIFT_MAX || header.track >= STORE_TRACK_COUNT || !header.count ||
		header.count > STORE_CHUNK_RECORDS_MAX)
		return false;
	return header.first_ns >= header.bucket_ns && header.first_ns <= header.last_ns &&
	       header.last_ns - header.bucket_ns < (uint64_t)1 << header.shift &&
	       header.last_ns <= header.end_ns;
}

bool store_chunk_matches(const struct store_chunk *chunk, const struct store_key_chunk *key)
{
	struct store_chunk_header header;

	memcpy(&header, chunk->bytes, sizeof header);
	return header.stream == key->stream && header.track == key->track && header.shift == key->shift &&
	       header.bucket_ns == key->bucket_ns;
}

bool store_chunk_has_extent(const struct store_chunk *chunk)
{
	return chunk->bytes[offsetof(struct store_chunk_header, flags_seen)] & STORE_RECORD_EXTENT;
}

/* ---- what the caller wants, and what that needs ---- */

static bool is_constant(const struct job *job, unsigned column)
{
	return job->header.constant >> column & 1;
}

static bool has_table(const struct job *job, unsigned column)
{
	return job->header.tables >> column & 1;
}

static unsigned columns_wanted(const struct job *job, unsigned asked)
{
	unsigned wanted = 0;

	if (asked & (STORE_BEGIN | STORE_END))
		wanted |= 1u << CHUNK_BEGIN;
	if (asked & STORE_END || (wanted && has_table(job, CHUNK_BEGIN)))
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

/* ---- memory of a batch: its columns, then the scratch of decoding ---- */

void store_batch_init(struct store_batch *batch)
{
	*batch = (struct store_batch){0};
}

void store_batch_fini(struct store_batch *batch)
{
	free(batch->memory);
	*batch = (struct store_batch){0};
}

struct store_record store_batch_record(const struct store_batch *batch, size_t i)
{
	return (struct store_record){.begin_ns = batch->begin_ns[i],
		.end_ns = batch->end_ns[i],
		.amount = batch->amount[i],
		.bytes = batch->bytes[i],
		.link = batch->link[i],
		.context = batch->context[i],
		.what = batch->what[i],
		.attributes = batch->attributes[i],
		.flags = batch->flags[i]};
}

static bool batch_reserve(struct store_batch *batch, size_t bytes)
{
	void *memory;

	if (bytes <= batch->memory_bytes)
		return true;
	memory = malloc(bytes);
	if (!memory)
		return false;
	free(batch->memory);
	batch->memory = memory;
	batch->memory_bytes = bytes;
	return true;
}

/* Cuts the memory: 64-bit arrays first. Counts are bounded by STORE_CHUNK_RECORDS_MAX, nothing overflows. */
static bool lay_out(struct job *job, unsigned asked)
{
	struct store_batch *batch = job->batch;
	const size_t count = (job->header.count + 7) & ~(size_t)7, contexts = job->header.dictionary;
	uint64_t **wide[] = {&batch->begin_ns, &batch->end_ns, &batch->amount, &batch->bytes, &batch->link};
	const unsigned wide_of[] = {STORE_BEGIN, STORE_END, STORE_AMOUNT, STORE_BYTES, STORE_LINK};
	uint32_t **narrow[] = {&batch->context, &batch->what, &batch->attributes, &batch->flags};
	const unsigned narrow_of[] = {STORE_CONTEXT, STORE_WHAT, STORE_ATTRIBUTES, STORE_FLAGS};
	uint64_t *at;

	if (!batch_reserve(batch,
		    8 * (9 * count + (CHUNK_COLUMN_COUNT * (STORE_BLOCK_RECORDS + contexts)) + contexts)))
		return false;
	at = batch->memory;
	for (unsigned i = 0; i < 5; i++, at += count)
		*wide[i] = asked & wide_of[i] ? at : NULL;
	for (unsigned i = 0; i < 4; i++, at += count)
		*narrow[i] = asked & narrow_of[i] ? (uint32_t *)at : NULL;
	for (unsigned c = 0; c < CHUNK_COLUMN_COUNT; c++, at += STORE_BLOCK_RECORDS)
		job->columns[c] = at;
	for (unsigned c = 0; c < CHUNK_COLUMN_COUNT; c++, at += contexts)
		job->tables[c] = at;
	job->dictionary = (uint32_t *)at;
	batch->count = job->header.count;
	return true;
}

/* ---- the part that belongs to the whole chunk ---- */

static bool damaged(struct job *job, const char *what)
{
	job->damage = what;
	return false;
}

static bool get_constants(struct job *job, struct store_input *input)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (is_constant(job, column))
			job->constants[column] =
				column == CHUNK_BEGIN ? job->header.first_ns : store_input_varint(input);
	return !input->bad;
}

static bool get_dictionary(struct job *job, struct store_input *input)
{
	const uint32_t contexts = job->header.dictionary;
	uint64_t *ids = job->tables[CHUNK_CONTEXT];

	if (!store_sums_get_array(input, ids, contexts))
		return false;
	for (uint32_t i = 0; i < contexts; i++) {
		if (ids[i] > UINT32_MAX || (job->chunk->contexts && ids[i] >= job->chunk->contexts))
			return damaged(job, "a context that does not exist");
		job->dictionary[i] = (uint32_t)ids[i];
	}
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (has_table(job, column) && column != CHUNK_BEGIN &&
			!store_sums_get_array(input, job->tables[column], contexts))
			return false;
	return true;
}

/* ---- one column of one block: residuals to values, in place ---- */

/* In two loops: all but the sum is done for several values at once. */
static void sum_up(uint64_t *values, unsigned count, uint64_t first)
{
	uint64_t value = first;
	unsigned i = 1;

	values[0] = first;
	/* By fours, of which one sum waits for the four before. */
	for (; i + 4 <= count; i += 4) {
		uint64_t two = values[i] + values[i + 1], three = two + values[i + 2];

		values[i] += value;
		values[i + 1] = value + two;
		values[i + 2] = value + three;
		values[i + 3] = value += three + values[i + 3];
	}
	for (; i < count; i++)
		values[i] = value += values[i];
}

static bool undo_delta(uint64_t *values, unsigned count, uint64_t first, uint64_t centre)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = centre + store_unzigzag(values[i]);
	sum_up(values, count, first);
	return true;
}

static bool undo_gap(struct job *job, uint64_t *values, unsigned count, uint64_t first, uint64_t centre)
{
	const uint64_t *restrict duration = job->columns[CHUNK_DURATION];
	uint64_t *restrict steps = values;

	if (!has_table(job, CHUNK_BEGIN))
		return damaged(job, "gaps where none are announced");
	for (unsigned i = 1; i < count; i++)
		steps[i] = duration[i - 1] + centre + store_unzigzag(steps[i]);
	sum_up(values, count, first);
	return true;
}

/* What a table says for each index, plus what is left. */
static void add_table(uint64_t *to, const uint64_t *table, const uint64_t *index, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to[i] = table[index[i]] + store_unzigzag(to[i]);
}

#ifdef STORE_HAS_WIDE
#include <immintrin.h>

/* The compiler looks up one value after the other. */
__attribute__((target("avx2"))) static void add_table_wide(
	uint64_t *to, const uint64_t *table, const uint64_t *index, unsigned count)
{
	const __m256i one = _mm256_set1_epi64x(1);
	unsigned i = 0;

	for (; i + 4 <= count; i += 4) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(index + i));
		__m256i left = _mm256_loadu_si256((const __m256i *)(to + i));
		__m256i sign = _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(left, one));
		__m256i value = _mm256_i64gather_epi64((const long long *)table, at, 8);

		left = _mm256_xor_si256(_mm256_srli_epi64(left, 1), sign);
		_mm256_storeu_si256((__m256i *)(to + i), _mm256_add_epi64(value, left));
	}
	add_table(to + i, table, index + i, count - i);
}
#endif

static bool undo_table(struct job *job, unsigned column, uint64_t *values, unsigned count)
{
	const uint64_t *index = job->columns[CHUNK_CONTEXT], *table = job->tables[column];

	if (column == CHUNK_CONTEXT || column == CHUNK_BEGIN || !has_table(job, column))
		return damaged(job, "a table where none is announced");
#ifdef STORE_HAS_WIDE
	if (job->is_wide) {
		add_table_wide(values, table, index, count);
		return true;
	}
#endif
	add_table(values, table, index, count);
	return true;
}

static bool get_column(
	struct job *job, struct store_input *input, unsigned column, unsigned count, uint64_t first)
{
	const uint8_t *how = store_input_take(input, 1);
	uint64_t *values = job->columns[column], parameter = 0;
	bool wanted = job->wanted >> column & 1;

	if (!how || *how > CHUNK_GAP || (*how == CHUNK_GAP && column != CHUNK_BEGIN))
		return damaged(job, "an unknown transform");
	if (*how == CHUNK_DELTA && column != CHUNK_BEGIN)
		first = store_input_varint(input);
	if (*how == CHUNK_PLAIN)
		parameter = store_input_varint(input);
	else if (*how != CHUNK_TABLE)
		parameter = store_input_zigzag(input);
	if (!(wanted ? store_codec_get(input, values, count) : store_codec_skip(input, count)))
		return damaged(job, "a column that is cut short");
	if (!wanted)
		return true;
	if (*how == CHUNK_DELTA)
		return undo_delta(values, count, first, parameter);
	if (*how == CHUNK_GAP)
		return undo_gap(job, values, count, first, parameter);
	if (*how == CHUNK_TABLE)
		return undo_table(job, column, values, count);
	for (unsigned i = 0; parameter && i < count; i++)
		values[i] += parameter;
	return true;
}

/* Indices are checked before a table is looked up with them. */
static bool check_index(struct job *job, unsigned count)
{
	const uint64_t *index = job->columns[CHUNK_CONTEXT];
	uint64_t bad = 0;

	for (unsigned i = 0; i < count; i++)
		bad |= index[i] >= job->header.dictionary;
	return bad ? damaged(job, "an index beyond the dictionary") : true;
}

static bool get_columns(struct job *job, struct store_input *input, unsigned count, uint64_t first)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		if (is_constant(job, column))
			continue;
		if (!get_column(job, input, column, count, first))
			return false;
		if (column == CHUNK_CONTEXT && job->wanted >> column & 1 && job->header.dictionary &&
			!check_index(job, count))
			return false;
	}
	return true;
}

/* ---- values to the batch ---- */

static bool check_begin(struct job *job, const uint64_t *begin, unsigned count)
{
	uint64_t bad = begin[0] < job->last_ns;

	for (unsigned i = 1; i < count; i++)
		bad |= begin[i] < begin[i - 1];
	job->last_ns = begin[count - 1];
	return bad || job->last_ns > job->header.last_ns ? damaged(job, "records out of order") : true;
}

static bool put_end(struct job *job, unsigned at, unsigned count)
{
	const uint64_t *begin = job->columns[CHUNK_BEGIN], *duration = job->columns[CHUNK_DURATION];
	uint64_t *end = job->batch->end_ns + at, bad = 0;

	for (unsigned i = 0; i < count; i++) {
		end[i] = begin[i] + duration[i];
		bad |= (end[i] < begin[i]) | (end[i] > job->header.end_ns);
	}
	return bad ? damaged(job, "an end beyond the latest one") : true;
}

static bool put_narrow(struct job *job, uint32_t *to, const uint64_t *values, unsigned count, uint64_t limit)
{
	uint64_t bad = 0;

	for (unsigned i = 0; i < count; i++) {
		bad |= values[i] >= limit;
		to[i] = (uint32_t)values[i];
	}
	return bad ? damaged(job, "an id that does not exist") : true;
}

static uint64_t limit_of(uint32_t limit)
{
	return limit ? limit : (uint64_t)UINT32_MAX + 1;
}

static uint64_t limit_of_what(const struct job *job)
{
	const struct store_chunk *chunk = job->chunk;

	if (job->header.track != STORE_SPANS)
		return limit_of(chunk->metrics);
	return chunk->texts ? (uint64_t)STORE_OP_TEXT + chunk->texts : limit_of(0);
}

static bool put_context(struct job *job, unsigned at, unsigned count)
{
	const uint64_t *values = job->columns[CHUNK_CONTEXT];
	uint32_t *to = job->batch->context + at;

	if (!job->header.dictionary || is_constant(job, CHUNK_CONTEXT))
		return put_narrow(job, to, values, count, limit_of(job->chunk->contexts));
	for (unsigned i = 0; i < count; i++)
		to[i] = job->dictionary[values[i]];
	return true;
}

/* Columns of 64 bits are decoded where they stay, but for constant ones. */
static void place_columns(struct job *job, unsigned at)
{
	const struct store_batch *batch = job->batch;
	uint64_t *const wide[CHUNK_COLUMN_COUNT] = {[CHUNK_BEGIN] = batch->begin_ns,
		[CHUNK_AMOUNT] = batch->amount,
		[CHUNK_BYTES] = batch->bytes,
		[CHUNK_LINK] = batch->link};

	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (wide[column] && !is_constant(job, column))
			job->columns[column] = wide[column] + at;
}

static void put_wide(const struct job *job, unsigned column, uint64_t *to, unsigned count)
{
	if (to && is_constant(job, column))
		memcpy(to, job->columns[column], count * sizeof *to);
}

static bool put_batch(struct job *job, unsigned at, unsigned count)
{
	struct store_batch *batch = job->batch;

	put_wide(job, CHUNK_BEGIN, batch->begin_ns ? batch->begin_ns + at : NULL, count);
	put_wide(job, CHUNK_AMOUNT, batch->amount ? batch->amount + at : NULL, count);
	put_wide(job, CHUNK_BYTES, batch->bytes ? batch->bytes + at : NULL, count);
	put_wide(job, CHUNK_LINK, batch->link ? batch->link + at : NULL, count);
	if (batch->end_ns && !put_end(job, at, count))
		return false;
	if (batch->context && !put_context(job, at, count))
		return false;
	if (batch->what &&
		!put_narrow(job, batch->what + at, job->columns[CHUNK_WHAT], count, limit_of_what(job)))
		return false;
	if (batch->attributes && !put_narrow(job, batch->attributes + at, job->columns[CHUNK_ATTRIBUTES],
					 count, limit_of(job->chunk->texts)))
		return false;
	return !batch->flags ||
	       put_narrow(job, batch->flags + at, job->columns[CHUNK_FLAGS], count, limit_of(0));
}

/* ---- the walk over the blocks ---- */

/* Constant columns are the same in every block: they are filled once. */
static void fill_constants(struct job *job)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		for (unsigned i = 0; is_constant(job, column) && i < STORE_BLOCK_RECORDS; i++)
			job->columns[column][i] = job->constants[column];
}

static bool get_block(struct job *job, unsigned block, uint32_t count)
{
	const struct store_chunk *chunk = job->chunk;
	const uint8_t *entry =
		chunk->bytes + job->header.directory_at + block * sizeof(struct store_chunk_entry);
	uint64_t first = store_load64(entry);
	uint32_t at = store_load32(entry + offsetof(struct store_chunk_entry, at));
	struct store_input input = {.at = chunk->bytes + at, .end = chunk->bytes + chunk->size_bytes};

	if (at > chunk->size_bytes)
		return damaged(job, "a block beyond its end");
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

static uint64_t first_of(const struct job *job, size_t block)
{
	return store_load64(
		job->chunk->bytes + job->header.directory_at + block * sizeof(struct store_chunk_entry));
}

/* How many of the first blocks end before the window. A block's records may begin as late as the next one's
 * first. */
static size_t blocks_before(const struct job *job, size_t blocks)
{
	size_t before = 0;

	while (before + 1 < blocks && first_of(job, before + 1) < job->begin_ns)
		before++;
	return before;
}

static bool get_blocks(struct job *job)
{
	const uint32_t count = job->header.count;
	const size_t blocks = (count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;

	if (job->header.directory_at > job->chunk->size_bytes ||
		job->chunk->size_bytes - job->header.directory_at < blocks * sizeof(struct store_chunk_entry))
		return damaged(job, "a directory beyond its end");
	fill_constants(job);
	job->last_ns = job->header.first_ns;
	job->batch->count = 0;
	for (size_t block = blocks_before(job, blocks); block < blocks; block++) {
		uint32_t left = count - (uint32_t)block * STORE_BLOCK_RECORDS;

		if (first_of(job, block) >= job->end_ns)
			break;
		if (!get_block(job, (unsigned)block, left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS))
			return false;
	}
	return true;
}

#ifdef STORE_HAS_WIDE
STORE_WIDE static bool get_blocks_wide(struct job *job)
{
	return get_blocks(job);
}
#endif

static bool get_blocks_best(struct job *job)
{
#ifdef STORE_HAS_WIDE
	job->is_wide = store_is_wide();
	if (job->is_wide)
		return get_blocks_wide(job);
#endif
	return get_blocks(job);
}

static bool check_header(struct job *job)
{
	const struct store_chunk *chunk = job->chunk;
	const size_t skipped = sizeof job->header.checksum;
	struct store_chunk peeked;

	if (!store_chunk_peek(&peeked, (struct store_slice){chunk->bytes, chunk->size_bytes}))
		return damaged(job, "no chunk's header");
	memcpy(&job->header, chunk->bytes, sizeof job->header);
	if (!store_sum_fits(job->header.checksum,
		    store_hash64(chunk->bytes + skipped, chunk->size_bytes - skipped, 0)))
		return damaged(job, "a wrong checksum");
	if (job->header.codec != STORE_CHUNK_CODEC)
		return damaged(job, "an unknown codec; a newer hpct may read it");
	if (job->header.dictionary > job->header.count)
		return damaged(job, "a dictionary larger than itself");
	if (job->header.dictionary && is_constant(job, CHUNK_CONTEXT))
		return damaged(job, "a dictionary that nothing looks up");
	if (job->header.tables && !job->header.dictionary && job->header.tables != 1u << CHUNK_BEGIN)
		return damaged(job, "tables without a dictionary");
	return true;
}

static bool decode(struct job *job, unsigned asked, struct error *error)
{
	struct store_input input;

	if (!check_header(job))
		return false;
	if (!lay_out(job, asked)) {
		error_memory(error);
		return false;
	}
	job->wanted = columns_wanted(job, asked);
	input = (struct store_input){.at = job->chunk->bytes + sizeof job->header,
		.end = job->chunk->bytes + job->chunk->size_bytes};
	if (!get_constants(job, &input) || !get_dictionary(job, &input))
		return job->damage ? false : damaged(job, "a dictionary that is cut short");
	return get_blocks_best(job);
}

static bool is_lost(const struct store_chunk *chunk)
{
	return chunk->pages && store_pages_are_lost(chunk->pages);
}

static int damage_error(const struct job *job, struct error *error)
{
	if (is_lost(job->chunk))
		return store_pages_lost(job->chunk->pages, error);
	return error_set(error, ERROR_RUN,
		"the store is damaged: the chunk of stream %u at %llu ns has %s; restore it from a copy, or "
		"read "
		"other streams with --streams",
		job->header.stream, (unsigned long long)job->chunk->bucket_ns, job->damage);
}

int store_chunk_decode_between(const struct store_chunk *chunk, uint64_t begin_ns, uint64_t end_ns,
	unsigned columns, struct store_batch *batch, struct error *error)
{
	struct job job = {.chunk = chunk, .batch = batch, .begin_ns = begin_ns, .end_ns = end_ns};

	batch->count = 0;
	if (decode(&job, columns, error) && !is_lost(chunk))
		return 0;
	batch->count = 0;
	if (is_lost(chunk))
		return store_pages_lost(chunk->pages, error);
	return job.damage ? damage_error(&job, error) : -ERROR_IO;
}

int store_chunk_decode(
	const struct store_chunk *chunk, unsigned columns, struct store_batch *batch, struct error *error)
{
	return store_chunk_decode_between(chunk, 0, UINT64_MAX, columns, batch, error);
}

/* ---- sums ---- */

static uint32_t sum_contexts(const struct job *job)
{
	return job->header.dictionary ? job->header.dictionary : 1;
}

static uint32_t sum_context(const struct job *job, uint32_t i)
{
	return job->header.dictionary ? job->dictionary[i] : (uint32_t)job->constants[CHUNK_CONTEXT];
}

/* One column of the last entries, which stand in the order of the dictionary. */
static bool get_sum_column(
	struct job *job, struct store_input *input, struct store_sum *sums, enum store_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = 0;

	if (column != STORE_SUMS_SAMPLES)
		unit = store_input_varint(input);
	for (uint32_t at = 0; at < sum_contexts(job); at += STORE_BLOCK_RECORDS) {
		uint32_t left = sum_contexts(job) - at;

		left = left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS;
		if (!store_codec_get(input, values, left))
			return damaged(job, "sums that are cut short");
		for (uint32_t i = 0; i < left; i++) {
			struct store_sum *sum = &sums[at + i];
			uint64_t value = sum->samples * unit + store_unzigzag(values[i]);

			if (column == STORE_SUMS_SAMPLES)
				sum->samples = values[i];
			else
				*(column == STORE_SUMS_TIME ? &sum->time_ns : &sum->weight) = value;
		}
	}
	return true;
}

static bool get_metric_sums(struct job *job, struct store_input *input, struct store_sums *sums)
{
	uint32_t from = sums->count;
	uint64_t metric = store_input_varint(input);
	struct store_sum *added;

	if (metric > UINT32_MAX || (job->chunk->metrics && metric >= job->chunk->metrics))
		return damaged(job, "sums of no metric");
	added = store_sums_extend(sums, sum_contexts(job));
	if (!added)
		return false;
	for (uint32_t i = 0; i < sum_contexts(job); i++)
		added[i] = (struct store_sum){.context = sum_context(job, i), .metric = (uint32_t)metric};
	return get_sum_column(job, input, sums->entries + from, STORE_SUMS_SAMPLES) &&
	       get_sum_column(job, input, sums->entries + from, STORE_SUMS_WEIGHT);
}

static bool get_line(struct job *job, struct store_input *input, struct store_sums *sums)
{
	struct store_line *line = &sums->line;

	*line = (struct store_line){.first_ns = job->header.first_ns,
		.last_ns = job->header.last_ns,
		.gap_ns = store_input_varint(input)};
	if (!line->gap_ns || input->bad)
		return !input->bad || damaged(job, "sums that are cut short");
	line->last_context = store_input_u32(input);
	line->is_plain = true;
	if (sums->count != sum_contexts(job) ||
		(job->chunk->contexts && line->last_context >= job->chunk->contexts))
		return damaged(job, "a line of no context");
	return get_sum_column(job, input, sums->entries, STORE_SUMS_TIME);
}

/* With several metrics not every context has samples of each. */
static void drop_empty(struct store_sums *sums)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sums->count; i++)
		if (sums->entries[i].samples)
			sums->entries[kept++] = sums->entries[i];
	sums->count = kept;
}

static bool get_sums(struct job *job, struct store_sums *sums, struct error *error)
{
	struct store_input input = {.at = job->chunk->bytes + sizeof job->header,
		.end = job->chunk->bytes + job->chunk->size_bytes};
	uint64_t metrics;

	if (!lay_out(job, 0)) {
		error_memory(error);
		return false;
	}
	if (!get_constants(job, &input) || !get_dictionary(job, &input))
		return job->damage ? false : damaged(job, "a dictionary that is cut short");
	if (!job->header.dictionary &&
		(job->constants[CHUNK_CONTEXT] > UINT32_MAX ||
			(job->chunk->contexts && job->constants[CHUNK_CONTEXT] >= job->chunk->contexts)))
		return damaged(job, "a context that does not exist");
	metrics = store_input_varint(&input);
	if (input.bad || metrics > CHUNK_SUMS_METRICS)
		return damaged(job, "sums of too many metrics");
	for (uint64_t i = 0; i < metrics; i++)
		if (!get_metric_sums(job, &input, sums)) {
			if (sums->failed)
				error_memory(error);
			return false;
		}
	if (!get_line(job, &input, sums))
		return false;
	drop_empty(sums);
	return true;
}

int store_chunk_sums(const struct store_chunk *chunk, struct store_batch *scratch, struct store_sums *sums,
	struct error *error)
{
	struct job job = {.chunk = chunk, .batch = scratch};

	if (!check_header(&job))
		return damage_error(&job, error);
	if (!(job.header.constant >> CHUNK_SUMS & 1) ||
		(!job.header.dictionary && !is_constant(&job, CHUNK_CONTEXT)))
		return 0;
	if (get_sums(&job, sums, error))
		return is_lost(chunk) ? store_pages_lost(chunk->pages, error) : 1;
	return job.damage ? damage_error(&job, error) : -ERROR_IO;
}
