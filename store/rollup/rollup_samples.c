/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_samples.c - the parts of a stream's sampled timeline in a window: rollups and chunks, by their
 * first sample.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/id_table.h"
#include "store/rollup/rollup_internal.h"

#define PREFETCH_RECORDS 65536u /* of a stream: fewer records are in a few chunks */
#define PROBES 2u		/* values of a quarter that are in memory already: so are the others, then */

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
	struct store_sum_row line;

	if (part->at.roll.shift > query->shift_max)
		return 0;
	/* Its seal is checked when its sums are read; an unused one does no harm. */
	store_sum_row_get(&line, &input, reader->contexts.count);
	if (input.bad || (line.is_plain && (line.first_ns < part->at.roll.begin_ns ||
						   line.last_ns > store_rollup_last(part->at.roll.begin_ns,
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

/* Samples of two parts may be interleaved (late records): then neither part makes the timeline alone. */
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

static struct store_slice next_value(
	struct store_rollup_walk *walk, const struct store_line_query *query, int *rc, struct error *error)
{
	struct store_rollup_walk_part part;

	while ((*rc = store_rollup_walk_next(walk, &part, error)) == 1) {
		if (!part.is_roll || part.roll.shift <= query->shift_max)
			return part.is_roll ? part.value : part.bytes;
		store_rollup_walk_refuse(walk, &part.roll);
	}
	return (struct store_slice){NULL, 0};
}

static void walk_from(struct store_rollup_walk *walk, const struct store_rollup_source *source,
	const struct store_line_query *query, uint64_t begin_ns)
{
	store_rollup_walk_init(walk, source, query->stream, STORE_SAMPLES, begin_ns, query->end_ns,
		store_reader_at(query->reader, query->stream)->shifts[STORE_SAMPLES]);
}

/* Are some values of each quarter in memory? So are the others, then. By their last bytes: where they begin
 * the walk itself has looked. */
static bool is_warm(const struct store_line_query *query, const struct store_rollup_source *source)
{
	uint64_t quarter_ns = (query->end_ns - query->begin_ns) / 4;
	struct store_rollup_walk walk;
	struct error error;
	int rc = 1;

	for (unsigned quarter = 0; quarter < 4 && rc >= 0; quarter++) {
		walk_from(&walk, source, query, query->begin_ns + quarter * quarter_ns);
		for (unsigned probe = 0; probe < PROBES; probe++) {
			struct store_slice value = next_value(&walk, query, &rc, &error);

			if (rc == 1 && value.size &&
				!store_snapshot_holds(&query->reader->snapshot, value.bytes + value.size - 1))
				return false;
		}
	}
	return true;
}

/* Requests values far apart on the disk all at once. */
static int prefetch(const struct store_line_query *query, struct error *error)
{
	struct store_rollup_source source = {.own = query->reader, .seek = store_rollup_seek};
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct store_rollup_walk walk;
	struct store_slice value;
	int rc = 0;

	if (store_reader_at(query->reader, query->stream)->count[STORE_SAMPLES] < PREFETCH_RECORDS ||
		is_warm(query, &source))
		return 0;
	walk_from(&walk, &source, query, query->begin_ns);
	while (value = next_value(&walk, query, &rc, error), rc == 1) {
		uintptr_t from = (uintptr_t)value.bytes & ~(page_bytes - 1);

		madvise((void *)from, (uintptr_t)value.bytes + value.size - from, MADV_WILLNEED);
	}
	return rc;
}

int store_line_parts(const struct store_line_query *query, struct store_line_part **parts, uint32_t *count,
	uint64_t *clear_ns, struct error *error)
{
	struct store_rollup_source source = {.own = query->reader, .seek = store_rollup_seek};
	struct store_line_part part = {0}, *to;
	struct store_rollup_walk walk;
	uint32_t capacity = 0;
	int rc;

	*parts = NULL;
	*count = 0;
	*clear_ns = query->begin_ns;
	rc = prefetch(query, error);
	if (rc < 0)
		return rc;
	store_rollup_walk_init(&walk, &source, query->stream, STORE_SAMPLES, query->begin_ns, query->end_ns,
		store_reader_at(query->reader, query->stream)->shifts[STORE_SAMPLES]);
	while ((rc = store_rollup_walk_next(&walk, &part.at, error)) == 1) {
		part.is_alone = part.is_whole = true;
		rc = part.at.is_roll ? part_of_roll(query, &part, error) : part_of_chunk(query, &part, error);
		if (rc < 0)
			break;
		if (part.at.is_roll && !rc) {
			store_rollup_walk_refuse(&walk, &part.at.roll);
			continue;
		}
		to = store_id_table_add(parts, count, &capacity, sizeof *to);
		if (!to) {
			rc = error_memory(error);
			break;
		}
		*to = part;
	}
	find_overlaps(*parts, *count);
	*clear_ns = walk.clear_ns;
	return rc < 0 ? rc : 0;
}

static int read_works(struct store_reader *reader, const struct store_line_part *part, struct error *error)
{
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input;

	store_key_rollup_put(key, &part->at.roll);
	input = store_input_sealed(part->at.value, key, sizeof key);
	store_sum_columns_get(&reader->works, &input, reader->contexts.count, reader->metrics.count);
	if (reader->works.failed)
		return error_memory(error);
	return input.bad ? store_reader_damaged(reader, "a rollup", error) : reader->works.line.is_plain;
}

int store_line_works(struct store_reader *reader, const struct store_line_part *part,
	const struct store_sum_columns **works, struct error *error)
{
	struct store_chunk chunk;
	int rc;

	*works = &reader->works;
	if (part->at.is_roll)
		return read_works(reader, part, error);
	rc = store_reader_chunk_of(reader, &part->at.key, part->at.bytes, &chunk, error);
	return rc ? rc : store_chunk_works(&chunk, &reader->batch, &reader->works, error);
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
	*from = store_batch_row_at(batch, query->begin_ns);
	*to = store_batch_row_at(batch, query->end_ns);
	return *from < *to && are_plain(batch, *from, *to, gap_ns);
}
