/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - sums by context and metric: adding up, and to bytes and back.
 */
#include "store/sums.h"

#include <stdlib.h>

#include "store/codec.h"
#include "store/table.h"

#define SLOTS_FIRST 128u
#define UNIT_SAMPLES 31u

void store_sums_fini(struct store_sums *sums)
{
	free(sums->entries);
	free(sums->slots);
	*sums = (struct store_sums){0};
}

void store_sums_clear(struct store_sums *sums)
{
	sums->count = 0;
	if (sums->slots)
		memset(sums->slots, 0, sums->slot_count * sizeof *sums->slots);
}

void store_sums_push(struct store_sums *sums, const struct store_sum *sum)
{
	struct store_sum *to;

	if (sums->failed)
		return;
	to = store_table_add((void **)&sums->entries, &sums->count, &sums->capacity, sizeof *to);
	if (to)
		*to = *sum;
	else
		sums->failed = true;
}

/* ---- adding up ---- */

static size_t slot_of(const struct store_sums *sums, const struct store_sum *key)
{
	size_t mask = sums->slot_count - 1;
	size_t at = (key->context * 0x9e3779b1u ^ key->metric * 0x85ebca6bu) >> 3 & mask;

	while (sums->slots[at]) {
		const struct store_sum *entry = &sums->entries[sums->slots[at] - 1];

		if (entry->context == key->context && entry->metric == key->metric)
			break;
		at = (at + 1) & mask;
	}
	return at;
}

static bool slots_grow(struct store_sums *sums)
{
	size_t wanted = sums->slot_count ? sums->slot_count * 4 : SLOTS_FIRST;
	uint32_t *slots;

	if (sums->count < sums->slot_count / 2)
		return true;
	slots = calloc(wanted, sizeof *slots);
	if (!slots)
		return false;
	free(sums->slots);
	sums->slots = slots;
	sums->slot_count = wanted;
	for (uint32_t i = 0; i < sums->count; i++)
		slots[slot_of(sums, &sums->entries[i])] = i + 1;
	return true;
}

void store_sums_add(struct store_sums *sums, const struct store_sum *sum)
{
	size_t at;

	if (sums->failed || !slots_grow(sums)) {
		sums->failed = true;
		return;
	}
	at = slot_of(sums, sum);
	if (sums->slots[at]) {
		sums->entries[sums->slots[at] - 1].samples += sum->samples;
		sums->entries[sums->slots[at] - 1].weight += sum->weight;
		return;
	}
	store_sums_push(sums, sum);
	sums->slots[at] = sums->count;
}

/* ---- bytes ---- */

void store_sums_put_array(struct store_bytes *out, const uint64_t *values, uint32_t count)
{
	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at;

		store_codec_put(out, values + at, left < STORE_BLOCK_RECORDS ? left : STORE_BLOCK_RECORDS);
	}
}

bool store_sums_get_array(struct store_input *input, uint64_t *values, uint32_t count)
{
	uint64_t block[STORE_BLOCK_RECORDS];

	for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
		uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

		if (!store_codec_get(input, block, left))
			return false;
		memcpy(values + at, block, left * sizeof *block);
	}
	return true;
}

uint64_t store_sums_unit(const struct store_sum *entries, uint32_t count)
{
	uint64_t units[UNIT_SAMPLES];
	uint32_t taken = 0, stride = count / UNIT_SAMPLES + 1;

	for (uint32_t i = 0; i < count && taken < UNIT_SAMPLES; i += stride) {
		uint64_t unit = entries[i].samples ? entries[i].weight / entries[i].samples : 0;
		uint32_t at = taken++;

		for (; at > 0 && units[at - 1] > unit; at--)
			units[at] = units[at - 1];
		units[at] = unit;
	}
	return taken ? units[taken / 2] : 0;
}

static int compare_sums(const void *x, const void *y)
{
	const struct store_sum *a = x, *b = y;

	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static void put_columns(struct store_bytes *out, const struct store_sum *entries, uint32_t count)
{
	uint64_t values[STORE_BLOCK_RECORDS], unit = store_sums_unit(entries, count);
	uint32_t next = 0;

	store_bytes_put_varint(out, unit);
	for (unsigned column = 0; column < 3; column++) {
		for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
			uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

			for (uint32_t i = 0; i < left; i++) {
				const struct store_sum *sum = &entries[at + i];
				uint64_t off = sum->weight - sum->samples * unit;

				values[i] = column == 0	  ? sum->context - next
					    : column == 1 ? sum->samples
							  : off << 1 ^ (0 - (off >> 63));
				next = sum->context + 1;
			}
			store_codec_put(out, values, left);
		}
	}
}

void store_sums_put(struct store_sums *sums, struct store_bytes *out)
{
	uint64_t metrics = 0;

	out->failed |= sums->failed;
	if (sums->count)
		qsort(sums->entries, sums->count, sizeof *sums->entries, compare_sums);
	for (uint32_t i = 0; i < sums->count; i++)
		metrics += i == 0 || sums->entries[i].metric != sums->entries[i - 1].metric;
	store_bytes_put_varint(out, metrics);
	for (uint32_t from = 0, to; from < sums->count; from = to) {
		for (to = from + 1; to < sums->count; to++)
			if (sums->entries[to].metric != sums->entries[from].metric)
				break;
		store_bytes_put_varint(out, sums->entries[from].metric);
		store_bytes_put_varint(out, to - from);
		put_columns(out, sums->entries + from, to - from);
	}
}

static bool reserve(struct store_sums *sums, uint64_t more)
{
	uint64_t wanted = sums->count + more;
	struct store_sum *grown;

	if (wanted <= sums->capacity)
		return true;
	grown = wanted > UINT32_MAX / 2 ? NULL : realloc(sums->entries, wanted * sizeof *grown);
	if (!grown)
		return false;
	sums->entries = grown;
	sums->capacity = (uint32_t)wanted;
	return true;
}

static void take_column(struct store_sum *entries, unsigned column, const uint64_t *values, uint32_t count,
	uint64_t *last, uint64_t unit)
{
	switch (column) {
	case 0: /* beyond 32 bits it stays there: the limit is checked at the end */
		for (uint32_t i = 0; i < count; i++) {
			*last += values[i] < UINT32_MAX ? values[i] + 1 : UINT32_MAX;
			entries[i].context = (uint32_t)(*last - 1);
		}
		break;
	case 1:
		for (uint32_t i = 0; i < count; i++)
			entries[i].samples = values[i];
		break;
	default:
		for (uint32_t i = 0; i < count; i++)
			entries[i].weight = entries[i].samples * unit + store_unzigzag(values[i]);
	}
}

/* At most 2^24 x 2^32 steps of `last`: it cannot wrap. */
static bool get_columns(struct store_sum *entries, uint32_t count, struct store_input *input, uint32_t limit)
{
	uint64_t values[STORE_BLOCK_RECORDS], last = 0, unit = store_input_varint(input);

	for (unsigned column = 0; column < 3; column++) {
		for (uint32_t at = 0; at < count; at += STORE_BLOCK_RECORDS) {
			uint32_t left = count - at < STORE_BLOCK_RECORDS ? count - at : STORE_BLOCK_RECORDS;

			if (!store_codec_get(input, values, left))
				return false;
			take_column(entries + at, column, values, left, &last, unit);
		}
	}
	return last <= limit;
}

void store_sums_get(struct store_sums *sums, struct store_input *input, uint32_t contexts, uint32_t metrics)
{
	uint64_t groups = store_input_varint(input);

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

			input->bad |= !get_columns(entries, (uint32_t)count, input, contexts);
			for (uint64_t i = 0; i < count && !input->bad; i++)
				entries[i].metric = (uint32_t)metric;
			sums->count += input->bad ? 0 : (uint32_t)count;
		}
	}
	input->bad |= input->at != input->end;
}
