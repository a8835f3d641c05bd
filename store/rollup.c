/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup.c - the readers' side of rollups: what the walk over a track gives, made into sums.
 */
#include "store/rollup.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/reader_state.h"
#include "store/roll_walk.h"
#include "store/table.h"

#define PROBES \
	4u /* of as many values, and then of ever fewer, it is asked whether they are in memory already */
#define WEIGHTS (1u << STORE_SUMS_WEIGHT)
#define TIMES (1u << STORE_SUMS_TIME)

struct store_rollup {
	struct store_reader *reader;
	struct store_roll_source source;
	struct store_roll_walk walk;
};

/* ---- where keys come from ---- */

static int seek(void *own, bool is_roll, const uint8_t *key, size_t key_size, struct store_slice *found,
	struct store_slice *value, struct error *error)
{
	const struct store_reader *reader = own;
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages,
		&reader->snapshot.trees[is_roll ? STORE_TREE_ROLL : STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, key, key_size, error);
	*found = cursor.key;
	*value = cursor.value;
	return rc;
}

/* ---- sums ---- */

static bool is_real(const struct store_reader *reader, const struct store_sums *sums)
{
	/* Metrics come in groups. */
	for (uint32_t i = 0, last = UINT32_MAX; i < sums->count; i++) {
		if (sums->entries[i].metric == last)
			continue;
		last = sums->entries[i].metric;
		if (reader->metrics.metrics[last].is_real)
			return true;
	}
	return false;
}

static int read_rollup(struct store_reader *reader, const struct store_key_roll *roll,
	struct store_slice value, unsigned wanted, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input;

	store_key_roll_put(key, roll);
	input = store_input_sealed(value, key, sizeof key);
	store_sums_clear(&reader->sums);
	store_sums_get(&reader->sums, &input, reader->contexts.count, reader->metrics.count, wanted);
	if (reader->sums.failed)
		return error_memory(error);
	return input.bad ? store_reader_damaged(reader, "a rollup", error) : 0;
}

/* First row at or behind time_ns. */
static size_t row_at(const struct store_batch *batch, uint64_t time_ns)
{
	size_t from = 0, to = batch->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (batch->begin_ns[middle] < time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int give_rows(struct store_rollup *rollup, const struct store_chunk *chunk,
	struct store_rollup_part *part, struct error *error)
{
	const struct store_roll_walk *walk = &rollup->walk;
	struct store_batch *batch = &rollup->reader->batch;
	int rc = store_chunk_decode_between(chunk, walk->begin_ns, walk->end_ns,
		STORE_BEGIN | STORE_AMOUNT | STORE_CONTEXT | STORE_WHAT, batch, error);

	if (rc)
		return rc;
	*part = (struct store_rollup_part){
		.batch = batch, .from = row_at(batch, walk->begin_ns), .to = row_at(batch, walk->end_ns)};
	return 1;
}

static int give_sums(const struct store_reader *reader, struct store_rollup_part *part)
{
	*part = (struct store_rollup_part){.sums = reader->sums.entries, .count = reader->sums.count};
	return part->count > 0;
}

static int give_chunk(struct store_rollup *rollup, const struct store_roll_part *from,
	struct store_rollup_part *part, struct error *error)
{
	struct store_reader *reader = rollup->reader;
	struct store_chunk chunk;
	int rc = store_reader_chunk_of(reader, &from->key, from->bytes, &chunk, error);

	if (rc)
		return rc;
	if (!from->is_cut) {
		store_sums_clear(&reader->sums);
		rc = store_chunk_sums(&chunk, &reader->batch, &reader->sums, error);
		if (rc < 0)
			return rc;
		if (rc && !is_real(reader, &reader->sums))
			return give_sums(reader, part);
	}
	return give_rows(rollup, &chunk, part, error);
}

int store_rollup_next(struct store_rollup *rollup, struct store_rollup_part *part, struct error *error)
{
	struct store_roll_part from;
	int rc, given = 0;

	while (!given && (rc = store_roll_walk_next(&rollup->walk, &from, error)) == 1) {
		if (!from.is_roll) {
			given = give_chunk(rollup, &from, part, error);
			continue;
		}
		rc = read_rollup(rollup->reader, &from.roll, from.value, WEIGHTS, error);
		if (rc)
			return rc;
		if (is_real(rollup->reader, &rollup->reader->sums))
			store_roll_walk_refuse(&rollup->walk, &from.roll);
		else
			given = give_sums(rollup->reader, part);
	}
	return given ? given : rc;
}

int store_rollup_open(struct store_rollup **rollup, struct store_reader *reader, uint32_t stream,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct store_rollup *r = calloc(1, sizeof *r);

	*rollup = r;
	if (!r)
		return error_memory(error);
	r->reader = reader;
	r->source = (struct store_roll_source){.own = reader, .seek = seek};
	store_roll_walk_init(&r->walk, &r->source, stream, STORE_SAMPLES, begin_ns,
		begin_ns < end_ns ? end_ns : begin_ns,
		begin_ns < end_ns ? reader->streams[stream].shifts[STORE_SAMPLES] : 0);
	return 0;
}

void store_rollup_close(struct store_rollup *rollup)
{
	free(rollup);
}

/* ---- lines ---- */

static int compare_parts(const void *x, const void *y)
{
	const struct store_line_part *a = x, *b = y;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return (a->last_ns > b->last_ns) - (a->last_ns < b->last_ns);
}

/* A rollup whose line is not wanted is refused: 0. */
static int part_of_roll(
	const struct store_line_query *query, struct store_line_part *part, struct error *error)
{
	struct store_reader *reader = query->reader;
	struct store_input input = store_input_peek(part->at.value);
	struct store_line line;

	if (part->at.roll.shift > query->shift_max)
		return 0;
	/* Its seal is looked at when its sums are read; one that is not wanted harms nobody. */
	store_line_get(&line, &input, reader->contexts.count);
	if (input.bad || (line.is_plain && (line.first_ns < part->at.roll.begin_ns ||
						   line.last_ns > store_roll_last(part->at.roll.begin_ns,
									  part->at.roll.shift))))
		return store_reader_damaged(reader, "a rollup", error);
	part->first_ns = line.first_ns;
	part->last_ns = line.last_ns;
	return line.is_plain && query->wants(query->own, &line);
}

static int part_of_chunk(
	const struct store_line_query *query, struct store_line_part *part, struct error *error)
{
	struct store_chunk chunk = {0};
	int rc = store_reader_chunk_of(query->reader, &part->at.key, part->at.bytes, &chunk, error);

	part->first_ns = chunk.first_ns;
	part->last_ns = chunk.last_ns;
	part->is_whole = !part->at.is_cut;
	return rc;
}

/* Samples of two parts may lie among each other (late records): then neither is the line. */
static void find_overlaps(struct store_line_part *parts, uint32_t count)
{
	uint64_t last_ns = 0;

	if (count)
		qsort(parts, count, sizeof *parts, compare_parts);
	for (uint32_t i = 0; i < count; i++) {
		if (i && parts[i].first_ns <= last_ns)
			parts[i].is_alone = parts[i].is_whole = false;
		if (i + 1 < count && parts[i + 1].first_ns <= parts[i].last_ns)
			parts[i].is_alone = parts[i].is_whole = false;
		last_ns = parts[i].last_ns > last_ns ? parts[i].last_ns : last_ns;
	}
}

/* Is its first page in memory? What cannot be told is taken to be. */
static bool is_resident(struct store_slice value, size_t page_bytes)
{
	unsigned char is_there = 1;

	mincore((void *)((uintptr_t)value.bytes & ~(page_bytes - 1)), 1, &is_there);
	return is_there & 1;
}

static struct store_slice next_value(
	struct store_roll_walk *walk, const struct store_line_query *query, int *rc, struct error *error)
{
	struct store_roll_part part;

	while ((*rc = store_roll_walk_next(walk, &part, error)) == 1) {
		if (!part.is_roll || part.roll.shift <= query->shift_max)
			return part.is_roll ? part.value : part.bytes;
		store_roll_walk_refuse(walk, &part.roll);
	}
	return (struct store_slice){NULL, 0};
}

static void walk_from(struct store_roll_walk *walk, const struct store_roll_source *source,
	const struct store_line_query *query, uint64_t begin_ns)
{
	store_roll_walk_init(walk, source, query->stream, STORE_SAMPLES, begin_ns, query->end_ns,
		query->reader->streams[query->stream].shifts[STORE_SAMPLES]);
}

/* Are some values of each quarter in memory? So are the others, then. */
static bool is_warm(
	const struct store_line_query *query, const struct store_roll_source *source, size_t page_bytes)
{
	uint64_t quarter_ns = (query->end_ns - query->begin_ns) / 4;
	struct store_roll_walk walk;
	struct error error;
	int rc = 1;

	for (unsigned quarter = 0; quarter < 4 && rc >= 0; quarter++) {
		walk_from(&walk, source, query, query->begin_ns + quarter * quarter_ns);
		for (unsigned probe = 0; probe < PROBES; probe++) {
			struct store_slice value = next_value(&walk, query, &rc, &error);

			if (rc == 1 && !is_resident(value, page_bytes))
				return false;
		}
	}
	return true;
}

/* From a disk, values far apart are best asked for all at once. */
static int prefetch(const struct store_line_query *query, struct error *error)
{
	struct store_roll_source source = {.own = query->reader, .seek = seek};
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct store_roll_walk walk;
	struct store_slice value;
	int rc = 0;

	if (is_warm(query, &source, page_bytes))
		return 0;
	walk_from(&walk, &source, query, query->begin_ns);
	while (value = next_value(&walk, query, &rc, error), rc == 1) {
		uintptr_t from = (uintptr_t)value.bytes & ~(page_bytes - 1);

		madvise((void *)from, (uintptr_t)value.bytes + value.size - from, MADV_WILLNEED);
	}
	return rc;
}

int store_line_parts(const struct store_line_query *query, struct store_line_part **parts, uint32_t *count,
	struct error *error)
{
	struct store_roll_source source = {.own = query->reader, .seek = seek};
	struct store_line_part part = {0}, *to;
	struct store_roll_walk walk;
	uint32_t capacity = 0;
	int rc;

	*parts = NULL;
	*count = 0;
	rc = prefetch(query, error);
	if (rc < 0)
		return rc;
	store_roll_walk_init(&walk, &source, query->stream, STORE_SAMPLES, query->begin_ns, query->end_ns,
		query->reader->streams[query->stream].shifts[STORE_SAMPLES]);
	while ((rc = store_roll_walk_next(&walk, &part.at, error)) == 1) {
		part.is_alone = part.is_whole = true;
		rc = part.at.is_roll ? part_of_roll(query, &part, error) : part_of_chunk(query, &part, error);
		if (rc < 0)
			break;
		if (part.at.is_roll && !rc) {
			store_roll_walk_refuse(&walk, &part.at.roll);
			continue;
		}
		to = store_table_add((void **)parts, count, &capacity, sizeof *to);
		if (!to) {
			rc = error_memory(error);
			break;
		}
		*to = part;
	}
	find_overlaps(*parts, *count);
	return rc < 0 ? rc : 0;
}

static int read_works(struct store_reader *reader, const struct store_line_part *part, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input;

	store_key_roll_put(key, &part->at.roll);
	input = store_input_sealed(part->at.value, key, sizeof key);
	store_works_get(&reader->works, &input, reader->contexts.count, reader->metrics.count);
	if (reader->works.failed)
		return error_memory(error);
	return input.bad ? store_reader_damaged(reader, "a rollup", error) : reader->works.line.is_plain;
}

int store_line_works(struct store_reader *reader, const struct store_line_part *part,
	const struct store_works **works, struct error *error)
{
	struct store_chunk chunk;
	int rc;

	*works = &reader->works;
	if (part->at.is_roll)
		return read_works(reader, part, error);
	rc = store_reader_chunk_of(reader, &part->at.key, part->at.bytes, &chunk, error);
	store_sums_clear(&reader->sums);
	rc = rc ? rc : store_chunk_sums(&chunk, &reader->batch, &reader->sums, error);
	if (rc != 1)
		return rc;
	store_works_of(&reader->works, &reader->sums);
	return reader->works.failed ? error_memory(error) : reader->works.line.is_plain;
}

static bool are_plain(const struct store_batch *batch, size_t from, size_t to, uint64_t gap_ns)
{
	const uint64_t *begin_ns = batch->begin_ns;
	uint64_t longest_ns = 0;
	bool is_plain = batch->flags[from] & STORE_RECORD_EXTENT;

	/* Without a branch: two at one time are a gap that is too long. */
	for (size_t i = from + 1; i < to; i++) {
		uint64_t gap = begin_ns[i] - begin_ns[i - 1] - 1;

		longest_ns = gap > longest_ns ? gap : longest_ns;
		is_plain &= batch->flags[i] / STORE_RECORD_EXTENT & 1;
	}
	return is_plain && longest_ns < gap_ns;
}

int store_line_rows(struct store_reader *reader, const struct store_line_part *part,
	const struct store_line_query *query, uint64_t gap_ns, struct store_batch *batch, size_t *from,
	size_t *to, struct error *error)
{
	struct store_chunk chunk;
	int rc;

	if (part->at.is_roll || !part->is_alone)
		return 0;
	rc = store_reader_chunk_of(reader, &part->at.key, part->at.bytes, &chunk, error);
	rc = rc ? rc
		: store_chunk_decode_between(&chunk, query->begin_ns, query->end_ns,
			  STORE_BEGIN | STORE_CONTEXT | STORE_FLAGS, batch, error);
	if (rc)
		return rc;
	*from = row_at(batch, query->begin_ns);
	*to = row_at(batch, query->end_ns);
	return *from < *to && are_plain(batch, *from, *to, gap_ns);
}

/* ---- the total ---- */

static const struct store_key_roll total_key = {
	.stream = STORE_ROLL_ALL, .kind = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};

/* The writer does not put it at every commit: it is of this one when it has all samples. */
static bool is_whole(const struct store_reader *reader)
{
	uint64_t samples = 0, wanted = 0;

	for (uint32_t i = 0; i < reader->sums.count; i++)
		samples += reader->sums.entries[i].samples;
	for (uint32_t stream = 0; stream < reader->stream_count; stream++)
		wanted += reader->streams[stream].count[STORE_SAMPLES];
	return samples == wanted;
}

static int read_total(struct store_reader *reader, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_slice value;
	int rc;

	store_key_roll_put(key, &total_key);
	rc = store_tree_get(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL], key,
		sizeof key, &value, error);
	if (rc == 1) {
		rc = read_rollup(reader, &total_key, value, WEIGHTS, error);
		rc = rc ? rc : is_whole(reader);
	}
	return rc;
}

int store_rollup_total(struct store_reader *reader, struct store_rollup_part *part, struct error *error)
{
	int rc = read_total(reader, error);

	if (rc <= 0 || is_real(reader, &reader->sums))
		return rc < 0 ? rc : 0;
	give_sums(reader, part);
	return 1;
}

/* ---- checking ---- */

struct check {
	struct store_reader *reader;
	struct store_roll_source source;
	struct store_sums made, total;
};

static void add_all(struct store_sums *to, const struct store_sums *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		store_sums_add(to, &from->entries[i]);
}

/* The rows' line, where they are plain. */
static void find_line(struct store_sums *to, const struct store_batch *batch)
{
	struct store_line line = {.first_ns = batch->begin_ns[0], .is_plain = batch->count > 1};

	for (size_t i = 0; i < batch->count && line.is_plain; i++) {
		uint64_t gap_ns = i ? batch->begin_ns[i] - batch->begin_ns[i - 1] : 1;

		line.is_plain = batch->flags[i] == batch->flags[0] && batch->what[i] == batch->what[0] &&
				batch->flags[i] & STORE_RECORD_EXTENT && gap_ns;
		line.gap_ns = i && gap_ns > line.gap_ns ? gap_ns : line.gap_ns;
		line.last_ns = batch->begin_ns[i];
		line.last_context = batch->context[i];
	}
	for (size_t i = 1; i < batch->count && line.is_plain; i++)
		store_sums_add(to, &(struct store_sum){.context = batch->context[i - 1],
					   .metric = batch->what[i - 1],
					   .time_ns = batch->begin_ns[i] - batch->begin_ns[i - 1]});
	to->line = line.is_plain ? line : (struct store_line){0};
}

static int add_rows(
	struct check *check, struct store_sums *to, const struct store_chunk *chunk, struct error *error)
{
	struct store_batch *batch = &check->reader->batch;
	int rc = store_chunk_decode(chunk, STORE_ALL, batch, error);

	for (size_t i = 0; i < batch->count; i++)
		store_sums_add(to, &(struct store_sum){.samples = 1,
					   .weight = batch->amount[i],
					   .context = batch->context[i],
					   .metric = batch->what[i]});
	if (!rc)
		find_line(to, batch);
	return rc;
}

static bool is_same(struct store_sums *a, struct store_sums *b)
{
	struct store_bytes bytes[2] = {{0}, {0}};
	bool same;

	store_sums_put(a, &bytes[0]);
	store_sums_put(b, &bytes[1]);
	same = !bytes[0].failed && !bytes[1].failed && bytes[0].size == bytes[1].size &&
	       memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0;
	store_bytes_fini(&bytes[0]);
	store_bytes_fini(&bytes[1]);
	return same;
}

/* A chunk's own sums, and its records' share of the total. */
static int check_chunk(struct check *check, const struct store_chunk *chunk, struct error *error)
{
	struct store_reader *reader = check->reader;
	int rc;

	store_sums_clear(&check->made);
	rc = add_rows(check, &check->made, chunk, error);
	if (rc)
		return rc;
	add_all(&check->total, &check->made);
	store_sums_clear(&reader->sums);
	rc = store_chunk_sums(chunk, &reader->batch, &reader->sums, error);
	if (rc == 1 && !is_same(&check->made, &reader->sums))
		return store_reader_damaged(reader, "a chunk's sums", error);
	return rc < 0 ? rc : 0;
}

static int check_chunks(struct check *check, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_tree_cursor cursor;
	struct store_key_chunk key;
	struct store_chunk chunk;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_CHUNK]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		rc = store_reader_chunk(reader, &cursor, &key, &chunk, error);
		if (!rc && key.track == STORE_SAMPLES)
			rc = check_chunk(check, &chunk, error);
		if (rc)
			return rc;
	}
	return rc;
}

static int add_part(struct check *check, const struct store_roll_part *part, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_chunk chunk;
	int rc;

	if (part->is_roll) {
		rc = read_rollup(reader, &part->roll, part->value, WEIGHTS | TIMES, error);
	} else {
		rc = store_reader_chunk_of(reader, &part->key, part->bytes, &chunk, error);
		store_sums_clear(&reader->sums);
		rc = rc ? rc : store_chunk_sums(&chunk, &reader->batch, &reader->sums, error);
		if (rc == 0) {
			rc = add_rows(check, &reader->sums, &chunk, error);
			reader->sums.line = (struct store_line){0};
		}
	}
	if (rc >= 0)
		store_sums_join(&check->made, &reader->sums);
	return rc < 0 ? rc : 0;
}

/* From the smallest up, each is what it consists of: so all are what the chunks hold. */
static int check_rollup(
	struct check *check, const struct store_key_roll *key, struct store_slice value, struct error *error)
{
	struct store_roll_walk walk;
	struct store_roll_part part;
	int rc;

	store_sums_clear(&check->made);
	store_roll_walk_init_inner(&walk, &check->source, key);
	while ((rc = store_roll_walk_next(&walk, &part, error)) == 1) {
		rc = add_part(check, &part, error);
		if (rc)
			return rc;
	}
	rc = rc ? rc : read_rollup(check->reader, key, value, WEIGHTS | TIMES, error);
	if (rc)
		return rc;
	/* What was joined where records were dropped adds up to as much, but may tell less of the line. */
	if (key->begin_ns < check->reader->streams[key->stream].thinned_ns)
		check->made.line = check->reader->sums.line = (struct store_line){0};
	return is_same(&check->made, &check->reader->sums)
		       ? 0
		       : store_reader_damaged(
				 check->reader, "a rollup that is not what its chunks hold", error);
}

static int check_rollups(struct check *check, struct error *error)
{
	struct store_reader *reader = check->reader;
	struct store_tree_cursor cursor;
	struct store_key_roll key;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	rc = store_tree_seek(&cursor, "", 0, error);
	for (; rc == 1; rc = store_tree_next(&cursor, error)) {
		if (!store_key_roll_get(&key, cursor.key.bytes, cursor.key.size))
			return store_reader_damaged(reader, "a rollup's key", error);
		if (key.stream == STORE_ROLL_ALL || key.kind != STORE_SAMPLES)
			continue;
		if (key.stream >= reader->stream_count)
			return store_reader_damaged(reader, "a rollup of no stream", error);
		/* What it sums up was dropped: it is the record. */
		if (store_roll_last(key.begin_ns, key.shift) < reader->streams[key.stream].thinned_ns)
			continue;
		rc = check_rollup(check, &key, cursor.value, error);
		if (rc)
			return rc;
	}
	return rc;
}

/* Then chunks alone do not make the total. */
static bool is_thinned(const struct store_reader *reader)
{
	for (uint32_t stream = 0; stream < reader->stream_count; stream++)
		if (reader->streams[stream].dropped[STORE_SAMPLES])
			return true;
	return false;
}

int store_rollup_check(struct store_reader *reader, struct error *error)
{
	struct check check = {.reader = reader, .source = {.own = reader, .seek = seek}};
	int rc = check_chunks(&check, error);

	rc = rc ? rc : check_rollups(&check, error);
	if (!rc && !is_thinned(reader)) {
		rc = read_total(reader, error);
		if (rc == 1)
			rc = is_same(&check.total, &reader->sums)
				     ? 0
				     : store_reader_damaged(reader, "the total", error);
	}
	store_sums_fini(&check.made);
	store_sums_fini(&check.total);
	return rc;
}
