/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_decode.h - decodes the records of a chunk into columns. For finding chunks see store/read/reader.h,
 * for their bytes chunk.h. One thread per batch.
 */
#ifndef STORE_CHUNK_DECODE_H
#define STORE_CHUNK_DECODE_H

#include "store/base/error.h"
#include "store/store.h"

struct store_pages;

/* Columns of decoded records: arrays of `count` entries, owned by the batch. A column not requested is NULL.
 */
enum store_column {
	STORE_BEGIN = 1,
	STORE_END = 2,
	STORE_AMOUNT = 4,
	STORE_CONTEXT = 8,
	STORE_WHAT = 16,
	STORE_BYTES = 32,
	STORE_LINK = 64,
	STORE_ATTRIBUTES = 128,
	STORE_FLAGS = 256,
	STORE_REST = STORE_BYTES | STORE_LINK | STORE_ATTRIBUTES | STORE_FLAGS,
	STORE_ALL = 511
};

struct store_batch {
	size_t count;
	uint64_t *begin_ns, *end_ns, *amount, *bytes, *link;
	uint32_t *context, *what, *attributes, *flags;
	/* -- internal -- */
	struct store_chunk_job *job; /* the decoding in progress; NULL: none */
	void *memory;
	size_t memory_bytes;
};

void store_batch_init(struct store_batch *batch);
void store_batch_fini(struct store_batch *batch);
struct store_record store_batch_record(const struct store_batch *batch, size_t i); /* needs STORE_ALL */

/* One chunk: the records of a stream and track that begin in one time bucket [bucket_ns, bucket_ns +
 * 2^shift). */
struct store_chunk {
	uint64_t bucket_ns;
	uint8_t shift;
	uint16_t sequence;
	uint32_t count;
	uint64_t first_ns, last_ns; /* begin of the first and of the last record */
	uint64_t end_ns;	    /* the latest end */
	const uint8_t *bytes;	    /* in the map */
	size_t size_bytes;
	/* -- set by the reader: ids in the records must be below; 0: not checked -- */
	uint32_t contexts, metrics, texts;
	const struct store_pages *pages; /* that `bytes` belong to; NULL: none */
};

/* Decodes the requested columns; records are in store_record_compare order. Checks checksum and bounds. */
int store_chunk_decode(
	const struct store_chunk *chunk, unsigned columns, struct store_batch *batch, struct error *error);

/* Decodes only the blocks that may hold records beginning in [begin, end); records outside may be included.
 */
int store_chunk_decode_between(const struct store_chunk *chunk, uint64_t begin_ns, uint64_t end_ns,
	unsigned columns, struct store_batch *batch, struct error *error);

/* Decodes the chunk in parts of some thousand rows, each replacing the last: the first call prepares and
 * decodes none; then 1: the batch holds the next part; 0: no more. The chunk and its bytes must stay until
 * then. */
int store_chunk_decode_begin(
	const struct store_chunk *chunk, unsigned columns, struct store_batch *batch, struct error *error);
int store_chunk_decode_next(struct store_batch *batch, struct error *error);

#endif
