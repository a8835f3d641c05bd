/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_columns.h - sums of one metric (context_sums.h) as columns: each context's sample times, or its
 * weights. Rollups hold thousands, and no caller needs both.
 */
#ifndef STORE_SUM_COLUMNS_H
#define STORE_SUM_COLUMNS_H

#include "store/chunk/context_sums.h"

/* All-zero is empty. */
struct store_sum_columns {
	struct store_sum_row line; /* for sample times: if not plain, nothing else is set */
	uint32_t metric;
	uint32_t count, capacity;
	uint32_t *contexts; /* each once; ascending if from a rollup */
	uint64_t *samples;
	uint64_t *times_ns, *weights; /* whichever was requested */
	bool failed;
};

/* Reads the sample times from a rollup's bytes; `failed` without memory. */
void store_sum_columns_get(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics);
/* Reads the weights, if the rollup has one metric: 1; 0: it has none or several, and nothing was read. */
bool store_sum_columns_get_weights(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics);
/* For chunk_sums.c, which reads other bytes. reserve() allocates for `count` contexts; false: `failed`. The
 * others read times, or weights, once the samples are there; false: cut short. */
bool store_sum_columns_reserve(struct store_sum_columns *works, uint64_t count);
bool store_sum_columns_get_times(struct store_sum_columns *works, uint32_t count, struct store_input *input);
bool store_sum_columns_take_weights(
	struct store_sum_columns *works, uint32_t count, struct store_input *input);
void store_sum_columns_fini(struct store_sum_columns *works);

#endif
