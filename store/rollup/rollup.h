/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup.h - weights of samples, or values, by context and metric, read from sums that the writer made: a
 * window of a stream costs in proportion to its edges and contexts, not to its length. Results equal those
 * of a scan bit for bit; a store without rollups (format 1.0, the end of a live run) is summed from its
 * chunks.
 */
#ifndef STORE_ROLLUP_H
#define STORE_ROLLUP_H

#include "store/chunk/sum_columns.h"
#include "store/read/reader.h"
#include "store/rollup/rollup_walk.h"

/* Part of the samples in a window: summed, or as records at the window's edges and where a metric's values
 * are doubles (whose sum depends on the order). */
struct store_rollup_part {
	const struct store_sum_columns *works; /* sums of one metric; NULL: see below */
	const struct store_sum *sums;	       /* `count` sums; NULL: records */
	uint32_t count;
	const struct store_batch *batch; /* rows [from, to): amount, context, what */
	size_t from, to;
};

struct store_rollup;

/* Sums a stream's samples or values in [begin, end). One at a time per reader. */
int store_rollup_open(struct store_rollup **rollup, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* 1: *part is the next one, valid until the next call; 0: no more; negative: error. */
int store_rollup_next(struct store_rollup *rollup, struct store_rollup_part *part, struct error *error);
void store_rollup_close(struct store_rollup *rollup);

/* ---- timelines ---- */

/* A stretch of samples in a window, from the first to the last. */
struct store_line_part {
	uint64_t first_ns, last_ns;
	bool is_whole; /* all of its samples are in the window, and no others lie between them */
	bool is_alone; /* no other part's samples lie between them */
	struct store_rollup_walk_part at;
};

struct store_line_query {
	struct store_reader *reader;
	uint32_t stream;
	uint64_t begin_ns, end_ns; /* begin < end */
	unsigned shift_max;	   /* of rollups: none is larger than 2^shift_max ns */
	/* Returns whether these sample times are usable; otherwise the rollup's parts are returned instead.
	 */
	bool (*wants)(void *own, const struct store_sum_row *line);
	void *own;
};

/* The parts that hold the window's samples, ordered by first sample; the caller frees *parts in any case.
 * They are valid until the reader renews. Between *clear_ns and the window's begin, no other chunk whose
 * bucket reaches into the window has samples. */
int store_line_parts(const struct store_line_query *query, struct store_line_part **parts, uint32_t *count,
	uint64_t *clear_ns, struct error *error);
/* A whole part's sample times, per context: 1, valid until the next call; 0: its samples are not plain. */
int store_line_works(struct store_reader *reader, const struct store_line_part *part,
	const struct store_sum_columns **works, struct error *error);

/* The samples of a chunk's part in [begin, end) as rows [*from, *to) of `batch`, if each holds the timeline
 * until the next: all own it, no two at one time, none farther apart than `gap_ns`. 1; 0: not so, or no
 * samples. */
int store_line_rows(struct store_reader *reader, const struct store_line_part *part,
	const struct store_line_query *query, uint64_t gap_ns, struct store_batch *batch, size_t *from,
	size_t *to, struct error *error);

/* First row of such a batch at or after time_ns. */
size_t store_batch_row_at(const struct store_batch *batch, uint64_t time_ns);

/* The samples of all streams: 1; 0: this snapshot has no total. */
int store_rollup_total(struct store_reader *reader, struct store_rollup_part *part, struct error *error);

/* Reads every rollup and compares it with the records it sums. */
int store_rollup_check(struct store_reader *reader, struct error *error);

#endif
