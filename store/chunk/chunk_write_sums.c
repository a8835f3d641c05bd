/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_write_sums.c - the sums of each context in a chunk, for rollups: computed once and stored beside the
 * records.
 */
#include "store/chunk/chunk_encode_internal.h"
#include "store/chunk/context_sums.h"
#include "store/chunk/dictionary.h"

/* The different metrics of the records; their number, or METRICS_MAX + 1. */
static unsigned find_metrics(const struct store_chunk_draft *draft, uint32_t *metrics)
{
	unsigned known = 1;

	metrics[0] = draft->records->what;
	for (unsigned i = 1; i < draft->count && !store_chunk_draft_is_constant(draft, CHUNK_WHAT); i++) {
		unsigned m = 0;

		while (m < known && metrics[m] != draft->records[i].what)
			m++;
		if (m == known && known == CHUNK_SUMS_METRICS)
			return CHUNK_SUMS_METRICS + 1;
		if (m == known)
			metrics[known++] = draft->records[i].what;
	}
	return known;
}

/* The entries of one of several metrics, in the order of the dictionary. */
static void sum_metric(
	struct store_chunk_draft *draft, uint32_t metric, struct store_sum *sums, unsigned contexts)
{
	const uint32_t *index = draft->coder->index, *rank = draft->coder->rank;

	memset(sums, 0, contexts * sizeof *sums);
	for (unsigned i = 0; i < draft->count; i++) {
		struct store_sum *sum = &sums[draft->header.dictionary ? rank[index[i]] : 0];

		if (draft->records[i].what != metric)
			continue;
		sum->samples++;
		sum->weight += draft->records[i].amount;
	}
}

/* Adds the records to the entries of their contexts, each with the time to the next one, which there is.
 * False: there are too many contexts. */
static bool add_records(struct store_chunk_draft *draft, unsigned at, unsigned count)
{
	struct store_chunk_coder *const coder = draft->coder;
	struct store_sum *const entries = coder->entries;
	const uint64_t *const slots = coder->slots;
	const struct store_record *record = draft->records + at, *const end = record + count;
	uint64_t longest = draft->longest_ns, shortest = draft->shortest_ns, begin_ns = record->begin_ns;
	size_t mask = coder->slot_count - 1;

	for (uint32_t *index = coder->index + at; record < end; record++, index++) {
		const uint64_t next_ns = record[1].begin_ns, gap_ns = next_ns - begin_ns;
		uint64_t number = store_dictionary_look(slots, mask, record->context);

		if (number >= STORE_DICTIONARY_OTHERS) {
			number = store_dictionary_behind(
				coder, record->context, (unsigned)(record - draft->records));
			mask = coder->slot_count - 1;
			if (coder->known > coder->most)
				return false;
		}
		*index = (uint32_t)number;
		entries[number].samples++;
		entries[number].weight += record->amount;
		entries[number].time_ns += gap_ns;
		longest = gap_ns > longest ? gap_ns : longest;
		shortest = gap_ns < shortest ? gap_ns : shortest;
		begin_ns = next_ns;
	}
	draft->longest_ns = longest;
	draft->shortest_ns = shortest;
	return true;
}

void store_chunk_add_sums(struct store_chunk_draft *draft, unsigned at, unsigned count)
{
	struct store_chunk_coder *const coder = draft->coder;
	const unsigned last = draft->count - 1;
	const bool is_end = at + count == draft->count;

	if (coder->known > coder->most || !add_records(draft, at, count - is_end) || !is_end)
		return;
	store_dictionary_add(coder, draft->records, last, 1);
	if (coder->known <= coder->most)
		coder->entries[coder->index[last]].weight += draft->records[last].amount;
}

/* The longest time from a record of one metric to the next; 0: they are not plain, so that times mean
 * nothing. */
static uint64_t longest_of(const struct store_chunk_draft *draft)
{
	if (!store_chunk_draft_is_constant(draft, CHUNK_FLAGS) || draft->count == 1 ||
		!(draft->records->flags & STORE_RECORD_EXTENT))
		return 0;
	return draft->shortest_ns ? draft->longest_ns : 0;
}

static void put_sum_column(struct store_chunk_draft *draft, const struct store_sum *sums, unsigned contexts,
	enum store_context_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = store_context_sums_unit(sums, contexts, column);

	if (column != STORE_CONTEXT_SUMS_SAMPLES)
		store_bytes_put_varint(draft->out, unit);
	for (unsigned at = 0; at < contexts; at += STORE_BLOCK_RECORDS) {
		unsigned left = contexts - at < STORE_BLOCK_RECORDS ? contexts - at : STORE_BLOCK_RECORDS;

		for (unsigned i = 0; i < left; i++) {
			const struct store_sum *sum = &sums[at + i];

			values[i] = column == STORE_CONTEXT_SUMS_SAMPLES ? sum->samples
				    : column == STORE_CONTEXT_SUMS_TIME
					    ? store_zigzag(sum->time_ns - sum->samples * unit)
					    : store_zigzag(sum->weight - sum->samples * unit);
		}
		store_codec_put(draft->out, values, left);
	}
}

/* | metrics | metrics x | id | samples | unit, weights | | longest gap | last context | unit, times |;
 * without a gap nothing follows it. */
void store_chunk_put_sums(struct store_chunk_draft *draft)
{
	uint32_t metrics[CHUNK_SUMS_METRICS];
	unsigned contexts = draft->header.dictionary ? draft->header.dictionary : 1, count;
	struct store_sum *sums = draft->coder->entries;
	uint64_t longest_ns;

	if (draft->header.track == STORE_SPANS ||
		(draft->header.track == STORE_VALUES && store_chunk_draft_is_constant(draft, CHUNK_CONTEXT) &&
			!draft->records->context) ||
		(!draft->header.dictionary && !store_chunk_draft_is_constant(draft, CHUNK_CONTEXT)))
		return;
	count = find_metrics(draft, metrics);
	if (count > CHUNK_SUMS_METRICS)
		return;
	draft->header.constant |= 1u << CHUNK_SUMS;
	store_bytes_put_varint(draft->out, count);
	longest_ns = count == 1 ? longest_of(draft) : 0;
	for (unsigned m = 0; m < count; m++) {
		if (count > 1)
			sum_metric(draft, metrics[m], sums, contexts);
		store_bytes_put_varint(draft->out, metrics[m]);
		put_sum_column(draft, sums, contexts, STORE_CONTEXT_SUMS_SAMPLES);
		put_sum_column(draft, sums, contexts, STORE_CONTEXT_SUMS_WEIGHT);
	}
	store_bytes_put_varint(draft->out, longest_ns);
	if (longest_ns) {
		store_bytes_put_varint(draft->out, draft->records[draft->count - 1].context);
		put_sum_column(draft, sums, contexts, STORE_CONTEXT_SUMS_TIME);
	}
}
