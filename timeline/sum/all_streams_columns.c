/* SPDX-License-Identifier: Apache-2.0 */
/* all_streams_columns.c - see all_streams_columns.h. Gives up at the first gap: reading gaps would read every
 * stream, once for each column. */
#include "timeline/sum/all_streams_columns.h"

#include <stdlib.h>

#include "store/states/all_streams.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/all_streams_sum.h"

#define WIDEST 16u /* columns in a bucket: wider ones say too little */

static int ignore_piece(void *own, const struct extent *extent, struct error *error)
{
	(void)own, (void)extent, (void)error;
	return 0;
}

static int add_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct all_streams_column *column = own;

	(void)records, (void)error;
	if (key->state == EXTENT_ABSENT)
		return 0;
	column->there_ns += time_ns;
	if (extent_state_is_busy(key->state))
		column->busy_ns += time_ns;
	if (key->state == EXTENT_UNMONITORED)
		column->blind_ns += time_ns;
	else if (key->state == EXTENT_LOST)
		column->has_lost = true;
	else
		column->known_ns += time_ns;
	return 0;
}

static int refuse_gaps(void *own, const struct all_streams_gap *gaps, uint32_t count, struct error *error)
{
	(void)gaps, (void)count;
	*(bool *)own = true;
	return error_set(error, ERROR_EMPTY, "no sums of all streams");
}

/* 1; 0: there is a gap; negative. */
static int sum_one(struct run *run, uint64_t begin_ns, uint64_t end_ns, struct all_streams_column *column,
	struct error *error)
{
	const struct state_sum_sink sink = {.own = column, .piece = ignore_piece, .sum = add_sum};
	bool has_gaps = false;
	const struct all_streams_asker asker = {&has_gaps, refuse_gaps};
	int code;

	*column = (struct all_streams_column){0};
	if (begin_ns >= end_ns)
		return 1;
	code = all_streams_sum(run, NULL, run_timed_count(run), begin_ns, end_ns, &sink, &asker, error);
	return has_gaps ? 0 : code;
}

/* The widest of the smallest buckets of all stores: 1; 0: a store has none; negative. */
static int find_shift(struct run *run, unsigned *shift, struct error *error)
{
	struct store_all_streams_head head;
	int code = 1;

	*shift = 0;
	for (unsigned p = 0; p < run->part_count && code == 1; p++) {
		code = store_all_streams_head(run->parts[p].reader, &head, error);
		if (code == 1 && head.shift > *shift)
			*shift = head.shift;
	}
	return code;
}

static uint64_t part_of(uint64_t time_ns, uint64_t part_ns, uint64_t whole_ns)
{
	return (uint64_t)((unsigned __int128)time_ns * part_ns / whole_ns);
}

/* Adds a bucket to the columns that it touches, to each by the time that they share. */
static void share_out(const struct all_streams_column *bucket, uint64_t begin_ns, uint64_t length_ns,
	const uint64_t *edges, unsigned shift, uint32_t count, struct all_streams_column *columns)
{
	uint64_t end_ns = begin_ns + length_ns;

	for (uint32_t i = 0; i < count && edges[i] << shift < end_ns; i++) {
		uint64_t from_ns = edges[i] << shift, until_ns = edges[i + 1] << shift;

		from_ns = from_ns > begin_ns ? from_ns : begin_ns;
		until_ns = until_ns < end_ns ? until_ns : end_ns;
		if (from_ns >= until_ns)
			continue;
		columns[i].busy_ns += part_of(bucket->busy_ns, until_ns - from_ns, length_ns);
		columns[i].there_ns += part_of(bucket->there_ns, until_ns - from_ns, length_ns);
		columns[i].known_ns += part_of(bucket->known_ns, until_ns - from_ns, length_ns);
		columns[i].blind_ns += part_of(bucket->blind_ns, until_ns - from_ns, length_ns);
		columns[i].has_lost = columns[i].has_lost || bucket->has_lost;
	}
}

/* Buckets that are wider than tiles: their sums are spread evenly. */
static int sum_wide(struct run *run, const uint64_t *edges, unsigned shift, uint32_t count, unsigned wide,
	struct all_streams_column *columns, struct error *error)
{
	uint64_t end_ns = edges[count] << shift, length_ns = (uint64_t)1 << wide;
	int code = 1;

	for (uint32_t i = 0; i < count; i++)
		columns[i] = (struct all_streams_column){0};
	if (end_ns - (edges[0] << shift) < (uint64_t)count * length_ns / WIDEST)
		return 0;
	for (uint64_t at_ns = (edges[0] << shift) >> wide << wide; at_ns < end_ns && code == 1;
		at_ns += length_ns) {
		struct all_streams_column bucket;

		code = sum_one(run, at_ns, at_ns + length_ns, &bucket, error);
		if (code == 1)
			share_out(&bucket, at_ns, length_ns, edges, shift, count, columns);
	}
	return code;
}

int all_streams_columns(struct run *run, const uint64_t *edges, unsigned shift, uint32_t count,
	struct all_streams_column *columns, bool *is_spread, struct error *error)
{
	unsigned wide;
	int code = find_shift(run, &wide, error);

	*is_spread = wide > shift;
	if (code != 1 || !count)
		return code;
	if (*is_spread)
		return wide > 62 ? 0 : sum_wide(run, edges, shift, count, wide, columns, error);
	for (uint32_t i = 0; i < count && code == 1; i++)
		code = sum_one(run, edges[i] << shift, edges[i + 1] << shift, &columns[i], error);
	return code;
}
