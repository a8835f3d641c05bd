/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_write.c - encodes sorted records as a chunk: first what all records share (constant columns,
 * dictionary, tables), then the sums (chunk_write_sums.c), then each block's columns (chunk_write_column.c).
 */
#include <limits.h>

#include "store/base/hash.h"
#include "store/chunk/chunk_encode_internal.h"
#include "store/chunk/context_sums.h"
#include "store/chunk/dictionary.h"

#define DICTIONARY_LEAST 16u /* contexts that always have one */
#define DICTIONARY_PAYS 2u   /* more want so many records each */
#define SUMS_PAY 4u	     /* where there are sums, so many */
#define TABLE_PAYS 4u	     /* a table wants so many records per context */

#define TABLE_COLUMNS (1u << CHUNK_DURATION | STORE_DICTIONARY_WORDS)

/* Which columns are constant, the latest end, the flags. */
static void survey_end(struct store_chunk_draft *draft, const struct store_chunk_stats *all)
{
	struct store_chunk_header *header = &draft->header;
	const struct store_record *first = draft->records;
	const struct store_record differs = store_chunk_stats_differs(all);
	struct store_record any;

	memcpy((uint8_t *)&any + STORE_CHUNK_STATS_HIGH, &all->any_high, sizeof all->any_high);
	header->constant =
		(uint16_t)(!differs.context << CHUNK_CONTEXT | !all->duration_differs << CHUNK_DURATION |
			   !differs.begin_ns << CHUNK_BEGIN | !differs.amount << CHUNK_AMOUNT |
			   !differs.bytes << CHUNK_BYTES | !differs.link << CHUNK_LINK |
			   !differs.what << CHUNK_WHAT | !differs.attributes << CHUNK_ATTRIBUTES |
			   !differs.flags << CHUNK_FLAGS);
	header->flags_seen = (uint8_t)any.flags;
	header->first_ns = first->begin_ns;
	header->last_ns = first[draft->count - 1].begin_ns;
	header->end_ns = all->end_ns;
}

static unsigned dictionary_most(const struct store_chunk_draft *draft)
{
	unsigned most = draft->count / (draft->header.track == STORE_SPANS ? DICTIONARY_PAYS : SUMS_PAY);

	return most > DICTIONARY_LEAST ? most : DICTIONARY_LEAST;
}

/* All that is looked for in all records before any is put, block by block: each is in the nearest cache but
 * once. */
static void look_through(struct store_chunk_draft *draft, const struct store_chunk_stats *known)
{
	struct store_chunk_stats survey = {.end_ns = 0};

	store_dictionary_begin(draft->coder, dictionary_most(draft));
	for (unsigned at = 0; at < draft->count; at += STORE_BLOCK_RECORDS) {
		unsigned left = draft->count - at;

		left = left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS;
		if (!known)
			store_chunk_stats_add(&survey, draft->records, draft->records + at, left);
		if (draft->header.track == STORE_SPANS) {
			draft->varies |= store_dictionary_add(draft->coder, draft->records, at, left);
		} else {
			store_chunk_add_sums(draft, at, left);
		}
	}
	survey_end(draft, known ? known : &survey);
}

static void put_constants(struct store_chunk_draft *draft)
{
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		uint64_t value;

		if (!store_chunk_draft_is_constant(draft, column) || column == CHUNK_BEGIN)
			continue;
		store_chunk_gather(&value, column, draft->records, 1);
		store_bytes_put_varint(draft->out, value);
	}
}

static void put_dictionary(struct store_chunk_draft *draft)
{
	struct store_chunk_coder *coder = draft->coder;
	unsigned contexts = draft->header.dictionary;

	for (unsigned i = 0; i < contexts; i++)
		coder->values[i] = coder->entries[i].context;
	store_context_sums_put_array(draft->out, coder->values, contexts);
}

/* What is the same for all records of a context its first one tells. */
static void table_of_first(struct store_chunk_draft *draft, unsigned column)
{
	struct store_chunk_coder *coder = draft->coder;
	uint64_t *table = coder->tables[column];

	store_chunk_gather_some(table, column, draft->records, coder->firsts, draft->header.dictionary);
	for (unsigned number = 0; number < draft->header.dictionary; number++)
		coder->values[coder->rank[number]] = table[number];
}

static void table_of_typical(struct store_chunk_draft *draft, unsigned column)
{
	struct store_chunk_coder *coder = draft->coder;

	if (!coder->sample_count)
		store_dictionary_sample(coder, draft->header.dictionary);
	store_chunk_gather_some(coder->values, column, draft->records, coder->samples, coder->sample_count);
	store_dictionary_table(coder, column, coder->values, draft->header.dictionary);
}

static void put_tables(struct store_chunk_draft *draft)
{
	struct store_chunk_coder *coder = draft->coder;
	unsigned contexts = draft->header.dictionary;

	if (contexts * TABLE_PAYS > draft->count)
		return;
	coder->sample_count = 0;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		if (store_chunk_draft_is_constant(draft, column) || !(TABLE_COLUMNS >> column & 1))
			continue;
		if (draft->varies >> column & 1)
			table_of_typical(draft, column);
		else
			table_of_first(draft, column);
		store_context_sums_put_array(draft->out, coder->values, contexts);
		draft->header.tables |= (uint16_t)(1u << column);
	}
}

static void put_blocks(struct store_chunk_draft *draft)
{
	unsigned blocks = (draft->count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;
	size_t directory = draft->out->size;
	struct store_chunk_entry entry;

	draft->header.directory_at = (uint32_t)(directory - draft->start);
	if (!store_bytes_reserve(draft->out, blocks * sizeof entry))
		return;
	draft->out->size += blocks * sizeof entry;
	for (unsigned at = 0; at < draft->count; at += STORE_BLOCK_RECORDS, directory += sizeof entry) {
		unsigned left = draft->count - at;
		uint32_t offset = (uint32_t)(draft->out->size - draft->start);

		memcpy(entry.first_ns, &draft->records[at].begin_ns, sizeof entry.first_ns);
		memcpy(entry.at, &offset, sizeof entry.at);
		memcpy(draft->out->data + directory, &entry, sizeof entry);
		for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
			if (!store_chunk_draft_is_constant(draft, column))
				store_chunk_put_column(draft, column, at,
					left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS);
	}
}

/* The header is written last, when all is known. */
static void finish(struct store_chunk_draft *draft)
{
	uint8_t *chunk = draft->out->data + draft->start;
	const size_t skipped = sizeof draft->header.checksum;

	if (draft->out->failed)
		return;
	memcpy(chunk, &draft->header, sizeof draft->header);
	draft->header.checksum = store_hash64(chunk + skipped, draft->out->size - draft->start - skipped, 0);
	memcpy(chunk, &draft->header.checksum, sizeof draft->header.checksum);
}

void store_chunk_encode(struct store_chunk_coder *coder, const struct store_key_chunk *key,
	const struct store_record *records, unsigned count, struct store_bytes *out)
{
	store_chunk_encode_surveyed(coder, key, records, count, NULL, out);
}

void store_chunk_encode_surveyed(struct store_chunk_coder *coder, const struct store_key_chunk *key,
	const struct store_record *records, unsigned count, const struct store_chunk_stats *survey,
	struct store_bytes *out)
{
	struct store_chunk_draft draft = {.coder = coder,
		.records = records,
		.count = count,
		.out = out,
		.start = out->size,
		.shortest_ns = UINT64_MAX,
		.varies = key->track == STORE_SPANS ? ~STORE_DICTIONARY_WORDS : UINT_MAX,
		.header = {.stream = key->stream,
			.track = key->track,
			.shift = key->shift,
			.codec = STORE_CHUNK_CODEC,
			.bucket_ns = key->bucket_ns,
			.count = count}};
	unsigned contexts = 0;

	if (!store_chunk_coder_prepare(coder))
		out->failed = true;
	if (!store_bytes_reserve(out, sizeof draft.header))
		return;
	out->size += sizeof draft.header;
	look_through(&draft, survey);
	put_constants(&draft);
	if (!store_chunk_draft_is_constant(&draft, CHUNK_CONTEXT))
		contexts = store_dictionary_end(coder);
	draft.header.dictionary = contexts;
	if (contexts) {
		put_dictionary(&draft);
		put_tables(&draft);
	}
	store_chunk_put_sums(&draft);
	coder->summed = key->track != STORE_SPANS && coder->known <= coder->most &&
					store_chunk_draft_is_constant(&draft, CHUNK_WHAT)
				? coder->known
				: 0;
	put_blocks(&draft);
	finish(&draft);
}
