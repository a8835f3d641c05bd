/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - the bytes of a chunk: records of one stream and track that begin in one time bucket, as columns
 * in blocks of 256. FORMAT.md draws them; chunk_decode.h is the readers' interface.
 *
 *   | header 64 | constants | dictionary | tables | sums | directory 12 x blocks | block | block | ...
 *   block: the columns that are not constant, in the order of enum chunk_column
 *   column in a block: | transform u8 | its parameters | body (codec.h) |
 */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include "store/base/bytes.h"
#include "store/base/codec.h"
#include "store/base/error.h"
#include "store/chunk/chunk_stats.h"
#include "store/key.h"
#include "store/store.h"

#define STORE_CHUNK_RECORDS_MAX 12288u
/* 1 (before 2.0) has neither FRESH nor CENTRE; 2 (before 4.0) has no SPLIT bodies; 3 (before 7.0) has no
 * SCALED, and sums of values without a context. */
#define STORE_CHUNK_CODEC 4u

/* Contexts come first, because tables are indexed by them; durations next, because gaps need them. */
enum chunk_column {
	CHUNK_CONTEXT,
	CHUNK_DURATION,
	CHUNK_BEGIN,
	CHUNK_AMOUNT,
	CHUNK_BYTES,
	CHUNK_LINK,
	CHUNK_WHAT,
	CHUNK_ATTRIBUTES,
	CHUNK_FLAGS,
	CHUNK_COLUMN_COUNT
};

/* Bit of header.constant: sums by context follow the tables (samples, values that have contexts). */
#define CHUNK_SUMS 15u
#define CHUNK_SUMS_METRICS 8u /* chunks with more metrics store no sums */

/* How a column of a block is transformed; the result is stored as a body. */
enum chunk_transform {
	CHUNK_PLAIN, /* base varint; v - base */
	CHUNK_DELTA, /* first varint (not BEGIN: it is in the directory), centre zigzag; zigzag(v - previous -
			centre), 0 for the first */
	CHUNK_TABLE, /* zigzag(v - table[dictionary index of the record's context]) */
	CHUNK_GAP,   /* BEGIN: centre zigzag; zigzag(begin - previous end - centre), 0 for the first */
	CHUNK_FRESH, /* CONTEXT without a dictionary: first varint; three bodies: which are above all
			before (the first is), by how much - 1 (the first: 0), how far the others are
			below */
	CHUNK_CENTRE, /* centre varint; zigzag(v - centre) */
	CHUNK_SCALED  /* AMOUNT of values: first varint, centre zigzag, scale varint; zigzag((v - previous -
			 centre) / scale), 0 for the first */
};

struct store_chunk_header {
	uint64_t checksum; /* XXH3-64 of all that follows */
	uint32_t stream;
	uint8_t track;
	uint8_t shift;
	uint8_t codec;	    /* STORE_CHUNK_CODEC */
	uint8_t flags_seen; /* OR of the records' flags, low 8 bits */
	uint64_t bucket_ns;
	uint64_t first_ns, last_ns; /* begin of the first and of the last record */
	uint64_t end_ns;	    /* the latest end */
	uint32_t count;
	uint16_t constant;     /* bit c: column c has one value, a varint among the constants (BEGIN:
				  first_ns). Bit CHUNK_SUMS */
	uint16_t tables;       /* bit c: column c has a table behind the dictionary. Bit BEGIN: some block is
				  GAP */
	uint32_t dictionary;   /* contexts in the dictionary; 0: contexts are ids */
	uint32_t directory_at; /* bytes from the chunk's start */
};
_Static_assert(sizeof(struct store_chunk_header) == 64, "chunk header");

struct store_chunk_entry {
	uint8_t first_ns[8]; /* begin of the block's first record */
	uint8_t at[4];	     /* bytes from the chunk's start */
};
_Static_assert(sizeof(struct store_chunk_entry) == 12, "block directory entry");

/* Scratch memory of encoding, kept from chunk to chunk. All-zero is ready. */
struct store_chunk_coder {
	uint64_t *slots; /* hash table: context, 1 + its index in `entries` */
	size_t slot_count;
	struct store_sum *entries; /* contexts in order of appearance, then by descending frequency */
	struct store_sum *ordered; /* scratch memory for that sort */
	uint32_t known, most;	   /* number of contexts, and the number at which no dictionary is made */
	uint32_t summed;   /* entries that hold the complete sums of the last chunk, of one metric; 0: none */
	uint32_t *firsts;  /* records at which each context first appears, in order */
	uint32_t *index;   /* of each record: its context, numbered in order of appearance ... */
	uint32_t *rank;	   /* ... and from that number to the index in the dictionary */
	uint32_t *seen;	   /* of each context, while its samples are chosen */
	uint32_t *samples; /* the first few records of each context in turn; tables are made from them */
	uint32_t sample_count;
	uint64_t *values;		      /* the table or dictionary being built */
	uint64_t *tables[CHUNK_COLUMN_COUNT]; /* by contexts in order of appearance */
	void *memory;
};
bool store_chunk_coder_prepare(struct store_chunk_coder *coder); /* false: no memory */
void store_chunk_coder_fini(struct store_chunk_coder *coder);

/* Appends the chunk's bytes to `out`. The 1..RECORDS_MAX records are in store_record_compare order and all
 * begin in the key's bucket (the sequence is not part of the bytes). Failure sets out->failed. */
void store_chunk_encode(struct store_chunk_coder *coder, const struct store_key_chunk *key,
	const struct store_record *records, unsigned count, struct store_bytes *out);

/* The same with the statistics of these records (store_chunk_stats_add(), any order); NULL: unknown. */
void store_chunk_encode_surveyed(struct store_chunk_coder *coder, const struct store_key_chunk *key,
	const struct store_record *records, unsigned count, const struct store_chunk_stats *survey,
	struct store_bytes *out);

/* Reads the header without checking the checksum; false when it cannot be a chunk's. */
struct store_chunk;
bool store_chunk_peek(struct store_chunk *chunk, struct store_slice bytes);
/* True when the header names this key. */
bool store_chunk_matches(const struct store_chunk *chunk, const struct store_key_chunk *key);
/* True when the value is a chunk whose header names this key (store_tree_cursor.fits). */
bool store_chunk_fits(struct store_slice key, struct store_slice value);
/* True when the chunk is of values without a context (gauges): there is nothing to sum up by context. */
bool store_chunk_is_contextless(const struct store_chunk *chunk);
/* True when all records have one metric or operation, which *what then is. Reads no more than the chunk's
 * first bytes, unchecked: a hint for what not to decode. */
bool store_chunk_has_one(const struct store_chunk *chunk, uint32_t *what);
struct store_batch;
struct store_context_sums;
/* Sets `sums` (empty before) to the weights and sample times of a chunk of samples or values: 1; 0: not
 * stored, sum the records; negative: damage. */
int store_chunk_sums(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_context_sums *sums, struct error *error);
struct store_sum_columns;
/* Only the sample times: 1; 0: not stored; negative: damage or no memory. */
int store_chunk_works(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_sum_columns *works, struct error *error);
/* Only the weights: 1; 0: not stored, or of several metrics; negative. */
int store_chunk_weights(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_sum_columns *works, struct error *error);
/* Computes the same sums record by record into `sums` (empty before): 0; -ERROR_IO: no memory; or damage. */
int store_chunk_sum_rows(const struct store_chunk *chunk, struct store_batch *batch,
	struct store_context_sums *sums, struct error *error);
/* False: no record has STORE_RECORD_EXTENT. */
bool store_chunk_has_extent(const struct store_chunk *chunk);

#endif
