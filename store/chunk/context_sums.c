/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_sums.c - sums by context and metric: adding, encoding and decoding.
 */
#include "store/chunk/context_sums.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/codec.h"
#include "store/base/id_table.h"

#define UNIT_SAMPLES 31u

void store_context_sums_fini(struct store_context_sums *sums)
{
	free(sums->entries);
	free(sums->index.slots);
	*sums = (struct store_context_sums){0};
}

void store_context_sums_clear(struct store_context_sums *sums)
{
	sums->count = 0;
	sums->line = (struct store_sum_row){0};
	if (sums->index.slots)
		memset(sums->index.slots, 0, sums->index.count * sizeof *sums->index.slots);
}

void store_context_sums_push(struct store_context_sums *sums, const struct store_sum *sum)
{
	struct store_sum *to;

	if (sums->failed)
		return;
	to = store_id_table_add(&sums->entries, &sums->count, &sums->capacity, sizeof *to);
	if (to)
		*to = *sum;
	else
		sums->failed = true;
}

static bool reserve(struct store_context_sums *sums, uint64_t more)
{
	uint64_t wanted = sums->count + more;

	if (wanted <= sums->capacity)
		return true;
	if (wanted > UINT32_MAX / 2 || !array_resize(&sums->entries, wanted, sizeof *sums->entries))
		return false;
	sums->capacity = (uint32_t)wanted;
	return true;
}

struct store_sum *store_context_sums_extend(struct store_context_sums *sums, uint32_t count)
{
	sums->failed = sums->failed || !reserve(sums, count);
	if (sums->failed)
		return NULL;
	sums->count += count;
	return sums->entries + sums->count - count;
}

/* ---- adding up ---- */

static uint64_t hash_of(const struct store_sum *entry)
{
	return (entry->context * 0x9e3779b1u ^ entry->metric * 0x85ebca6bu) >> 3;
}

static uint64_t entry_hash(const void *sums, uint32_t number)
{
	return hash_of(&((const struct store_context_sums *)sums)->entries[number]);
}

static bool entry_equal(const void *sums, uint32_t number, const void *key)
{
	const struct store_sum *entry = &((const struct store_context_sums *)sums)->entries[number];
	const struct store_sum *wanted = key;

	return entry->context == wanted->context && entry->metric == wanted->metric;
}

void store_context_sums_expect(struct store_context_sums *sums, uint32_t count)
{
	if (count > sums->count && (!reserve(sums, count - sums->count) ||
					   !hash_index_reserve(&sums->index, count, entry_hash, sums)))
		sums->failed = true;
}

void store_context_sums_add(struct store_context_sums *sums, const struct store_sum *sum)
{
	struct store_sum *entry;
	uint32_t *slot;

	if (sums->failed || !hash_index_reserve(&sums->index, sums->count, entry_hash, sums)) {
		sums->failed = true;
		return;
	}
	slot = hash_index_slot(&sums->index, hash_of(sum), entry_equal, sums, sum);
	if (*slot) {
		entry = &sums->entries[*slot - 1];
		entry->samples += sum->samples;
		entry->weight += sum->weight;
		entry->time_ns += sum->time_ns;
		return;
	}
	store_context_sums_push(sums, sum);
	*slot = sums->count;
}

/* ---- timelines ---- */

/* Time between the last sample so far and the next one belongs to the last one's context. */
static void join_lines(struct store_context_sums *sums, const struct store_context_sums *next)
{
	struct store_sum_row *line = &sums->line;
	uint64_t gap_ns = next->line.first_ns - line->last_ns;

	line->is_plain = line->is_plain && next->line.is_plain && next->line.first_ns > line->last_ns &&
			 next->entries->metric == sums->entries->metric;
	if (!line->is_plain)
		return;
	store_context_sums_add(sums,
		&(struct store_sum){
			.time_ns = gap_ns, .context = line->last_context, .metric = next->entries->metric});
	line->gap_ns = next->line.gap_ns > line->gap_ns ? next->line.gap_ns : line->gap_ns;
	line->gap_ns = gap_ns > line->gap_ns ? gap_ns : line->gap_ns;
	line->last_ns = next->line.last_ns;
	line->last_context = next->line.last_context;
}

void store_context_sums_join(struct store_context_sums *sums, const struct store_context_sums *next)
{
	if (next->count == 0)
		return;
	if (sums->count == 0)
		sums->line = next->line;
	else
		join_lines(sums, next);
	for (uint32_t i = 0; i < next->count; i++)
		store_context_sums_add(sums, &next->entries[i]);
}

/* ---- bytes ---- */

void store_context_sums_put_array(struct store_bytes *out, const uint64_t *values, uint32_t count)
{
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at;

		store_codec_put(out, values + at, left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS);
	}
}

bool store_context_sums_get_array(struct store_input *input, uint64_t *values, uint32_t count)
{
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

		if (!store_codec_get(input, values + at, left))
			return false;
	}
	return true;
}

static uint64_t value_of(const struct store_sum *sum, enum store_context_sums_column column)
{
	return column == STORE_CONTEXT_SUMS_TIME ? sum->time_ns : sum->weight;
}

uint64_t store_context_sums_unit(
	const struct store_sum *entries, uint32_t count, enum store_context_sums_column column)
{
	uint64_t units[UNIT_SAMPLES];
	uint32_t taken = 0, stride = count / UNIT_SAMPLES + 1;

	for (uint32_t i = 0; i < count && taken < UNIT_SAMPLES; i += stride) {
		uint64_t unit = entries[i].samples ? value_of(&entries[i], column) / entries[i].samples : 0;
		uint32_t at = taken++;

		for (; at > 0 && units[at - 1] > unit; at--)
			units[at] = units[at - 1];
		units[at] = unit;
	}
	return taken ? units[taken / 2] : 0;
}

/* What a column holds of an entry: contexts as steps, weights and times as what is off `unit` a sample. */
static uint64_t column_value(
	const struct store_sum *sum, enum store_context_sums_column column, uint64_t unit, uint32_t *next)
{
	uint64_t off = value_of(sum, column) - sum->samples * unit;
	uint32_t step = sum->context - *next;

	*next = sum->context + 1;
	if (column == STORE_CONTEXT_SUMS_CONTEXT)
		return step;
	return column == STORE_CONTEXT_SUMS_SAMPLES ? sum->samples : off << 1 ^ (0 - (off >> 63));
}

static void put_column(struct store_bytes *out, const struct store_sum *entries, uint32_t count,
	enum store_context_sums_column column)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = 0;
	uint32_t next = 0;

	if (column >= STORE_CONTEXT_SUMS_WEIGHT) {
		unit = store_context_sums_unit(entries, count, column);
		store_bytes_put_varint(out, unit);
	}
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

		for (uint32_t i = 0; i < left; i++)
			values[i] = column_value(&entries[at + i], column, unit, &next);
		store_codec_put(out, values, left);
	}
}

static void put_line(const struct store_sum_row *line, struct store_bytes *out)
{
	store_bytes_put_varint(out, line->is_plain);
	if (!line->is_plain)
		return;
	store_bytes_put_varint(out, line->first_ns);
	store_bytes_put_varint(out, line->last_ns - line->first_ns);
	store_bytes_put_varint(out, line->gap_ns);
	store_bytes_put_varint(out, line->last_context);
}

void store_context_sums_put(struct store_context_sums *sums, struct store_bytes *out)
{
	uint64_t metrics = 0;

	out->failed |= sums->failed;
	store_context_sums_order(sums);
	for (uint32_t i = 0; i < sums->count; i++)
		metrics += i == 0 || sums->entries[i].metric != sums->entries[i - 1].metric;
	put_line(&sums->line, out);
	store_bytes_put_varint(out, metrics);
	for (uint32_t from = 0, to; from < sums->count; from = to) {
		for (to = from + 1; to < sums->count; to++)
			if (sums->entries[to].metric != sums->entries[from].metric)
				break;
		store_bytes_put_varint(out, sums->entries[from].metric);
		store_bytes_put_varint(out, to - from);
		for (int column = 0; column < STORE_CONTEXT_SUMS_TIME + sums->line.is_plain; column++)
			put_column(
				out, sums->entries + from, to - from, (enum store_context_sums_column)column);
	}
}

/* Beyond 32 bits `last` stays there: the limit is checked at the end. */
static void take_contexts(struct store_sum *entries, const uint64_t *values, uint32_t count, uint64_t *last)
{
	uint64_t next = *last;

	for (uint32_t i = 0; i < count; i++) {
		next += values[i] < UINT32_MAX ? values[i] + 1 : UINT32_MAX;
		entries[i] = (struct store_sum){.context = (uint32_t)(next - 1)};
	}
	*last = next;
}

static void take_column(struct store_sum *entries, enum store_context_sums_column column,
	const uint64_t *values, uint32_t count, uint64_t unit)
{
	if (column == STORE_CONTEXT_SUMS_SAMPLES)
		for (uint32_t i = 0; i < count; i++)
			entries[i].samples = values[i];
	else if (column == STORE_CONTEXT_SUMS_WEIGHT)
		for (uint32_t i = 0; i < count; i++)
			entries[i].weight = entries[i].samples * unit + store_unzigzag(values[i]);
	else
		for (uint32_t i = 0; i < count; i++)
			entries[i].time_ns = entries[i].samples * unit + store_unzigzag(values[i]);
}

/* Counts and steps are 32 bits: `last` cannot wrap. */
static bool get_column(struct store_sum *entries, uint32_t count, struct store_input *input,
	enum store_context_sums_column column, uint32_t limit)
{
	uint64_t values[STORE_BLOCK_RECORDS], last = 0;
	uint64_t unit = column >= STORE_CONTEXT_SUMS_WEIGHT ? store_input_varint(input) : 0;

	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

		if (!store_codec_get(input, values, left))
			return false;
		if (column == STORE_CONTEXT_SUMS_CONTEXT)
			take_contexts(entries + at, values, left, &last);
		else
			take_column(entries + at, column, values, left, unit);
	}
	return last <= limit;
}

bool store_context_sums_skip(struct store_input *input, uint32_t count)
{
	store_input_varint(input);
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS)
		if (!store_codec_skip(
			    input, count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS))
			return false;
	return true;
}

static bool get_wanted(struct store_sum *entries, uint32_t count, struct store_input *input,
	enum store_context_sums_column column, unsigned wanted)
{
	return wanted >> column & 1 ? get_column(entries, count, input, column, 0)
				    : store_context_sums_skip(input, count);
}

/* All columns of one metric. */
static bool get_group(struct store_sum *entries, uint32_t count, struct store_input *input, uint32_t limit,
	bool has_times, unsigned wanted)
{
	return get_column(entries, count, input, STORE_CONTEXT_SUMS_CONTEXT, limit) &&
	       get_column(entries, count, input, STORE_CONTEXT_SUMS_SAMPLES, limit) &&
	       get_wanted(entries, count, input, STORE_CONTEXT_SUMS_WEIGHT, wanted) &&
	       (!has_times || get_wanted(entries, count, input, STORE_CONTEXT_SUMS_TIME, wanted));
}

void store_sum_row_get(struct store_sum_row *line, struct store_input *input, uint32_t contexts)
{
	uint64_t is_plain = store_input_varint(input);

	*line = (struct store_sum_row){.is_plain = is_plain == 1};
	input->bad |= is_plain > 1;
	if (is_plain != 1)
		return;
	line->first_ns = store_input_varint(input);
	line->last_ns = line->first_ns + store_input_varint(input);
	line->gap_ns = store_input_varint(input);
	line->last_context = store_input_u32(input);
	input->bad |= line->last_ns < line->first_ns || line->last_context >= contexts;
}

void store_context_sums_get(struct store_context_sums *sums, struct store_input *input, uint32_t contexts,
	uint32_t metrics, unsigned wanted)
{
	uint64_t groups;

	store_sum_row_get(&sums->line, input, contexts);
	groups = store_input_varint(input);
	if (groups > metrics)
		input->bad = true;
	for (uint64_t group = 0; group < groups && !input->bad; group++) {
		uint64_t metric = store_input_varint(input), count = store_input_varint(input);

		/* Entries' contexts differ, so a sound number of them is bounded. */
		if (metric >= metrics || count > contexts) {
			input->bad = true;
		} else if (!reserve(sums, count)) {
			sums->failed = true;
			return;
		} else {
			struct store_sum *entries = sums->entries + sums->count;

			input->bad = !get_group(entries, (uint32_t)count, input, contexts,
					     sums->line.is_plain, wanted) ||
				     input->bad;
			for (uint64_t i = 0; i < count && !input->bad; i++)
				entries[i].metric = (uint32_t)metric;
			sums->count += input->bad ? 0 : (uint32_t)count;
		}
	}
	input->bad |= input->at != input->end;
}
