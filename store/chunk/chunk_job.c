/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_job.c - decodes the parts that a whole chunk shares (header, constants, dictionary, tables) and
 * allocates memory for its records. The bytes are untrusted: see chunk_read.c.
 */
#include "store/chunk/chunk_decode_internal.h"

#include <stdlib.h>

#include "store/base/hash.h"
#include "store/chunk/context_sums.h"

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

bool store_chunk_fits(struct store_slice key, struct store_slice value)
{
	struct store_key_chunk claimed;
	struct store_chunk chunk;

	return store_key_chunk_get(&claimed, key.bytes, key.size) && store_chunk_peek(&chunk, value) &&
	       store_chunk_matches(&chunk, &claimed);
}

bool store_chunk_has_extent(const struct store_chunk *chunk)
{
	return chunk->bytes[offsetof(struct store_chunk_header, flags_seen)] & STORE_RECORD_EXTENT;
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

/* Cuts the memory: room for a job that is to go on, then 64-bit arrays. Counts are bounded by
 * STORE_CHUNK_RECORDS_MAX, nothing overflows. */
static bool lay_out(struct store_chunk_job *job, unsigned asked)
{
	struct store_batch *batch = job->batch;
	const size_t rows = job->header.count < job->room ? job->header.count : job->room;
	const size_t count = (rows + 7) & ~(size_t)7, contexts = job->header.dictionary;
	uint64_t **wide[] = {&batch->begin_ns, &batch->end_ns, &batch->amount, &batch->bytes, &batch->link};
	const unsigned wide_of[] = {STORE_BEGIN, STORE_END, STORE_AMOUNT, STORE_BYTES, STORE_LINK};
	uint32_t **narrow[] = {&batch->context, &batch->what, &batch->attributes, &batch->flags};
	const unsigned narrow_of[] = {STORE_CONTEXT, STORE_WHAT, STORE_ATTRIBUTES, STORE_FLAGS};
	uint64_t *at;

	batch->job = NULL;
	if (!batch_reserve(batch,
		    sizeof(*job) + 8 * (9 * count + (CHUNK_COLUMN_COUNT * (STORE_BLOCK_RECORDS + contexts)) +
					       contexts)))
		return false;
	at = (uint64_t *)((struct store_chunk_job *)batch->memory + 1);
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

static bool get_constants(struct store_chunk_job *job, struct store_input *input)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (store_chunk_is_constant(job, column))
			job->constants[column] =
				column == CHUNK_BEGIN ? job->header.first_ns : store_input_varint(input);
	return !input->bad;
}

bool store_chunk_is_contextless(const struct store_chunk *chunk)
{
	struct store_chunk_header header;

	memcpy(&header, chunk->bytes, sizeof header);
	/* The context is the first column, so its constant the first byte. */
	return header.track == STORE_VALUES && header.codec >= 4 && header.constant >> CHUNK_CONTEXT & 1 &&
	       chunk->size_bytes > sizeof header && chunk->bytes[sizeof header] == 0;
}

bool store_chunk_has_one(const struct store_chunk *chunk, uint32_t *what)
{
	struct store_chunk_header header;
	struct store_input input = {
		.at = chunk->bytes + sizeof header, .end = chunk->bytes + chunk->size_bytes};

	memcpy(&header, chunk->bytes, sizeof header);
	if (!(header.constant >> CHUNK_WHAT & 1))
		return false;
	for (unsigned column = 0; column < CHUNK_WHAT; column++)
		if (header.constant >> column & 1 && column != CHUNK_BEGIN)
			store_input_varint(&input);
	*what = (uint32_t)store_input_varint(&input);
	return !input.bad;
}

static bool get_dictionary(struct store_chunk_job *job, struct store_input *input)
{
	const uint32_t contexts = job->header.dictionary;
	uint64_t *ids = job->tables[CHUNK_CONTEXT];

	if (!store_context_sums_get_array(input, ids, contexts))
		return false;
	for (uint32_t i = 0; i < contexts; i++) {
		if (ids[i] > UINT32_MAX || (job->chunk->contexts && ids[i] >= job->chunk->contexts))
			return store_chunk_damaged(job, "a context that does not exist");
		job->dictionary[i] = (uint32_t)ids[i];
	}
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (store_chunk_has_table(job, column) && column != CHUNK_BEGIN &&
			!store_context_sums_get_array(input, job->tables[column], contexts))
			return false;
	return true;
}

/* The first page that begins inside the chunk, which tells it from all others; 0: none does. */
static uint64_t page_inside(const struct store_chunk *chunk)
{
	const struct store_pages *pages = chunk->pages;
	size_t at;
	uint64_t page;

	if (!pages || chunk->bytes < pages->bytes)
		return 0;
	at = (size_t)(chunk->bytes - pages->bytes);
	page = at / pages->page_bytes + 1;
	return page < pages->page_count && page * pages->page_bytes < at + chunk->size_bytes ? page : 0;
}

/* A chunk is read several times, mostly only for its sums, a tenth of it: the whole chunk is checked once. */
static bool is_sound(const struct store_chunk_job *job)
{
	const struct store_chunk *chunk = job->chunk;
	const size_t skipped = sizeof job->header.checksum;
	const uint64_t page = page_inside(chunk);

	if (page && store_pages_is_known(chunk->pages, page))
		return true;
	if (!store_sum_fits(job->header.checksum,
		    store_hash64(chunk->bytes + skipped, chunk->size_bytes - skipped, 0)))
		return false;
	if (page)
		store_pages_know(chunk->pages, page);
	return true;
}

static bool check_header(struct store_chunk_job *job)
{
	const struct store_chunk *chunk = job->chunk;
	struct store_chunk peeked;

	if (!store_chunk_peek(&peeked, (struct store_slice){chunk->bytes, chunk->size_bytes}))
		return store_chunk_damaged(job, "no chunk's header");
	memcpy(&job->header, chunk->bytes, sizeof job->header);
	if (!is_sound(job))
		return store_chunk_damaged(job, "a wrong checksum");
	if (!job->header.codec || job->header.codec > STORE_CHUNK_CODEC)
		return store_chunk_damaged(job, "an unknown codec; a newer hpct may read it");
	if (job->header.dictionary > job->header.count)
		return store_chunk_damaged(job, "a dictionary larger than itself");
	if (job->header.dictionary && store_chunk_is_constant(job, CHUNK_CONTEXT))
		return store_chunk_damaged(job, "a dictionary that nothing looks up");
	if (job->header.tables && !job->header.dictionary && job->header.tables != 1u << CHUNK_BEGIN)
		return store_chunk_damaged(job, "tables without a dictionary");
	return true;
}

bool store_chunk_job_begin(
	struct store_chunk_job *job, unsigned asked, struct store_input *input, struct error *error)
{
	if (!check_header(job))
		return false;
	if (!lay_out(job, asked)) {
		error_memory(error);
		return false;
	}
	*input = (struct store_input){.at = job->chunk->bytes + sizeof job->header,
		.end = job->chunk->bytes + job->chunk->size_bytes};
	if (get_constants(job, input) && get_dictionary(job, input))
		return true;
	return job->damage ? false : store_chunk_damaged(job, "a dictionary that is cut short");
}

bool store_chunk_job_is_lost(const struct store_chunk_job *job)
{
	return job->chunk->pages && store_pages_are_lost(job->chunk->pages);
}

int store_chunk_job_failed(const struct store_chunk_job *job, struct error *error)
{
	if (store_chunk_job_is_lost(job))
		return store_pages_lost(job->chunk->pages, error);
	if (!job->damage)
		return -ERROR_IO;
	return error_set(error, ERROR_RUN,
		"'%s' is damaged: the chunk of stream %u at %llu ns has %s; restore it from a copy, or read "
		"other streams with --streams",
		job->chunk->pages ? job->chunk->pages->path : "the store", job->header.stream,
		(unsigned long long)job->chunk->bucket_ns, job->damage);
}
