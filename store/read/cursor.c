/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c - walks the chunks of a track that may overlap a window.
 *
 *   bucket sizes 2^k:   |-------------- k = 34 --------------|--------------
 *                       |---- k = 32 ----|---- k = 32 ----|---
 *   window                                      [begin ..        end)
 *
 * Before the window two buckets of each size can matter: the one that contains `begin`, and for spans the
 * one before it. They are looked up one by one, in key order; after them every key up to `end` counts.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "store/key.h"
#include "store/read/reader_internal.h"

#define PLACES_MAX (2u * (STORE_SHIFT_MAX + 1u))

/* A bucket to look up. */
struct place {
	uint64_t bucket_ns;
	uint8_t shift;
};

struct store_cursor {
	struct store_reader *reader;
	uint32_t stream;
	enum store_track track;
	uint64_t begin_ns, end_ns;
	struct place places[PLACES_MAX];
	unsigned place_count, place;
	bool is_inside; /* the tree cursor stands in a place, or behind all of them */
	struct store_tree_cursor tree;
};

int store_reader_chunk(const struct store_reader *reader, const struct store_tree_cursor *cursor,
	struct store_key_chunk *key, struct store_chunk *chunk, struct error *error)
{
	if (!store_key_chunk_get(key, cursor->key.bytes, cursor->key.size))
		return store_reader_damaged(reader, "a chunk's key", error);
	return store_reader_chunk_of(reader, key, cursor->value, chunk, error);
}

int store_reader_chunk_of(const struct store_reader *reader, const struct store_key_chunk *key,
	struct store_slice bytes, struct store_chunk *chunk, struct error *error)
{
	if (!store_chunk_peek(chunk, bytes) || !store_chunk_matches(chunk, key))
		return store_reader_damaged(reader, "a chunk that does not fit its key", error);
	chunk->sequence = key->sequence;
	chunk->pages = &reader->snapshot.pages;
	chunk->contexts = reader->contexts.count;
	if (!reader->metrics.count && key->track != STORE_SPANS)
		return store_reader_damaged(reader, "samples of no metric", error);
	chunk->metrics = reader->metrics.count;
	chunk->texts = reader->texts.count;
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->bucket_ns != right->bucket_ns)
		return left->bucket_ns < right->bucket_ns ? -1 : 1;
	return (int)right->shift - (int)left->shift;
}

static void add_place(struct store_cursor *cursor, uint64_t bucket_ns, unsigned shift)
{
	cursor->places[cursor->place_count++] =
		(struct place){.bucket_ns = bucket_ns, .shift = (uint8_t)shift};
}

static void find_places(struct store_cursor *cursor, uint64_t shifts)
{
	for (unsigned shift = 0; shift <= STORE_SHIFT_MAX; shift++) {
		uint64_t bucket = store_bucket_of(cursor->begin_ns, shift);

		if (!(shifts >> shift & 1))
			continue;
		if (cursor->track == STORE_SPANS && bucket)
			add_place(cursor, bucket - ((uint64_t)1 << shift), shift);
		add_place(cursor, bucket, shift);
	}
	qsort(cursor->places, cursor->place_count, sizeof *cursor->places, compare_places);
}

int store_cursor_open(struct store_cursor **cursor_out, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct store_cursor *cursor;

	if (stream >= reader->stream_count || (unsigned)track >= STORE_TRACK_COUNT) {
		error_set(error, ERROR_USAGE, "there is no stream %u in '%s'", stream,
			store_file_path(reader->snapshot.file));
		return -ERROR_USAGE;
	}
	cursor = calloc(1, sizeof *cursor);
	if (!cursor) {
		error_memory(error);
		return -ERROR_IO;
	}
	cursor->reader = reader;
	cursor->stream = stream;
	cursor->track = track;
	cursor->begin_ns = begin_ns;
	cursor->end_ns = end_ns;
	store_tree_cursor_init(
		&cursor->tree, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	cursor->tree.fits = store_chunk_fits;
	find_places(cursor, store_reader_at(reader, stream)->shifts[track]);
	*cursor_out = cursor;
	return 0;
}

void store_cursor_close(struct store_cursor *cursor)
{
	free(cursor);
}

static int seek_chunk(struct store_cursor *cursor, uint64_t bucket_ns, unsigned shift, struct error *error)
{
	struct store_key_chunk key = {.stream = cursor->stream,
		.track = (uint8_t)cursor->track,
		.bucket_ns = bucket_ns,
		.shift = (uint8_t)shift};
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];

	store_key_chunk_put(bytes, &key);
	return store_tree_seek(&cursor->tree, bytes, sizeof bytes, error);
}

/* To the next key that may matter: on in this bucket, to the next place, on behind the places. */
static int advance(struct store_cursor *cursor, struct error *error)
{
	if (cursor->is_inside)
		return store_tree_next(&cursor->tree, error);
	cursor->is_inside = true;
	if (cursor->place < cursor->place_count)
		return seek_chunk(cursor, cursor->places[cursor->place].bucket_ns,
			cursor->places[cursor->place].shift, error);
	if (cursor->begin_ns == UINT64_MAX)
		return 0;
	return seek_chunk(cursor, cursor->begin_ns + 1, STORE_SHIFT_MAX, error);
}

/* Is the key where the cursor stands still of the place, or behind the places of the window? */
static bool belongs(const struct store_cursor *cursor, const struct store_key_chunk *key)
{
	if (key->stream != cursor->stream || key->track != cursor->track)
		return false;
	if (cursor->place == cursor->place_count)
		return key->bucket_ns < cursor->end_ns;
	return key->bucket_ns == cursor->places[cursor->place].bucket_ns &&
	       key->shift == cursor->places[cursor->place].shift;
}

/* 1: *chunk belongs; 0: nothing more here; negative: error. */
static int next_here(struct store_cursor *cursor, struct store_chunk *chunk, struct error *error)
{
	struct store_key_chunk key;
	int rc = advance(cursor, error);

	if (rc <= 0)
		return rc;
	if (!store_key_chunk_get(&key, cursor->tree.key.bytes, cursor->tree.key.size)) {
		store_reader_damaged(cursor->reader, "a chunk's key", error);
		return -ERROR_RUN;
	}
	if (!belongs(cursor, &key))
		return 0;
	rc = store_reader_chunk(cursor->reader, &cursor->tree, &key, chunk, error);
	return rc ? rc : 1;
}

int store_cursor_next(struct store_cursor *cursor, struct store_chunk *chunk, struct error *error)
{
	while (cursor->begin_ns < cursor->end_ns && cursor->place <= cursor->place_count) {
		int rc = next_here(cursor, chunk, error);

		if (rc < 0)
			return rc;
		if (rc != 1) {
			cursor->is_inside = false;
			cursor->place++;
			continue;
		}
		if (chunk->first_ns < cursor->end_ns && chunk->end_ns >= cursor->begin_ns)
			return 1;
	}
	return 0;
}

/* ---- the sample before a moment ---- */

/* What is known so far of the last sample before a time. */
struct search {
	struct store_reader *reader;
	uint32_t stream;
	uint64_t time_ns;
	struct store_record best;
	bool is_found;
};

static bool may_hold_better(const struct search *search, const struct store_chunk *chunk)
{
	return store_chunk_has_extent(chunk) && chunk->first_ns < search->time_ns &&
	       (!search->is_found || chunk->last_ns >= search->best.begin_ns);
}

/* Of several samples at one moment, the one that owns the timeline (tie_break.h); of one path the last
 * metric by name, then the heaviest: a slice has other ids. */
static bool is_better(const struct search *search, const struct store_record *a)
{
	const struct store_record *b = &search->best;
	uint32_t context_count, metric_count;
	const struct store_context *contexts = store_reader_contexts(search->reader, &context_count);
	const struct store_metric *metrics = store_reader_metrics(search->reader, &metric_count);
	int order = 0;

	if (!search->is_found || a->begin_ns != b->begin_ns)
		return !search->is_found || a->begin_ns > b->begin_ns;
	if (a->context != b->context && a->context < context_count && b->context < context_count)
		order = store_hash_compare(contexts[a->context].hash, contexts[b->context].hash);
	if (!order && a->what != b->what && a->what < metric_count && b->what < metric_count)
		order = strcmp(store_reader_text(search->reader, metrics[a->what].name, NULL),
			store_reader_text(search->reader, metrics[b->what].name, NULL));
	return order ? order > 0 : a->amount > b->amount;
}

static int look_into(struct search *search, const struct store_chunk *chunk, struct error *error)
{
	struct store_batch *batch = &search->reader->batch;
	int rc;

	if (!may_hold_better(search, chunk))
		return 0;
	rc = store_chunk_decode(chunk, STORE_ALL, batch, error);
	for (size_t i = rc ? 0 : batch->count; i-- > 0;) {
		struct store_record record;

		if (batch->begin_ns[i] >= search->time_ns || !(batch->flags[i] & STORE_RECORD_EXTENT))
			continue;
		record = store_batch_record(batch, i);
		if (search->is_found && record.begin_ns < search->best.begin_ns)
			break;
		if (is_better(search, &record))
			search->best = record;
		search->is_found = true;
	}
	return rc;
}

/* Backwards from the time, until a bucket begins before the best sample so far. */
static int search_back(struct search *search, struct error *error)
{
	struct store_reader *reader = search->reader;
	struct store_key_chunk key = {.stream = search->stream, .track = STORE_SAMPLES};
	struct store_tree_cursor tree;
	struct store_chunk chunk;
	uint8_t bytes[STORE_KEY_CHUNK_BYTES];
	int rc;

	key.bucket_ns = search->time_ns;
	key.shift = STORE_SHIFT_MAX;
	store_key_chunk_put(bytes, &key);
	store_tree_cursor_init(&tree, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	tree.fits = store_chunk_fits;
	rc = store_tree_seek_below(&tree, bytes, sizeof bytes, error);
	for (; rc == 1; rc = store_tree_previous(&tree, error)) {
		if (!store_key_chunk_get(&key, tree.key.bytes, tree.key.size))
			return store_reader_damaged(reader, "a chunk's key", error);
		if (key.stream != search->stream || key.track != STORE_SAMPLES ||
			(search->is_found && key.bucket_ns < search->best.begin_ns))
			return 0;
		rc = store_reader_chunk(reader, &tree, &key, &chunk, error);
		rc = rc ? rc : look_into(search, &chunk, error);
		if (rc)
			return rc;
	}
	return rc;
}

/* A larger bucket that begins before the best one may have a better sample: look up the bucket of each size
 * that contains it. A cursor on [best, time) returns those first; the rest has been seen. */
static int search_around(struct search *search, struct error *error)
{
	const uint64_t from_ns = search->best.begin_ns;
	struct store_cursor *cursor;
	struct store_chunk chunk;
	int rc;

	if (!search->is_found)
		return 0;
	rc = store_cursor_open(
		&cursor, search->reader, search->stream, STORE_SAMPLES, from_ns, search->time_ns, error);
	if (rc)
		return rc;
	while ((rc = store_cursor_next(cursor, &chunk, error)) == 1 && chunk.bucket_ns <= from_ns) {
		rc = look_into(search, &chunk, error);
		if (rc)
			break;
	}
	store_cursor_close(cursor);
	return rc < 0 ? rc : 0;
}

int store_reader_sample_before(struct store_reader *reader, uint32_t stream, uint64_t time_ns,
	struct store_record *record, struct error *error)
{
	struct search search = {.reader = reader, .stream = stream, .time_ns = time_ns};
	int rc;

	if (stream >= reader->stream_count)
		return 0;
	rc = search_back(&search, error);
	rc = rc ? rc : search_around(&search, error);
	if (rc)
		return rc;
	*record = search.best;
	return search.is_found;
}
