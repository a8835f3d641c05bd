/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_columns.h - sums of one metric (context_sums.h) by columns: what each context had of a line, or its
 * weights. Rollups bring thousands at a time, and nobody asks for both.
 */
#ifndef STORE_SUM_COLUMNS_H
#define STORE_SUM_COLUMNS_H

#include "store/chunk/context_sums.h"

/* All-zero is empty. */
struct store_sum_columns {
	struct store_sum_row line; /* asked for a line: if it is not plain there is nothing else */
	uint32_t metric;
	uint32_t count, capacity;
	uint32_t *contexts; /* each once; of a rollup ascending */
	uint64_t *samples;
	uint64_t *times_ns, *weights; /* what was asked for */
	bool failed;
};

/* Takes what is of the line out of the bytes of a rollup; `failed` when memory is out. */
void store_sum_columns_get(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics);
/* Takes its weights, where it has one metric: 1; 0: it has several, or none, and nothing was taken. */
bool store_sum_columns_get_weights(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics);
/* For who reads other bytes (chunk_sums.c): room for so many contexts, none yet, and no line; false:
 * `failed`. Their times, or weights, once their samples are there; false: they are cut short. */
bool store_sum_columns_reserve(struct store_sum_columns *works, uint64_t count);
bool store_sum_columns_get_times(struct store_sum_columns *works, uint32_t count, struct store_input *input);
bool store_sum_columns_take_weights(
	struct store_sum_columns *works, uint32_t count, struct store_input *input);
void store_sum_columns_fini(struct store_sum_columns *works);

#endif
