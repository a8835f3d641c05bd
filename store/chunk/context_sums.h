/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_sums.h - samples and weights by (context, metric), the content of a rollup: a list that grows, an
 * index for adding, and the encoded bytes.
 *
 * If the samples are plain (one metric, all own the timeline, no two at one time), sums also hold sample
 * times: each context has the time from its samples to the ones that follow, from the first sample to the
 * last. Whether the timeline shows exactly that depends on the rest of the stream (spans, the limit of an
 * extent); readers check it.
 *
 *   sums  | 0 | or | 1 | first_ns | last - first | longest gap | last context |
 *         | metrics | metrics x | id | entries | contexts | samples | unit, weights | unit, times | |
 *   contexts  context - previous - 1, ascending           bodies of up to 256 (codec.h)
 *   samples   as they are                                 "
 *   weights   zigzag(weight - samples * unit)             "
 *   times     zigzag(time - samples * unit)               ", only if the samples are plain
 */
#ifndef STORE_CONTEXT_SUMS_H
#define STORE_CONTEXT_SUMS_H

#include "store/base/bytes.h"
#include "store/base/hash_index.h"

/* Sums are modulo 2^64, so the order of adding does not matter. */
struct store_sum {
	uint64_t samples, weight;
	uint64_t time_ns; /* between the first and the last sample */
	uint32_t context, metric;
};

struct store_sum_row {
	uint64_t first_ns, last_ns; /* of samples */
	uint64_t gap_ns;	    /* the longest between two */
	uint32_t last_context;
	bool is_plain; /* false: the fields above are unset, and entries have no times */
};

enum store_context_sums_column {
	STORE_CONTEXT_SUMS_CONTEXT,
	STORE_CONTEXT_SUMS_SAMPLES,
	STORE_CONTEXT_SUMS_WEIGHT,
	STORE_CONTEXT_SUMS_TIME
};

/* All-zero is empty. After `failed` (no memory) every add does nothing. */
struct store_context_sums {
	struct store_sum *entries;
	uint32_t count, capacity;
	struct hash_index index; /* of add() */
	struct store_sum_row line;
	bool failed;
};

void store_context_sums_fini(struct store_context_sums *sums);
void store_context_sums_clear(struct store_context_sums *sums);
/* Appends an entry. */
void store_context_sums_push(struct store_context_sums *sums, const struct store_sum *sum);
/* Appends `count` uninitialized entries; NULL: no memory (and `failed`). */
struct store_sum *store_context_sums_extend(struct store_context_sums *sums, uint32_t count);
/* Adds to the entry of its context and metric. Do not mix with push between two clears. */
void store_context_sums_add(struct store_context_sums *sums, const struct store_sum *sum);
/* Allocates for `count` entries at once, not step by step. */
void store_context_sums_expect(struct store_context_sums *sums, uint32_t count);

/* Sorts by metric and context; no add() may follow. */
void store_context_sums_order(struct store_context_sums *sums);
/* Sorts them and appends the bytes. */
void store_context_sums_put(struct store_context_sums *sums, struct store_bytes *out);
/* Pushes the decoded entries; input->bad when the bytes are damaged or name a context or metric not below
 * the limits. `wanted`: STORE_CONTEXT_SUMS_WEIGHT and STORE_CONTEXT_SUMS_TIME; unwanted fields are 0. */
void store_context_sums_get(struct store_context_sums *sums, struct store_input *input, uint32_t contexts,
	uint32_t metrics, unsigned wanted);

/* The most common weight or time per sample: it makes residuals small. */
uint64_t store_context_sums_unit(
	const struct store_sum *entries, uint32_t count, enum store_context_sums_column column);
/* Adds all entries of `next`, and extends the sample times if `next` follows. */
void store_context_sums_join(struct store_context_sums *sums, const struct store_context_sums *next);
/* Reads only the first part of the bytes. */
void store_sum_row_get(struct store_sum_row *line, struct store_input *input, uint32_t contexts);
void store_context_sums_put_array(struct store_bytes *out, const uint64_t *values, uint32_t count);
bool store_context_sums_get_array(struct store_input *input, uint64_t *values, uint32_t count);
/* Skips a column of `count` weights or times. */
bool store_context_sums_skip(struct store_input *input, uint32_t count);

#endif
