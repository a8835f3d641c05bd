/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_sums.c - the sums of a samples chunk: weights by context and metric, and its line, without its
 * records.
 */
#include "store/chunk_job.h"
#include "store/sums.h"

static uint32_t sum_contexts(const struct store_chunk_job *job)
{
	return job->header.dictionary ? job->header.dictionary : 1;
}

static uint32_t sum_context(const struct store_chunk_job *job, uint32_t i)
{
	return job->header.dictionary ? job->dictionary[i] : (uint32_t)job->constants[CHUNK_CONTEXT];
}

/* One column of the last entries, which stand in the order of the dictionary. */
static bool get_sum_column(struct store_chunk_job *job, struct store_input *input, struct store_sum *sums,
	enum store_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = 0;

	if (column != STORE_SUMS_SAMPLES)
		unit = store_input_varint(input);
	for (uint32_t at = 0; at < sum_contexts(job); at += STORE_BLOCK_RECORDS) {
		uint32_t left = sum_contexts(job) - at;

		left = left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS;
		if (!store_codec_get(input, values, left))
			return store_chunk_damaged(job, "sums that are cut short");
		for (uint32_t i = 0; i < left; i++) {
			struct store_sum *sum = &sums[at + i];
			uint64_t value = sum->samples * unit + store_unzigzag(values[i]);

			if (column == STORE_SUMS_SAMPLES)
				sum->samples = values[i];
			else
				*(column == STORE_SUMS_TIME ? &sum->time_ns : &sum->weight) = value;
		}
	}
	return true;
}

static bool get_metric_sums(struct store_chunk_job *job, struct store_input *input, struct store_sums *sums)
{
	uint32_t from = sums->count;
	uint64_t metric = store_input_varint(input);
	struct store_sum *added;

	if (metric > UINT32_MAX || (job->chunk->metrics && metric >= job->chunk->metrics))
		return store_chunk_damaged(job, "sums of no metric");
	added = store_sums_extend(sums, sum_contexts(job));
	if (!added)
		return false;
	for (uint32_t i = 0; i < sum_contexts(job); i++)
		added[i] = (struct store_sum){.context = sum_context(job, i), .metric = (uint32_t)metric};
	return get_sum_column(job, input, sums->entries + from, STORE_SUMS_SAMPLES) &&
	       get_sum_column(job, input, sums->entries + from, STORE_SUMS_WEIGHT);
}

static bool get_line(struct store_chunk_job *job, struct store_input *input, struct store_sums *sums)
{
	struct store_line *line = &sums->line;

	*line = (struct store_line){.first_ns = job->header.first_ns,
		.last_ns = job->header.last_ns,
		.gap_ns = store_input_varint(input)};
	if (!line->gap_ns || input->bad)
		return !input->bad || store_chunk_damaged(job, "sums that are cut short");
	line->last_context = store_input_u32(input);
	line->is_plain = true;
	if (sums->count != sum_contexts(job) ||
		(job->chunk->contexts && line->last_context >= job->chunk->contexts))
		return store_chunk_damaged(job, "a line of no context");
	return get_sum_column(job, input, sums->entries, STORE_SUMS_TIME);
}

/* With several metrics not every context has samples of each. */
static void drop_empty(struct store_sums *sums)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sums->count; i++)
		if (sums->entries[i].samples)
			sums->entries[kept++] = sums->entries[i];
	sums->count = kept;
}

static bool get_sums(
	struct store_chunk_job *job, struct store_input *input, struct store_sums *sums, struct error *error)
{
	uint64_t metrics;

	if (!job->header.dictionary &&
		(job->constants[CHUNK_CONTEXT] > UINT32_MAX ||
			(job->chunk->contexts && job->constants[CHUNK_CONTEXT] >= job->chunk->contexts)))
		return store_chunk_damaged(job, "a context that does not exist");
	metrics = store_input_varint(input);
	if (input->bad || metrics > CHUNK_SUMS_METRICS)
		return store_chunk_damaged(job, "sums of too many metrics");
	for (uint64_t i = 0; i < metrics; i++)
		if (!get_metric_sums(job, input, sums)) {
			if (sums->failed)
				error_memory(error);
			return false;
		}
	if (!get_line(job, input, sums))
		return false;
	drop_empty(sums);
	return true;
}

int store_chunk_sums(const struct store_chunk *chunk, struct store_batch *scratch, struct store_sums *sums,
	struct error *error)
{
	struct store_chunk_job job = {.chunk = chunk, .batch = scratch};
	struct store_input input;

	if (!store_chunk_job_begin(&job, 0, &input, error))
		return store_chunk_job_failed(&job, error);
	if (!(job.header.constant >> CHUNK_SUMS & 1) ||
		(!job.header.dictionary && !store_chunk_is_constant(&job, CHUNK_CONTEXT)))
		return 0;
	if (!get_sums(&job, &input, sums, error))
		return store_chunk_job_failed(&job, error);
	return store_chunk_job_is_lost(&job) ? store_pages_lost(chunk->pages, error) : 1;
}
