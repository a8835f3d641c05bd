/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - reads a whole store and compares it with itself: checks what open and renew do not (chunks
 * against streams, symbols, open spans).
 */
#include "store/catalog/lazy_text.h"
#include "store/read/reader_internal.h"
#include "store/rollup/rollup.h"

/* What the walk over the chunks finds about the current stream and track. */
struct tally {
	uint32_t stream;
	uint8_t track;
	uint64_t count, shifts;
	bool is_open;
};

static int check_tally(const struct store_reader *reader, const struct tally *tally, struct error *error)
{
	const struct store_stream *stream;

	if (!tally->is_open)
		return 0;
	stream = store_reader_at(reader, tally->stream);
	if (tally->count != stream->count[tally->track] - stream->dropped[tally->track])
		return store_reader_damaged(reader, "a stream's number of records", error);
	if (tally->shifts & ~stream->shifts[tally->track])
		return store_reader_damaged(reader, "a stream's bucket sizes", error);
	return 0;
}

/* The records themselves: ids and order are checked by decoding, the bucket rule is checked here. */
static int check_chunk(struct store_reader *reader, const struct store_key_chunk *key,
	const struct store_chunk *chunk, struct error *error)
{
	struct store_batch *batch = &reader->batch;
	struct store_record last = {0};
	uint64_t end_ns = 0;
	int rc = store_chunk_decode(chunk, STORE_ALL, batch, error);

	if (rc)
		return rc;
	for (size_t i = 0; i < batch->count; i++) {
		struct store_record record = store_batch_record(batch, i);
		uint64_t duration = record.end_ns - record.begin_ns;

		if (i > 0 && store_record_compare(&last, &record) > 0)
			return store_reader_damaged(reader, "records out of order", error);
		if (duration > (uint64_t)1 << key->shift && key->shift < STORE_SHIFT_MAX)
			return store_reader_damaged(reader, "a span longer than its bucket", error);
		if (key->track != STORE_SPANS && duration)
			return store_reader_damaged(reader, "a sample with a duration", error);
		end_ns = record.end_ns > end_ns ? record.end_ns : end_ns;
		last = record;
	}
	if (batch->begin_ns[0] != chunk->first_ns || last.begin_ns != chunk->last_ns ||
		end_ns != chunk->end_ns)
		return store_reader_damaged(reader, "a chunk's bounds", error);
	return 0;
}

static int begin_tally(const struct store_reader *reader, struct tally *tally,
	const struct store_key_chunk *key, struct error *error)
{
	int rc;

	if (tally->is_open && tally->stream == key->stream && tally->track == key->track)
		return 0;
	rc = check_tally(reader, tally, error);
	if (rc)
		return rc;
	if (key->stream >= reader->stream_count)
		return store_reader_damaged(reader, "a chunk of no stream", error);
	*tally = (struct tally){.stream = key->stream, .track = key->track, .is_open = true};
	return 0;
}

/* Tracks that have no chunk must have no records: their counts and those of the tracks walked add up. */
static int check_total(const struct store_reader *reader, uint64_t total, struct error *error)
{
	uint64_t wanted = 0;

	for (uint32_t stream = 0; stream < reader->stream_count; stream++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			wanted += store_reader_at(reader, stream)->count[track] -
				  store_reader_at(reader, stream)->dropped[track];
	return wanted == total ? 0 : store_reader_damaged(reader, "missing chunks", error);
}

static int check_chunks(struct store_reader *reader, struct error *error)
{
	struct store_tree_cursor cursor;
	struct store_key_chunk key;
	struct store_chunk chunk;
	struct tally tally = {0};
	uint64_t total = 0;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		rc = store_reader_chunk(reader, &cursor, &key, &chunk, error);
		rc = rc ? rc : begin_tally(reader, &tally, &key, error);
		rc = rc ? rc : check_chunk(reader, &key, &chunk, error);
		if (rc)
			return rc;
		tally.count += chunk.count;
		tally.shifts |= (uint64_t)1 << chunk.shift;
		total += chunk.count;
	}
	rc = rc ? rc : check_tally(reader, &tally, error);
	return rc ? rc : check_total(reader, total, error);
}

static int check_open(struct store_reader *reader, struct error *error)
{
	struct store_tree_cursor cursor;
	const struct store_record *records;
	uint32_t stream;
	size_t count;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_OPEN]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		if (!store_key_id_get(&stream, cursor.key.bytes, cursor.key.size) ||
			stream >= reader->stream_count)
			return store_reader_damaged(reader, "open spans of no stream", error);
		rc = store_reader_open_spans(reader, stream, &records, &count, error);
		if (rc)
			return rc;
	}
	return rc;
}

/* Checks also the frames of an archive that no page in use is in. */
static int check_frames(const struct store_reader *reader, struct error *error)
{
	struct store_archive_pages *packed = store_file_packed(reader->snapshot.file);

	if (!packed || store_archive_pages_need(packed, 0, store_archive_pages_size(packed)))
		return 0;
	return error_set(error, ERROR_RUN, "'%s': %s", store_file_path(reader->snapshot.file),
		store_archive_pages_why(packed));
}

static int check_texts(const struct store_reader *reader, struct error *error)
{
	return store_lazy_text_check(&reader->texts)
		       ? 0
		       : store_reader_damaged(reader, "its table 'text'", error);
}

/* What was not decoded at open, and what its list says of it. */
static int check_streams(const struct store_reader *reader, struct error *error)
{
	struct store_stream_list list;

	if (!store_stream_table_all(reader->table))
		return store_reader_damaged(reader, "its table of streams", error);
	if (reader->list.count &&
		(!store_stream_list_of(&list, reader->table->streams, reader->stream_count, &reader->texts) ||
			memcmp(&list, &reader->list, sizeof list) != 0))
		return store_reader_damaged(reader, "the list of its streams", error);
	return 0;
}

int store_reader_check(struct store_reader *reader, struct error *error)
{
	int rc = check_frames(reader, error);

	rc = rc ? rc : check_texts(reader, error);
	rc = rc ? rc : check_streams(reader, error);
	rc = rc ? rc : check_chunks(reader, error);
	rc = rc ? rc : store_reader_symbols_check(reader, error);
	rc = rc ? rc : check_open(reader, error);
	rc = rc ? rc : store_reader_blobs_check(reader, error);
	return rc ? rc : store_rollup_check(reader, error);
}
