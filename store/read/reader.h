/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - reads one store in one snapshot (LMDB). A reader never writes the file, and sees nothing newer
 * until store_reader_renew(). If it falls far behind a live recording, the writer may give up its snapshot
 * (ERROR_IO, from any call); then renew. Pointers stay valid until renew or close; ids stay valid forever.
 * One thread per reader. Every byte of the file is distrusted: damage is ERROR_RUN, never a crash.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include "store/base/error.h"
#include "store/chunk/chunk_decode.h"
#include "store/store.h"

struct store_reader;
struct store_pages;

/* Opens a store: also one that is being written, one whose writer was killed, and one in a read-only
 * directory. ERROR_RUN: missing, not a store, damaged, or of a newer version (the sentence says which). */
int store_reader_open(struct store_reader **reader, const char *path, struct error *error);
void store_reader_close(struct store_reader *reader);
/* Moves to the newest commit; sets *changed if it is newer. */
int store_reader_renew(struct store_reader *reader, bool *changed, struct error *error);

const char *store_reader_meta(const struct store_reader *reader, const char *key); /* NULL: no such fact */
uint64_t store_reader_meta_number(const struct store_reader *reader, const char *key, uint64_t otherwise);
bool store_reader_is_archive(const struct store_reader *reader); /* archive.h */
uint64_t store_reader_bytes(const struct store_reader *reader);	 /* of the file, used pages */

/* Tables, loaded once per snapshot; arrays of `*count` entries indexed by id. */
const struct store_context *store_reader_contexts(const struct store_reader *reader, uint32_t *count);
const struct store_module *store_reader_modules(const struct store_reader *reader, uint32_t *count);
const struct store_metric *store_reader_metrics(const struct store_reader *reader, uint32_t *count);
const struct store_stream *store_reader_streams(const struct store_reader *reader, uint32_t *count);
/* The streams that are not GAUGES. */
uint32_t store_reader_timed_count(const struct store_reader *reader);
/* One stream by id, which must be below the count; valid until the next renew. In a complete store only
 * requested streams are decoded. */
uint32_t store_reader_stream_count(const struct store_reader *reader);
const struct store_stream *store_reader_stream(const struct store_reader *reader, uint32_t stream);
/* The same without keeping it decoded: valid until the next call. */
const struct store_stream *store_reader_stream_peek(const struct store_reader *reader, uint32_t stream);
/* Totals over all streams, if those that are not GAUGES are in the order of readers (host, then
 * store_stream_compare()) and have all ended; NULL: unknown. */
struct store_stream_list;
const struct store_stream_list *store_reader_stream_list(const struct store_reader *reader);
/* Number of records of a track, over all streams. */
uint64_t store_reader_records(const struct store_reader *reader, enum store_track track);
/* Bytes of a text (any byte may occur; NUL-terminated as well); "" for an unknown id. */
const char *store_reader_text(const struct store_reader *reader, uint32_t id, size_t *size_bytes);
uint32_t store_reader_text_count(const struct store_reader *reader);
/* The same without keeping it decoded: valid until the next call. */
const char *store_reader_text_peek(const struct store_reader *reader, uint32_t id);
/* Name of an operation, fixed or text. */
const char *store_reader_op(const struct store_reader *reader, uint32_t op, size_t *size_bytes);

/* Reads a frame's scopes (at most STORE_SCOPE_MAX) and returns their number; 0: not resolved; negative:
 * error. */
int store_reader_symbol(struct store_reader *reader, uint32_t module, uint64_t offset,
	struct store_scope *scopes, struct error *error);

/* A file kept in the store (store_writer_blob): 1, and its bytes (free()); 0: none; negative: error. */
int store_reader_blob(
	struct store_reader *reader, uint64_t key, void **bytes, size_t *size, struct error *error);

/* The first key of a kept file at or after *key: 1 and sets *key; 0: none; negative: error. */
int store_reader_blob_next(struct store_reader *reader, uint64_t *key, struct error *error);

/* ---- chunks ---- */

/* Walks the chunks that may hold records overlapping [begin, end), by bucket_ns, larger buckets first, then
 * sequence. A span is in the bucket where it begins, of the smallest size that is neither below the track's
 * own nor below the span's duration; so a span cut by `begin` is found one bucket back in each size. Sizes:
 * store_stream.shifts. */
struct store_cursor;
int store_cursor_open(struct store_cursor **cursor, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* 1: *chunk is the next one; 0: no more; negative: error. */
int store_cursor_next(struct store_cursor *cursor, struct store_chunk *chunk, struct error *error);
void store_cursor_close(struct store_cursor *cursor);

/* The last sample with STORE_RECORD_EXTENT before `time_ns`: 1 found, 0 none, negative error. Cost: a few
 * look-ups. */
int store_reader_sample_before(struct store_reader *reader, uint32_t stream, uint64_t time_ns,
	struct store_record *record, struct error *error);

/* Spans of a stream that are open in this snapshot; and a finished STORE_OP_THINNED span over the time whose
 * records were dropped, with their number as amount. */
int store_reader_open_spans(struct store_reader *reader, uint32_t stream, const struct store_record **records,
	size_t *count, struct error *error);

/* Announces scattered reads: a missing page is then read alone, without the disk's readahead of up to
 * megabytes. Holds until the next call. */
void store_reader_expect_scattered(struct store_reader *reader, bool is_scattered);

/* Reads and checks everything (checksums, counts, order, ids); the first damage found is the error. */
int store_reader_check(struct store_reader *reader, struct error *error);

#endif
