/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - samples and weights by (context, metric): what a rollup holds. A list that grows, with an index
 * where entries are added up, and its bytes.
 *
 *   sums  | metrics | metrics x | id | entries | unit | contexts | samples | weights | |
 *   contexts  context - previous one - 1, ascending       bodies of up to 256 (codec.h)
 *   samples   as they are                                 "
 *   weights   zigzag(weight - samples * unit)             "
 */
#ifndef STORE_SUMS_H
#define STORE_SUMS_H

#include "store/bytes.h"

/* Sums are modulo 2^64, so their order does not matter. */
struct store_sum {
	uint64_t samples, weight;
	uint32_t context, metric;
};

/* All-zero is empty. After `failed` (memory is out) every add does nothing. */
struct store_sums {
	struct store_sum *entries;
	uint32_t count, capacity;
	uint32_t *slots; /* of add(): place + 1 */
	size_t slot_count;
	bool failed;
};

void store_sums_fini(struct store_sums *sums);
void store_sums_clear(struct store_sums *sums);
/* Puts an entry behind the others. */
void store_sums_push(struct store_sums *sums, const struct store_sum *sum);
/* Adds to the entry of its context and metric. Not to be mixed with push between two clears. */
void store_sums_add(struct store_sums *sums, const struct store_sum *sum);

/* Sorts by metric and context, appends the bytes. */
void store_sums_put(struct store_sums *sums, struct store_bytes *out);
/* Pushes what the bytes hold; input->bad when they are no sums, or name a context or metric that is not
 * below the limits. */
void store_sums_get(struct store_sums *sums, struct store_input *input, uint32_t contexts, uint32_t metrics);

/* A weight per sample that most entries have: what makes residuals small. */
uint64_t store_sums_unit(const struct store_sum *entries, uint32_t count);
void store_sums_put_array(struct store_bytes *out, const uint64_t *values, uint32_t count);
bool store_sums_get_array(struct store_input *input, uint64_t *values, uint32_t count);

#endif
