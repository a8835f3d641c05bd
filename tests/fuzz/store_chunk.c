/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_chunk.c - libFuzzer: a chunk is whatever bytes somebody put there. The checksum is made to fit,
 * or nothing behind it would ever be reached.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "store/chunk/chunk.h"
#include "store/chunk/context_sums.h"
#include "store/chunk/sum_columns.h"
#include "store/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_contexts(const struct store_batch *batch, const struct store_chunk *chunk)
{
	for (size_t i = 0; batch->context && i < batch->count; i++)
		if (batch->context[i] >= chunk->contexts)
			abort();
}

/* The line alone is what it is among all sums. */
static void check_works(
	const struct store_chunk *chunk, struct store_batch *batch, const struct store_context_sums *sums)
{
	static struct store_sum_columns works;
	const int rc = store_chunk_works(chunk, batch, &works, NULL);

	for (uint32_t i = 0; rc == 1 && i < works.count; i++)
		if (works.contexts[i] >= chunk->contexts)
			abort();
	if (!sums || !sums->line.is_plain)
		return;
	if (rc != 1 || works.count != sums->count || works.line.last_context != sums->line.last_context)
		abort();
	for (uint32_t i = 0; i < works.count; i++)
		if (works.contexts[i] != sums->entries[i].context ||
			works.samples[i] != sums->entries[i].samples ||
			works.times_ns[i] != sums->entries[i].time_ns)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store_batch batch;
	static struct store_context_sums sums;
	struct store_chunk chunk;
	uint64_t checksum;
	uint8_t *copy;

	if (size < sizeof(struct store_chunk_header) + 1)
		return 0;
	copy = malloc(--size);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size);
	checksum = store_hash64(copy + sizeof checksum, size - sizeof checksum, 0);
	memcpy(copy, &checksum, sizeof checksum);
	if (store_chunk_peek(&chunk, (struct store_slice){copy, size})) {
		chunk.contexts = 1000;
		chunk.texts = 1000;
		if (store_chunk_decode(&chunk, data[0] & STORE_ALL, &batch, NULL) == 0)
			check_contexts(&batch, &chunk);
		if (store_chunk_decode_begin(&chunk, data[0] & STORE_ALL, &batch, NULL) == 0)
			while (store_chunk_decode_next(&batch, NULL) == 1)
				check_contexts(&batch, &chunk);
		store_context_sums_clear(&sums);
		if (store_chunk_sums(&chunk, &batch, &sums, NULL) == 1) {
			for (uint32_t i = 0; i < sums.count; i++)
				if (sums.entries[i].context >= chunk.contexts)
					abort();
			check_works(&chunk, &batch, &sums);
		} else {
			check_works(&chunk, &batch, NULL);
		}
	}
	free(copy);
	return 0;
}
