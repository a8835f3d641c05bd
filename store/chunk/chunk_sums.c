/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_sums.c - the sums of a chunk of samples or values: weights by context and metric, and sample times;
 * as stored, or computed from its records.
 */
#include "store/chunk/chunk_decode_internal.h"
#include "store/chunk/context_sums.h"
#include "store/chunk/sum_columns.h"

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
	enum store_context_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = 0;

	if (column != STORE_CONTEXT_SUMS_SAMPLES)
		unit = store_input_varint(input);
	for (uint32_t at = 0; at < sum_contexts(job); at += STORE_BLOCK_RECORDS) {
		uint32_t left = sum_contexts(job) - at;

		left = left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS;
		if (!store_codec_get(input, values, left))
			return store_chunk_damaged(job, "sums that are cut short");
		for (uint32_t i = 0; i < left; i++) {
			struct store_sum *sum = &sums[at + i];
			uint64_t value = sum->samples * unit + store_unzigzag(values[i]);

			if (column == STORE_CONTEXT_SUMS_SAMPLES)
				sum->samples = values[i];
			else
				*(column == STORE_CONTEXT_SUMS_TIME ? &sum->time_ns : &sum->weight) = value;
		}
	}
	return true;
}

static bool get_metric_sums(
	struct store_chunk_job *job, struct store_input *input, struct store_context_sums *sums)
{
	uint32_t from = sums->count;
	uint64_t metric = store_input_varint(input);
	struct store_sum *added;

	if (metric > UINT32_MAX || (job->chunk->metrics && metric >= job->chunk->metrics))
		return store_chunk_damaged(job, "sums of no metric");
	added = store_context_sums_extend(sums, sum_contexts(job));
	if (!added)
		return false;
	for (uint32_t i = 0; i < sum_contexts(job); i++)
		added[i] = (struct store_sum){.context = sum_context(job, i), .metric = (uint32_t)metric};
	return get_sum_column(job, input, sums->entries + from, STORE_CONTEXT_SUMS_SAMPLES) &&
	       get_sum_column(job, input, sums->entries + from, STORE_CONTEXT_SUMS_WEIGHT);
}

static bool get_line(struct store_chunk_job *job, struct store_input *input, struct store_context_sums *sums)
{
	struct store_sum_row *line = &sums->line;

	*line = (struct store_sum_row){.first_ns = job->header.first_ns,
		.last_ns = job->header.last_ns,
		.gap_ns = store_input_varint(input)};
	if (!line->gap_ns || input->bad)
		return !input->bad || store_chunk_damaged(job, "sums that are cut short");
	line->last_context = store_input_u32(input);
	line->is_plain = true;
	if (sums->count != sum_contexts(job) ||
		(job->chunk->contexts && line->last_context >= job->chunk->contexts))
		return store_chunk_damaged(job, "a line of no context");
	return get_sum_column(job, input, sums->entries, STORE_CONTEXT_SUMS_TIME);
}

/* With several metrics not every context has samples of each. */
static void drop_empty(struct store_context_sums *sums)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sums->count; i++)
		if (sums->entries[i].samples)
			sums->entries[kept++] = sums->entries[i];
	sums->count = kept;
}

/* The one of all, where there is no dictionary. */
static bool is_context_sound(const struct store_chunk_job *job)
{
	return job->header.dictionary ||
	       (job->constants[CHUNK_CONTEXT] <= UINT32_MAX &&
		       (!job->chunk->contexts || job->constants[CHUNK_CONTEXT] < job->chunk->contexts));
}

static bool get_sums(struct store_chunk_job *job, struct store_input *input, struct store_context_sums *sums,
	struct error *error)
{
	uint64_t metrics;

	if (!is_context_sound(job))
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

static bool has_sums(const struct store_chunk_job *job)
{
	return job->header.constant >> CHUNK_SUMS & 1 &&
	       (job->header.dictionary || store_chunk_is_constant(job, CHUNK_CONTEXT));
}

int store_chunk_sums(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_context_sums *sums, struct error *error)
{
	struct store_chunk_job job = {.chunk = chunk, .batch = scratch};
	struct store_input input;

	if (!store_chunk_job_begin(&job, 0, &input, error))
		return store_chunk_job_failed(&job, error);
	if (!has_sums(&job))
		return 0;
	if (!get_sums(&job, &input, sums, error))
		return store_chunk_job_failed(&job, error);
	return store_chunk_job_is_lost(&job) ? store_pages_lost(chunk->pages, error) : 1;
}

/* ---- only sample times, or the weights of one metric ---- */

/* Only damaged or forged bytes have any. */
static uint32_t drop_idle(struct store_sum_columns *works, uint32_t count)
{
	uint32_t kept = 0;
	bool has_idle = false;

	for (uint32_t i = 0; i < count; i++)
		has_idle |= !works->samples[i];
	if (!has_idle)
		return count;
	for (uint32_t i = 0; i < count; i++) {
		works->contexts[kept] = works->contexts[i];
		works->samples[kept] = works->samples[i];
		works->times_ns[kept] = works->times_ns[i];
		works->weights[kept] = works->weights[i];
		kept += works->samples[i] != 0;
	}
	return kept;
}

/* The columns are there: whose they are. */
static void name_contexts(struct store_chunk_job *job, struct store_sum_columns *works)
{
	if (job->header.dictionary)
		memcpy(works->contexts, job->dictionary, job->header.dictionary * sizeof *job->dictionary);
	else
		works->contexts[0] = (uint32_t)job->constants[CHUNK_CONTEXT];
	works->count = drop_idle(works, sum_contexts(job));
}

static bool get_works_line(
	struct store_chunk_job *job, struct store_input *input, struct store_sum_columns *works)
{
	struct store_sum_row line = {.first_ns = job->header.first_ns,
		.last_ns = job->header.last_ns,
		.gap_ns = store_input_varint(input),
		.is_plain = true};

	if (!line.gap_ns || input->bad)
		return !input->bad || store_chunk_damaged(job, "sums that are cut short");
	line.last_context = store_input_u32(input);
	if (job->chunk->contexts && line.last_context >= job->chunk->contexts)
		return store_chunk_damaged(job, "a line of no context");
	if (!store_sum_columns_get_times(works, sum_contexts(job), input))
		return store_chunk_damaged(job, "sums that are cut short");
	name_contexts(job, works);
	works->line = line;
	return true;
}

static bool get_works_weights(
	struct store_chunk_job *job, struct store_input *input, struct store_sum_columns *works)
{
	if (!store_sum_columns_take_weights(works, sum_contexts(job), input))
		return store_chunk_damaged(job, "sums that are cut short");
	name_contexts(job, works);
	return true;
}

/* Up to the samples: 1; 0: there are sums of several metrics, or of none; -1: damage, or no memory. */
static int begin_works(
	struct store_chunk_job *job, struct store_input *input, struct store_sum_columns *works)
{
	const uint32_t count = sum_contexts(job);
	uint64_t metrics, metric;
	bool is_good;

	if (!is_context_sound(job)) {
		store_chunk_damaged(job, "a context that does not exist");
		return -1;
	}
	if (!store_sum_columns_reserve(works, count))
		return -1;
	works->line = (struct store_sum_row){0};
	metrics = store_input_varint(input);
	is_good = !input->bad && metrics <= CHUNK_SUMS_METRICS;
	if (!is_good)
		store_chunk_damaged(job, "sums of too many metrics");
	if (!is_good || metrics != 1)
		return is_good ? 0 : -1;
	metric = store_input_varint(input);
	is_good = metric <= UINT32_MAX && (!job->chunk->metrics || metric < job->chunk->metrics);
	if (!is_good)
		store_chunk_damaged(job, "sums of no metric");
	else if (!store_context_sums_get_array(input, works->samples, count))
		is_good = store_chunk_damaged(job, "sums that are cut short");
	works->metric = (uint32_t)metric;
	return is_good ? 1 : -1;
}

/* A line is of one metric. */
static bool get_works(struct store_chunk_job *job, struct store_input *input, struct store_sum_columns *works,
	enum store_context_sums_column wanted)
{
	int rc = begin_works(job, input, works);

	if (rc <= 0)
		return rc == 0;
	if (wanted == STORE_CONTEXT_SUMS_WEIGHT)
		return get_works_weights(job, input, works);
	if (!store_context_sums_skip(input, sum_contexts(job)))
		return store_chunk_damaged(job, "sums that are cut short");
	return get_works_line(job, input, works);
}

static int works_of(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_sum_columns *works, enum store_context_sums_column wanted, struct error *error)
{
	struct store_chunk_job job = {.chunk = chunk, .batch = scratch};
	struct store_input input;

	works->count = 0;
	if (!store_chunk_job_begin(&job, 0, &input, error))
		return store_chunk_job_failed(&job, error);
	if (!has_sums(&job))
		return 0;
	if (!get_works(&job, &input, works, wanted)) {
		if (works->failed)
			error_memory(error);
		return store_chunk_job_failed(&job, error);
	}
	return store_chunk_job_is_lost(&job) ? store_pages_lost(chunk->pages, error) : 1;
}

int store_chunk_works(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_sum_columns *works, struct error *error)
{
	int rc = works_of(chunk, scratch, works, STORE_CONTEXT_SUMS_TIME, error);

	return rc == 1 ? works->line.is_plain : rc;
}

int store_chunk_weights(const struct store_chunk *chunk, struct store_batch *scratch,
	struct store_sum_columns *works, struct error *error)
{
	int rc = works_of(chunk, scratch, works, STORE_CONTEXT_SUMS_WEIGHT, error);

	return rc == 1 ? works->count > 0 : rc;
}

/* ---- from the records ---- */

/* The rows' line, where they are plain. */
static void find_line(struct store_context_sums *to, const struct store_batch *batch)
{
	struct store_sum_row line = {.first_ns = batch->begin_ns[0], .is_plain = batch->count > 1};

	for (size_t i = 0; i < batch->count && line.is_plain; i++) {
		uint64_t gap_ns = i ? batch->begin_ns[i] - batch->begin_ns[i - 1] : 1;

		line.is_plain = batch->flags[i] == batch->flags[0] && batch->what[i] == batch->what[0] &&
				batch->flags[i] & STORE_RECORD_EXTENT && gap_ns;
		line.gap_ns = i && gap_ns > line.gap_ns ? gap_ns : line.gap_ns;
		line.last_ns = batch->begin_ns[i];
		line.last_context = batch->context[i];
	}
	for (size_t i = 1; i < batch->count && line.is_plain; i++)
		store_context_sums_add(to, &(struct store_sum){.context = batch->context[i - 1],
						   .metric = batch->what[i - 1],
						   .time_ns = batch->begin_ns[i] - batch->begin_ns[i - 1]});
	to->line = line.is_plain ? line : (struct store_sum_row){0};
}

int store_chunk_sum_rows(const struct store_chunk *chunk, struct store_batch *batch,
	struct store_context_sums *sums, struct error *error)
{
	int rc = store_chunk_decode(
		chunk, STORE_BEGIN | STORE_AMOUNT | STORE_CONTEXT | STORE_WHAT | STORE_FLAGS, batch, error);

	for (size_t i = 0; i < batch->count; i++)
		store_context_sums_add(sums, &(struct store_sum){.samples = 1,
						     .weight = batch->amount[i],
						     .context = batch->context[i],
						     .metric = batch->what[i]});
	if (!rc)
		find_line(sums, batch);
	return rc;
}
