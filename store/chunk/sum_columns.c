/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_columns.c - sample times or weights, column by column.
 */
#include "store/chunk/sum_columns.h"

#include <stdlib.h>

#include "store/base/codec.h"

void store_sum_columns_fini(struct store_sum_columns *works)
{
	free(works->contexts);
	free(works->samples);
	free(works->times_ns);
	free(works->weights);
	*works = (struct store_sum_columns){0};
}

/* In whole blocks: the next part may be a little longer. */
bool store_sum_columns_reserve(struct store_sum_columns *works, uint64_t count)
{
	uint64_t wanted = (count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS * STORE_BLOCK_RECORDS;

	works->count = 0;
	works->failed = false;
	if (wanted <= works->capacity)
		return true;
	store_sum_columns_fini(works);
	works->contexts = wanted < UINT32_MAX ? malloc(wanted * sizeof *works->contexts) : NULL;
	works->samples = works->contexts ? malloc(wanted * sizeof *works->samples) : NULL;
	works->times_ns = works->samples ? malloc(wanted * sizeof *works->times_ns) : NULL;
	works->weights = works->times_ns ? malloc(wanted * sizeof *works->weights) : NULL;
	works->failed = !works->weights;
	works->capacity = works->failed ? 0 : (uint32_t)wanted;
	return !works->failed;
}

/* Counts and steps are 32 bits: `next` cannot wrap. */
static bool get_contexts(
	struct store_sum_columns *works, uint32_t count, struct store_input *input, uint32_t limit)
{
	uint64_t values[STORE_BLOCK_RECORDS], next = 0, all = 0;

	for (uint32_t at = 0; at < count && all <= UINT32_MAX; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;
		uint32_t *to = works->contexts + at;

		if (!store_codec_get(input, values, left))
			return false;
		for (uint32_t i = 0; i < left; i++) {
			all |= values[i];
			next += values[i] + 1;
			to[i] = (uint32_t)(next - 1);
		}
	}
	return all <= UINT32_MAX && next <= limit;
}

/* Times or weights: so much for each sample, and what each context is off that. */
static bool get_amounts(uint64_t *amounts, const uint64_t *samples, uint32_t count, struct store_input *input)
{
	uint64_t unit = store_input_varint(input);

	if (input->bad || !store_context_sums_get_array(input, amounts, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		amounts[i] = samples[i] * unit + store_unzigzag(amounts[i]);
	return true;
}

bool store_sum_columns_get_times(struct store_sum_columns *works, uint32_t count, struct store_input *input)
{
	return get_amounts(works->times_ns, works->samples, count, input);
}

bool store_sum_columns_take_weights(
	struct store_sum_columns *works, uint32_t count, struct store_input *input)
{
	return get_amounts(works->weights, works->samples, count, input);
}

/* Up to the first column; false: there is nothing to be had, or `bad`, or `failed`. */
static bool get_head(struct store_sum_columns *works, struct store_input *input, uint32_t contexts,
	uint32_t metrics, uint32_t *count)
{
	const struct store_sum_row line = works->line;
	uint64_t metric = store_input_varint(input), entries = store_input_varint(input);

	input->bad |= metric >= metrics || entries > contexts;
	if (input->bad || !store_sum_columns_reserve(works, entries))
		return false;
	works->line = line; /* widening has cleared it */
	works->metric = (uint32_t)metric;
	*count = (uint32_t)entries;
	return true;
}

/* The columns, but for the one that is not wanted. */
static bool get_columns(struct store_sum_columns *works, uint32_t count, struct store_input *input,
	uint32_t contexts, enum store_context_sums_column wanted)
{
	if (!get_contexts(works, count, input, contexts) ||
		!store_context_sums_get_array(input, works->samples, count))
		return false;
	if (wanted == STORE_CONTEXT_SUMS_TIME)
		return store_context_sums_skip(input, count) &&
		       store_sum_columns_get_times(works, count, input);
	return store_sum_columns_take_weights(works, count, input) &&
	       (!works->line.is_plain || store_context_sums_skip(input, count));
}

static void get(struct store_sum_columns *works, struct store_input *input, uint32_t contexts,
	uint32_t metrics, enum store_context_sums_column wanted)
{
	uint32_t count;

	if (!get_head(works, input, contexts, metrics, &count))
		return;
	input->bad |= !get_columns(works, count, input, contexts, wanted) || input->at != input->end;
	works->count = input->bad ? 0 : count;
}

void store_sum_columns_get(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics)
{
	works->count = 0;
	works->failed = false;
	store_sum_row_get(&works->line, input, contexts);
	if (!works->line.is_plain)
		return;
	/* A line is of one metric. */
	input->bad |= store_input_varint(input) != 1;
	get(works, input, contexts, metrics, STORE_CONTEXT_SUMS_TIME);
}

bool store_sum_columns_get_weights(
	struct store_sum_columns *works, struct store_input *input, uint32_t contexts, uint32_t metrics)
{
	const struct store_input begin = *input;

	works->count = 0;
	works->failed = false;
	store_sum_row_get(&works->line, input, contexts);
	if (store_input_varint(input) != 1 && !input->bad) {
		*input = begin;
		return false;
	}
	get(works, input, contexts, metrics, STORE_CONTEXT_SUMS_WEIGHT);
	return true;
}
