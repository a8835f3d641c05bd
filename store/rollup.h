/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup.h - weights of samples by context and metric, read from sums that were made while recording:
 * a window of a stream costs what its edges and its contexts cost, whatever its length. Answers are those of
 * a scan, to the last bit; a store without rollups (format 1.0, the end of a live run) is summed from its
 * chunks.
 */
#ifndef STORE_ROLLUP_H
#define STORE_ROLLUP_H

#include "store/reader.h"
#include "store/sums.h"

/* Some of the samples in a window: summed up, or as records where a metric's values are doubles (which do
 * not add up the same in every order) and at the window's edges. */
struct store_rollup_part {
	const struct store_sum *sums; /* `count` of them; NULL: records */
	uint32_t count;
	const struct store_batch *batch; /* rows [from, to): amount, context, what */
	size_t from, to;
};

struct store_rollup;

/* Sums up the samples of a stream in [begin, end). One at a time for each reader. */
int store_rollup_open(struct store_rollup **rollup, struct store_reader *reader, uint32_t stream,
	uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* 1: *part is the next one, valid until the next call; 0: no more; negative: error. */
int store_rollup_next(struct store_rollup *rollup, struct store_rollup_part *part, struct error *error);
void store_rollup_close(struct store_rollup *rollup);

/* The samples of all streams: 1; 0: there is no total of this snapshot. */
int store_rollup_total(struct store_reader *reader, struct store_rollup_part *part, struct error *error);

/* Reads every rollup and compares it with what it sums up. */
int store_rollup_check(struct store_reader *reader, struct error *error);

#endif
