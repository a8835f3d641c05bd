/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - one store seen at one moment (an LMDB snapshot). A reader never writes the file, and
 * sees nothing newer until store_reader_renew(). One that stays behind a live recording for long may find its
 * moment given up (ERROR_IO, at any call), and renews. Pointers stay valid until renew or close; ids are for
 * good. One thread per reader. Every byte of the file is distrusted: damage is ERROR_RUN, never a crash.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include "store/base/error.h"
#include "store/chunk/chunk_decode.h"
#include "store/store.h"

struct store_reader;
struct store_pages;

/* ERROR_RUN: missing, not a store, damaged, or of a newer version (the sentence says which). Opens a store
 * that is being written, one whose writer was killed, and one on a read-only directory. */
int store_reader_open(struct store_reader **reader, const char *path, struct error *error);
void store_reader_close(struct store_reader *reader);
/* Moves to the newest commit. Sets *changed when there was a newer one. */
int store_reader_renew(struct store_reader *reader, bool *changed, struct error *error);

const char *store_reader_meta(const struct store_reader *reader, const char *key); /* NULL: not there */
uint64_t store_reader_meta_number(const struct store_reader *reader, const char *key, uint64_t otherwise);
bool store_reader_is_archive(const struct store_reader *reader); /* archive.h */
uint64_t store_reader_bytes(const struct store_reader *reader);	 /* of the file, used pages */

/* Tables, loaded once per snapshot; arrays of `*count` entries indexed by id. */
const struct store_context *store_reader_contexts(const struct store_reader *reader, uint32_t *count);
const struct store_module *store_reader_modules(const struct store_reader *reader, uint32_t *count);
const struct store_metric *store_reader_metrics(const struct store_reader *reader, uint32_t *count);
const struct store_stream *store_reader_streams(const struct store_reader *reader, uint32_t *count);
/* One stream by id, which must be below their number; stays until the next renew. Of a store that is complete
 * only those asked for are decoded. */
uint32_t store_reader_stream_count(const struct store_reader *reader);
const struct store_stream *store_reader_stream(const struct store_reader *reader, uint32_t stream);
/* The same for who looks at each once: stays until the next call. */
const struct store_stream *store_reader_stream_peek(const struct store_reader *reader, uint32_t stream);
/* Are they in the order of store_stream_compare(), hosts before all, and have all ended? What they are
 * together, then; NULL: perhaps not. */
struct store_stream_list;
const struct store_stream_list *store_reader_stream_list(const struct store_reader *reader);
/* All records of a track. */
uint64_t store_reader_records(const struct store_reader *reader, enum store_track track);
/* Bytes of a text (may hold any byte, NUL-terminated besides); "" for an id that is not there. */
const char *store_reader_text(const struct store_reader *reader, uint32_t id, size_t *size_bytes);
uint32_t store_reader_text_count(const struct store_reader *reader);
/* The same for who needs it once: may cost no memory, until the next call. */
const char *store_reader_text_peek(const struct store_reader *reader, uint32_t id);
/* Name of an operation, fixed or text. */
const char *store_reader_op(const struct store_reader *reader, uint32_t op, size_t *size_bytes);

/* Scopes of a frame into `scopes` (STORE_SCOPE_MAX); their number, 0: not resolved, negative: error. */
int store_reader_symbol(struct store_reader *reader, uint32_t module, uint64_t offset,
	struct store_scope *scopes, struct error *error);

/* A whole file that is kept in the store (store_writer_blob): 1, and its bytes on the heap (free()); 0: none;
 * negative: error. */
int store_reader_blob(
	struct store_reader *reader, uint64_t key, void **bytes, size_t *size, struct error *error);

/* The first key at or after *key of a file that is kept: 1, and it in *key; 0: none; negative: error. */
int store_reader_blob_next(struct store_reader *reader, uint64_t *key, struct error *error);

/* ---- chunks ---- */

/* Walks the chunks that may hold records overlapping [begin, end), by bucket_ns, larger buckets first, then
 * sequence. A span lies in the bucket where it begins, of the smallest size that is not below the track's own
 * and not below the span's duration; so what is cut by `begin` is found one bucket back in each size. Sizes:
 * store_stream.shifts. */
struct store_cursor;
int store_cursor_open(struct store_cursor **cursor, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* 1: *chunk is the next one; 0: no more; negative: error. */
int store_cursor_next(struct store_cursor *cursor, struct store_chunk *chunk, struct error *error);
void store_cursor_close(struct store_cursor *cursor);

/* The last sample with STORE_RECORD_EXTENT before `time_ns`: 1 found, 0 none, negative error. Cost: some
 * look-ups. */
int store_reader_sample_before(struct store_reader *reader, uint32_t stream, uint64_t time_ns,
	struct store_record *record, struct error *error);

/* Spans of a stream that are open in this snapshot; and, finished, one of STORE_OP_THINNED over the time from
 * which records were dropped, whose amount is how many. */
int store_reader_open_spans(struct store_reader *reader, uint32_t stream, const struct store_record **records,
	size_t *count, struct error *error);

/* Until it is said otherwise, what is read lies far apart: a page that is not in memory is read alone,
 * without the megabytes around it that a disk's readahead may be. */
void store_reader_expect_scattered(struct store_reader *reader, bool is_scattered);

/* Reads and checks everything (checksums, counts, order, ids); the first damage found is the error. */
int store_reader_check(struct store_reader *reader, struct error *error);

#endif
