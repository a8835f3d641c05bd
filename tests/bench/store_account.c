/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_account.c - where the bytes of a run's stores are: store_account FILE.mdb... Prints TSV: each named
 * database with its keys and values, then the chunks of each track by what they are made of, beside what an
 * ideal coder of the same column would take (contexts: entropy given nothing, and given the one before;
 * numbers: entropy of their steps' widths, and their bits). `recoded` is what this build would write.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/read/reader_internal.h"

#define KINDS 5u /* packings of codec.c */

static const char *const column_names[CHUNK_COLUMN_COUNT] = {
	"context", "duration", "begin", "amount", "bytes", "link", "what", "attributes", "flags"};

/* Bytes of one track's chunks. */
struct account {
	uint64_t chunks, records, blocks, all, header, constants, dictionary, tables, sums, directory,
		recoded;
	uint64_t column[CHUNK_COLUMN_COUNT], packing[CHUNK_COLUMN_COUNT][KINDS], how[CHUNK_COLUMN_COUNT][8];
	double floor[CHUNK_COLUMN_COUNT], floor_given[CHUNK_COLUMN_COUNT]; /* bytes */
};

static void fail(const struct error *error, const char *path)
{
	exit(error_report(error, path));
}

static void skip_array(struct store_input *input, uint32_t count)
{
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS)
		store_codec_skip(input, count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS);
}

static void skip_fresh(struct store_input *input, unsigned count)
{
	uint64_t values[STORE_BLOCK_RECORDS];
	unsigned fresh = 0;

	store_codec_get(input, values, count);
	for (unsigned i = 0; i < count; i++)
		fresh += values[i] & 1;
	if (fresh)
		store_codec_skip(input, fresh);
	if (fresh < count)
		store_codec_skip(input, count - fresh);
}

static void account_column(struct account *to, struct store_input *input, unsigned column, unsigned count)
{
	const uint8_t *begin = input->at;
	uint8_t how = *store_input_take(input, 1);

	if (how == CHUNK_FRESH || how == CHUNK_SCALED || (how == CHUNK_DELTA && column != CHUNK_BEGIN))
		store_input_varint(input);
	if (how != CHUNK_FRESH && how != CHUNK_TABLE)
		store_input_varint(input);
	if (how == CHUNK_SCALED)
		store_input_varint(input);
	to->how[column][how & 7]++;
	to->packing[column][*input->at % KINDS]++;
	if (how == CHUNK_FRESH)
		skip_fresh(input, count);
	else
		store_codec_skip(input, count);
	to->column[column] += (uint64_t)(input->at - begin);
}

static void account_parts(struct account *to, const struct store_chunk *chunk)
{
	struct store_chunk_header header;
	struct store_input input = {
		.at = chunk->bytes + sizeof header, .end = chunk->bytes + chunk->size_bytes};
	const uint8_t *begin = input.at;
	uint32_t blocks;

	memcpy(&header, chunk->bytes, sizeof header);
	blocks = (header.count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS;
	to->chunks++;
	to->records += header.count;
	to->blocks += blocks;
	to->all += chunk->size_bytes;
	to->header += sizeof header;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (header.constant >> column & 1 && column != CHUNK_BEGIN)
			store_input_varint(&input);
	to->constants += (uint64_t)(input.at - begin);
	begin = input.at;
	skip_array(&input, header.dictionary);
	to->dictionary += (uint64_t)(input.at - begin);
	begin = input.at;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (header.tables >> column & 1 && column != CHUNK_BEGIN)
			skip_array(&input, header.dictionary);
	to->tables += (uint64_t)(input.at - begin);
	to->sums += (uint64_t)(chunk->bytes + header.directory_at - input.at);
	to->directory += blocks * sizeof(struct store_chunk_entry);
	for (uint32_t block = 0; block < blocks; block++) {
		unsigned left = header.count - block * STORE_BLOCK_RECORDS;

		input.at = chunk->bytes + store_load32(chunk->bytes + header.directory_at +
						       block * sizeof(struct store_chunk_entry) +
						       offsetof(struct store_chunk_entry, at));
		for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
			if (!(header.constant >> column & 1))
				account_column(to, &input, column,
					left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS);
	}
}

/* ---- what an ideal coder would take ---- */

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sum of -log2 of how often each value is, over all. */
static double entropy_bits(uint64_t *values, size_t count)
{
	double bits = 0;

	qsort(values, count, sizeof *values, compare_u64);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from; to < count && values[to] == values[from]; to++)
			;
		bits += (double)(to - from) * log2((double)count / (double)(to - from));
	}
	return bits;
}

/* Steps off their median: which width, then the bits below the highest one. */
static double steps_bits(const uint64_t *values, size_t count, bool is_step)
{
	static uint64_t steps[STORE_CHUNK_RECORDS_MAX], sorted[STORE_CHUNK_RECORDS_MAX];
	double bits = 0;

	for (size_t i = 0; i < count; i++)
		steps[i] = is_step ? (i ? values[i] - values[i - 1] : 0) : values[i];
	memcpy(sorted, steps, count * sizeof *steps);
	qsort(sorted, count, sizeof *sorted, compare_u64);
	for (size_t i = 0; i < count; i++) {
		uint64_t off = store_zigzag(steps[i] - sorted[count / 2]);

		steps[i] = off ? 64 - (unsigned)__builtin_clzll(off) : 0;
		bits += steps[i] > 1 ? (double)steps[i] - 1 : 0;
	}
	return bits + entropy_bits(steps, count);
}

static void account_floor(struct account *to, const struct store_chunk *chunk)
{
	static struct store_batch batch;
	static uint64_t values[STORE_CHUNK_RECORDS_MAX], pairs[STORE_CHUNK_RECORDS_MAX];
	struct error error;
	double alone;

	if (store_chunk_decode(chunk, STORE_ALL, &batch, &error))
		fail(&error, "store_account");
	for (size_t i = 0; i < batch.count; i++) {
		values[i] = batch.context[i];
		pairs[i] = (uint64_t)(i ? batch.context[i - 1] : 0) << 32 | batch.context[i];
	}
	to->floor_given[CHUNK_CONTEXT] += (entropy_bits(pairs, batch.count)) / 8;
	alone = entropy_bits(values, batch.count) / 8;
	to->floor[CHUNK_CONTEXT] += alone;
	to->floor_given[CHUNK_CONTEXT] -= alone;
	to->floor[CHUNK_BEGIN] += steps_bits(batch.begin_ns, batch.count, true) / 8;
	to->floor[CHUNK_AMOUNT] += steps_bits(batch.amount, batch.count, false) / 8;
	to->floor_given[CHUNK_AMOUNT] += steps_bits(batch.amount, batch.count, true) / 8;
	for (size_t i = 0; i < batch.count; i++)
		values[i] = batch.end_ns[i] - batch.begin_ns[i];
	to->floor[CHUNK_DURATION] += steps_bits(values, batch.count, false) / 8;
}

/* What the chunk takes when this build codes it. */
static uint64_t recoded_bytes(const struct store_key_chunk *key, const struct store_chunk *chunk)
{
	static struct store_batch batch;
	static struct store_chunk_coder coder;
	static struct store_record records[STORE_CHUNK_RECORDS_MAX];
	static struct store_bytes bytes;
	struct error error;

	if (store_chunk_decode(chunk, STORE_ALL, &batch, &error))
		fail(&error, "store_account");
	for (size_t i = 0; i < batch.count; i++)
		records[i] = (struct store_record){.begin_ns = batch.begin_ns[i],
			.end_ns = batch.end_ns[i],
			.amount = batch.amount[i],
			.bytes = batch.bytes[i],
			.link = batch.link[i],
			.context = batch.context[i],
			.what = batch.what[i],
			.attributes = batch.attributes[i],
			.flags = batch.flags[i]};
	bytes.size = 0;
	store_chunk_encode(&coder, key, records, (unsigned)batch.count, &bytes);
	return bytes.size;
}

/* ---- a store ---- */

static void account_chunks(struct store_reader *reader, struct account *tracks, const char *path)
{
	struct store_tree_cursor cursor;
	struct error error = {0};
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, "", 0, &error);
	for (; rc == 1; rc = store_tree_next(&cursor, &error)) {
		struct store_key_chunk key;
		struct store_chunk chunk;

		if (store_reader_chunk(reader, &cursor, &key, &chunk, &error))
			fail(&error, path);
		account_parts(&tracks[key.track], &chunk);
		account_floor(&tracks[key.track], &chunk);
		tracks[key.track].recoded += recoded_bytes(&key, &chunk);
	}
	if (rc < 0)
		fail(&error, path);
}

static void print_row(const char *path, const char *track, const char *part, uint64_t bytes, uint64_t records)
{
	if (bytes)
		printf("%s\t%s\t%s\t%llu\t%.3f\n", path, track, part, (unsigned long long)bytes,
			(double)bytes / (double)records);
}

static void print_track(const char *path, const char *track, const struct account *a)
{
	printf("%s\t%s\tall\t%llu\t%.3f\t%llu records, %llu chunks\n", path, track,
		(unsigned long long)a->all, (double)a->all / (double)a->records,
		(unsigned long long)a->records, (unsigned long long)a->chunks);
	print_row(path, track, "recoded", a->recoded, a->records);
	print_row(path, track, "header", a->header, a->records);
	print_row(path, track, "constants", a->constants, a->records);
	print_row(path, track, "dictionary", a->dictionary, a->records);
	print_row(path, track, "tables", a->tables, a->records);
	print_row(path, track, "sums", a->sums, a->records);
	print_row(path, track, "directory", a->directory, a->records);
	for (unsigned c = 0; c < CHUNK_COLUMN_COUNT; c++) {
		if (!a->column[c])
			continue;
		printf("%s\t%s\t%s\t%llu\t%.3f\tfloor %.3f given %.3f; const %llu packed %llu runs %llu raw "
		       "%llu split %llu; transforms",
			path, track, column_names[c], (unsigned long long)a->column[c],
			(double)a->column[c] / (double)a->records, a->floor[c] / (double)a->records,
			a->floor_given[c] / (double)a->records, (unsigned long long)a->packing[c][0],
			(unsigned long long)a->packing[c][1], (unsigned long long)a->packing[c][2],
			(unsigned long long)a->packing[c][3], (unsigned long long)a->packing[c][4]);
		for (unsigned h = 0; h < 8; h++)
			printf(" %llu", (unsigned long long)a->how[c][h]);
		printf("\n");
	}
}

static void account_trees(struct store_reader *reader, const char *path)
{
	struct error error = {0};

	for (unsigned tree = 0; tree < STORE_TREE_COUNT; tree++) {
		struct store_tree_cursor cursor;
		uint64_t entries = 0, bytes = 0;
		int rc;

		store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[tree]);
		rc = store_tree_seek(&cursor, "", 0, &error);
		for (; rc == 1; rc = store_tree_next(&cursor, &error)) {
			entries++;
			bytes += cursor.key.size + cursor.value.size;
		}
		if (rc < 0)
			fail(&error, path);
		printf("%s\t%s\tentries %llu\t%llu\n", path, store_tree_name((enum store_tree_id)tree),
			(unsigned long long)entries, (unsigned long long)bytes);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct account tracks[STORE_TRACK_COUNT] = {0};
		struct store_reader *reader;
		struct error error = {0};

		if (store_reader_open(&reader, argv[i], &error))
			fail(&error, "store_account");
		account_trees(reader, argv[i]);
		account_chunks(reader, tracks, argv[i]);
		for (unsigned t = 0; t < STORE_TRACK_COUNT; t++)
			if (tracks[t].records)
				print_track(argv[i], store_track_name((enum store_track)t), &tracks[t]);
		printf("%s\tfile\t\t%llu\n", argv[i], (unsigned long long)store_reader_bytes(reader));
		store_reader_close(reader);
	}
	return 0;
}
