/* SPDX-License-Identifier: Apache-2.0 */
/*
 * works.c - a line's work, column by column.
 */
#include "store/works.h"

#include <stdlib.h>

#include "store/codec.h"

void store_works_fini(struct store_works *works)
{
	free(works->contexts);
	free(works->samples);
	free(works->times_ns);
	*works = (struct store_works){0};
}

/* In whole blocks: the next part may be a little longer. */
bool store_works_reserve(struct store_works *works, uint64_t count)
{
	uint64_t wanted = (count + STORE_BLOCK_RECORDS - 1) / STORE_BLOCK_RECORDS * STORE_BLOCK_RECORDS;

	works->count = 0;
	works->failed = false;
	if (wanted <= works->capacity)
		return true;
	store_works_fini(works);
	works->contexts = wanted < UINT32_MAX ? malloc(wanted * sizeof *works->contexts) : NULL;
	works->samples = works->contexts ? malloc(wanted * sizeof *works->samples) : NULL;
	works->times_ns = works->samples ? malloc(wanted * sizeof *works->times_ns) : NULL;
	works->failed = !works->times_ns;
	works->capacity = works->failed ? 0 : (uint32_t)wanted;
	return !works->failed;
}

/* Counts and steps are 32 bits: `next` cannot wrap. */
static bool get_contexts(struct store_works *works, uint32_t count, struct store_input *input, uint32_t limit)
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

bool store_works_get_times(struct store_works *works, uint32_t count, struct store_input *input)
{
	uint64_t unit = store_input_varint(input);

	if (input->bad || !store_sums_get_array(input, works->times_ns, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		works->times_ns[i] = works->samples[i] * unit + store_unzigzag(works->times_ns[i]);
	return true;
}

void store_works_get(
	struct store_works *works, struct store_input *input, uint32_t contexts, uint32_t metrics)
{
	struct store_line line;
	uint64_t groups, metric, count;

	works->count = 0;
	works->failed = false;
	store_line_get(&line, input, contexts);
	works->line = line;
	if (!line.is_plain)
		return;
	groups = store_input_varint(input);
	metric = store_input_varint(input);
	count = store_input_varint(input);
	input->bad |= groups != 1 || metric >= metrics || count > contexts;
	if (input->bad || !store_works_reserve(works, count))
		return;
	works->line = line; /* widening has cleared it */
	if (!get_contexts(works, (uint32_t)count, input, contexts) ||
		!store_sums_get_array(input, works->samples, (uint32_t)count) ||
		!store_sums_skip(input, (uint32_t)count) ||
		!store_works_get_times(works, (uint32_t)count, input) || input->at != input->end)
		input->bad = true;
	works->count = input->bad ? 0 : (uint32_t)count;
}
