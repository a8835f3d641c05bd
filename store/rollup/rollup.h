/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup.h - weights of samples, or values, by context and metric, read from sums that were made while
 * recording: a window of a stream costs what its edges and its contexts cost, whatever its length. Answers
 * are those of a scan, to the last bit; a store without rollups (format 1.0, the end of a live run) is summed
 * from its chunks.
 */
#ifndef STORE_ROLLUP_H
#define STORE_ROLLUP_H

#include "store/chunk/sum_columns.h"
#include "store/read/reader.h"
#include "store/rollup/rollup_walk.h"

/* Some of the samples in a window: summed up, or as records where a metric's values are doubles (which do
 * not add up the same in every order) and at the window's edges. */
struct store_rollup_part {
	const struct store_sum_columns *works; /* of one metric; NULL: */
	const struct store_sum *sums;	       /* `count` of them; NULL: records */
	uint32_t count;
	const struct store_batch *batch; /* rows [from, to): amount, context, what */
	size_t from, to;
};

struct store_rollup;

/* Sums up a stream's samples or its values in [begin, end). One at a time for each reader. */
int store_rollup_open(struct store_rollup **rollup, struct store_reader *reader, uint32_t stream,
	enum store_track track, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* 1: *part is the next one, valid until the next call; 0: no more; negative: error. */
int store_rollup_next(struct store_rollup *rollup, struct store_rollup_part *part, struct error *error);
void store_rollup_close(struct store_rollup *rollup);

/* ---- lines ---- */

/* A stretch of samples in a window, from the first to the last. */
struct store_line_part {
	uint64_t first_ns, last_ns;
	bool is_whole; /* all of its samples lie in the window, and no others among them */
	bool is_alone; /* no others lie among them */
	struct store_rollup_walk_part at;
};

struct store_line_query {
	struct store_reader *reader;
	uint32_t stream;
	uint64_t begin_ns, end_ns; /* begin < end */
	unsigned shift_max;	   /* of rollups: none is larger than 2^shift_max ns */
	/* Would this line do? Rollups that do not are given as what lies below them. */
	bool (*wants)(void *own, const struct store_sum_row *line);
	void *own;
};

/* The parts that hold the samples of the window, by their first sample; the caller frees *parts, whatever is
 * returned. They last until the reader is renewed. From *clear_ns on to the window's begin no other chunk has
 * samples that is of a bucket which reaches into it. */
int store_line_parts(const struct store_line_query *query, struct store_line_part **parts, uint32_t *count,
	uint64_t *clear_ns, struct error *error);
/* A whole part's line and what each context had of it: 1, valid until the next call; 0: its samples are not
 * plain. */
int store_line_works(struct store_reader *reader, const struct store_line_part *part,
	const struct store_sum_columns **works, struct error *error);

/* The samples of a chunk's part in [begin, end) as rows [*from, *to) of `batch`, if they make the line from
 * one to the next: all own it, no two at one time, no two farther apart than `gap_ns`. 1; 0: they do not, or
 * there are none. */
int store_line_rows(struct store_reader *reader, const struct store_line_part *part,
	const struct store_line_query *query, uint64_t gap_ns, struct store_batch *batch, size_t *from,
	size_t *to, struct error *error);

/* The samples of all streams: 1; 0: there is no total of this snapshot. */
int store_rollup_total(struct store_reader *reader, struct store_rollup_part *part, struct error *error);

/* Reads every rollup and compares it with what it sums up. */
int store_rollup_check(struct store_reader *reader, struct error *error);

#endif
