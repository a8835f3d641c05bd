/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_sums.h - samples and weights by (context, metric): what a rollup holds. A list that grows, with an
 * index where entries are added up, and its bytes.
 *
 * Where the samples are plain (all of one metric, all own their stretch of the line, no two at one time)
 * sums hold the line, too: from the first sample to the last one, each context has the time from its
 * samples to the ones behind them. Whether that is the line to be shown depends on the rest of the
 * stream (spans, the limit of an extent), which readers know.
 *
 *   sums  | 0 | or | 1 | first_ns | last - first | longest gap | last context |
 *         | metrics | metrics x | id | entries | contexts | samples | unit, weights | unit, times | |
 *   contexts  context - previous one - 1, ascending       bodies of up to 256 (codec.h)
 *   samples   as they are                                 "
 *   weights   zigzag(weight - samples * unit)             "
 *   times     zigzag(time - samples * unit)               ", where the samples are plain
 */
#ifndef STORE_CONTEXT_SUMS_H
#define STORE_CONTEXT_SUMS_H

#include "store/base/bytes.h"
#include "store/base/hash_index.h"

/* Sums are modulo 2^64, so their order does not matter. */
struct store_sum {
	uint64_t samples, weight;
	uint64_t time_ns; /* between the first and the last sample */
	uint32_t context, metric;
};

struct store_sum_row {
	uint64_t first_ns, last_ns; /* of samples */
	uint64_t gap_ns;	    /* the longest between two */
	uint32_t last_context;
	bool is_plain; /* else there is nothing here and no time in the sums */
};

enum store_context_sums_column {
	STORE_CONTEXT_SUMS_CONTEXT,
	STORE_CONTEXT_SUMS_SAMPLES,
	STORE_CONTEXT_SUMS_WEIGHT,
	STORE_CONTEXT_SUMS_TIME
};

/* All-zero is empty. After `failed` (memory is out) every add does nothing. */
struct store_context_sums {
	struct store_sum *entries;
	uint32_t count, capacity;
	struct hash_index index; /* of add() */
	struct store_sum_row line;
	bool failed;
};

void store_context_sums_fini(struct store_context_sums *sums);
void store_context_sums_clear(struct store_context_sums *sums);
/* Puts an entry behind the others. */
void store_context_sums_push(struct store_context_sums *sums, const struct store_sum *sum);
/* Room for so many more behind the others, their bytes not set; NULL: memory is out (and `failed`). */
struct store_sum *store_context_sums_extend(struct store_context_sums *sums, uint32_t count);
/* Adds to the entry of its context and metric. Not to be mixed with push between two clears. */
void store_context_sums_add(struct store_context_sums *sums, const struct store_sum *sum);
/* There will be so many entries: what they need is made at once, not step by step. */
void store_context_sums_expect(struct store_context_sums *sums, uint32_t count);

/* Sorts by metric and context; add() is lost from then on. */
void store_context_sums_order(struct store_context_sums *sums);
/* Sorts them, appends the bytes. */
void store_context_sums_put(struct store_context_sums *sums, struct store_bytes *out);
/* Pushes what the bytes hold; input->bad when they are no sums, or name a context or metric that is not
 * below the limits. `wanted`: bits of STORE_CONTEXT_SUMS_WEIGHT and STORE_CONTEXT_SUMS_TIME, what is not
 * wanted is 0. */
void store_context_sums_get(struct store_context_sums *sums, struct store_input *input, uint32_t contexts,
	uint32_t metrics, unsigned wanted);

/* A weight or time per sample that most entries have: what makes residuals small. */
uint64_t store_context_sums_unit(
	const struct store_sum *entries, uint32_t count, enum store_context_sums_column column);
/* Adds all of `next`, which lengthens the line if it lies behind. */
void store_context_sums_join(struct store_context_sums *sums, const struct store_context_sums *next);
/* The first part of the bytes alone. */
void store_sum_row_get(struct store_sum_row *line, struct store_input *input, uint32_t contexts);
void store_context_sums_put_array(struct store_bytes *out, const uint64_t *values, uint32_t count);
bool store_context_sums_get_array(struct store_input *input, uint64_t *values, uint32_t count);
/* Passes over a column of so many weights or times. */
bool store_context_sums_skip(struct store_input *input, uint32_t count);

#endif
