/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - integers to bits and back. The packing is chosen by a histogram of bit widths; reading
 * checks every length before it believes it, because the bytes may be anybody's.
 */
#include "store/codec.h"

#include "store/bits.h"

enum packing { PACKING_CONST, PACKING_PACKED, PACKING_RUNS, PACKING_RAW, PACKING_COUNT };

#define RUN_AHEAD 8u
#define HISTOGRAMS 4u /* counting in turn: the same bin twice in a row would wait for itself */

/* How a set of values would be PACKED best. */
struct plan {
	unsigned width;
	unsigned exceptions;
	size_t size;
};

static unsigned bits_of(uint64_t value)
{
	return 64 - (unsigned)__builtin_clzll(value | 1) - !value;
}

/* ---- PACKED ---- */

/* Counts bit widths into bins[0..widest]; gives the widest. */
static unsigned count_widths(const uint64_t *values, unsigned count, uint16_t *bins)
{
	uint16_t partial[HISTOGRAMS][65];
	uint64_t all = 0;
	unsigned widest, i = 0;

	for (unsigned v = 0; v < count; v++)
		all |= values[v];
	widest = bits_of(all);
	for (unsigned h = 0; h < HISTOGRAMS; h++)
		memset(partial[h], 0, (widest + 1) * sizeof **partial);
	for (; i + HISTOGRAMS <= count; i += HISTOGRAMS)
		for (unsigned h = 0; h < HISTOGRAMS; h++)
			partial[h][bits_of(values[i + h])]++;
	for (; i < count; i++)
		partial[0][bits_of(values[i])]++;
	for (unsigned b = 0; b <= widest; b++)
		bins[b] = (uint16_t)(partial[0][b] + partial[1][b] + partial[2][b] + partial[3][b]);
	return widest;
}

/* The width for which bits and exceptions together are smallest. */
static struct plan plan_packed(const uint64_t *values, unsigned count)
{
	uint16_t bins[65];
	unsigned widest = count_widths(values, count, bins), above = 0;
	struct plan best = {.width = widest, .size = 2 + store_bits_size(widest, count)};

	for (unsigned width = widest; width-- > 0;) {
		size_t size;

		above += bins[width + 1];
		if (above > UINT8_MAX || above >= best.size)
			break;
		size = 2 + store_bits_size(width, count) + above * (1 + (size_t)(widest - width + 6) / 7);
		if (size < best.size)
			best = (struct plan){.width = width, .exceptions = above, .size = size};
	}
	return best;
}

static void put_exceptions(struct store_bytes *out, const uint64_t *values, unsigned count, unsigned width)
{
	for (unsigned i = 0; i < count; i++)
		if (values[i] >> width)
			store_bytes_put(out, &(uint8_t){(uint8_t)i}, 1);
	for (unsigned i = 0; i < count; i++)
		if (values[i] >> width)
			store_bytes_put_varint(out, values[i] >> width);
}

static void put_packed(struct store_bytes *out, const uint64_t *values, unsigned count, struct plan plan)
{
	uint8_t *to = store_bytes_reserve(out, 2 + store_bits_size(plan.width, count));

	if (!to)
		return;
	to[0] = (uint8_t)plan.width;
	to[1] = (uint8_t)plan.exceptions;
	if (count == STORE_BLOCK_RECORDS)
		store_bits_put_block(to + 2, values, plan.width);
	else
		store_bits_put_string(to + 2, values, count, plan.width);
	out->size += 2 + store_bits_size(plan.width, count);
	if (plan.exceptions)
		put_exceptions(out, values, count, plan.width);
}

static bool get_exceptions(
	struct store_input *input, uint64_t *values, unsigned count, unsigned width, unsigned exceptions)
{
	const uint8_t *positions = store_input_take(input, exceptions);

	for (unsigned i = 0; positions && i < exceptions; i++) {
		uint64_t high = store_input_varint(input);

		if (positions[i] >= count || width > 63)
			input->bad = true;
		else if (values)
			values[positions[i]] |= high << width;
	}
	return !input->bad;
}

/* With `values` NULL it only passes over the bytes. */
static bool get_packed(struct store_input *input, uint64_t *values, unsigned count)
{
	const uint8_t *head = store_input_take(input, 2), *bits;
	unsigned width;

	if (!head)
		return false;
	width = head[0];
	if (width > 64) {
		input->bad = true;
		return false;
	}
	bits = store_input_take(input, store_bits_size(width, count));
	if (!bits)
		return false;
	if (values && count == STORE_BLOCK_RECORDS)
		store_bits_get_block(bits, values, width);
	else if (values)
		store_bits_get_string(bits, store_bits_size(width, count), values, count, width);
	return !head[1] || get_exceptions(input, values, count, width, head[1]);
}

/* ---- RUNS ---- */

static unsigned count_runs(const uint64_t *values, unsigned count)
{
	unsigned runs = 1;

	for (unsigned i = 1; i < count; i++)
		runs += values[i] != values[i - 1];
	return runs;
}

/* Values and lengths - 1 of the runs; `at` and `lengths` have room for 256. */
static void split_runs(const uint64_t *values, unsigned count, uint64_t *at, uint64_t *lengths)
{
	unsigned run = 0;

	at[0] = values[0];
	lengths[0] = 0;
	for (unsigned i = 1; i < count; i++) {
		if (values[i] == at[run]) {
			lengths[run]++;
			continue;
		}
		at[++run] = values[i];
		lengths[run] = 0;
	}
}

/* Most runs are short: as many as RUN_AHEAD values are there without asking how many they are. */
static void fill_run(uint64_t *values, unsigned count, uint64_t value)
{
	for (unsigned i = 0; i < RUN_AHEAD; i++)
		values[i] = value;
	for (unsigned i = RUN_AHEAD; i < count; i++)
		values[i] = value;
}

static bool get_runs(struct store_input *input, uint64_t *values, unsigned count)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];
	uint64_t all[STORE_BLOCK_RECORDS + RUN_AHEAD];
	const uint8_t *head = store_input_take(input, 1);
	unsigned runs = head ? *head + 1u : 0, filled = 0;

	if (!runs || !get_packed(input, at, runs) || !get_packed(input, lengths, runs))
		return false;
	for (unsigned run = 0; run < runs; run++) {
		if (lengths[run] >= count - filled) {
			input->bad = true;
			return false;
		}
		fill_run(all + filled, (unsigned)lengths[run] + 1, at[run]);
		filled += (unsigned)lengths[run] + 1;
	}
	input->bad = filled != count;
	memcpy(values, all, filled * sizeof *all);
	return !input->bad;
}

/* ---- the choice ---- */

static void consider_runs(struct store_codec_plan *plan, const uint64_t *values, unsigned count)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];
	struct plan plan_at, plan_lengths;

	split_runs(values, count, at, lengths);
	plan_at = plan_packed(at, plan->runs);
	plan_lengths = plan_packed(lengths, plan->runs);
	if (2 + plan_at.size + plan_lengths.size >= plan->size)
		return;
	plan->packing = PACKING_RUNS;
	plan->width = (uint8_t)plan_at.width;
	plan->exceptions = (uint8_t)plan_at.exceptions;
	plan->lengths_width = (uint8_t)plan_lengths.width;
	plan->lengths_exceptions = (uint8_t)plan_lengths.exceptions;
	plan->size = (uint32_t)(2 + plan_at.size + plan_lengths.size);
}

struct store_codec_plan store_codec_plan(const uint64_t *values, unsigned count)
{
	struct store_codec_plan plan = {.packing = PACKING_CONST, .size = 2};
	struct plan packed;

	plan.runs = (uint16_t)count_runs(values, count);
	if (plan.runs == 1)
		return plan;
	packed = plan_packed(values, count);
	plan.packing = PACKING_PACKED;
	plan.width = (uint8_t)packed.width;
	plan.exceptions = (uint8_t)packed.exceptions;
	plan.size = (uint32_t)(1 + packed.size);
	if (plan.size > 1 + 8 * count) {
		plan.packing = PACKING_RAW;
		plan.size = 1 + 8 * count;
	}
	if (plan.runs < count / 2)
		consider_runs(&plan, values, count);
	return plan;
}

static void put_runs(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];

	split_runs(values, count, at, lengths);
	store_bytes_put(out, &(uint8_t){(uint8_t)(plan->runs - 1)}, 1);
	put_packed(out, at, plan->runs, (struct plan){.width = plan->width, .exceptions = plan->exceptions});
	put_packed(out, lengths, plan->runs,
		(struct plan){.width = plan->lengths_width, .exceptions = plan->lengths_exceptions});
}

void store_codec_put_planned(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan)
{
	store_bytes_put(out, &plan->packing, 1);
	switch (plan->packing) {
	case PACKING_CONST:
		store_bytes_put_varint(out, values[0]);
		break;
	case PACKING_RUNS:
		put_runs(out, values, count, plan);
		break;
	case PACKING_RAW:
		store_bytes_put(out, values, 8 * (size_t)count);
		break;
	default:
		put_packed(out, values, count,
			(struct plan){.width = plan->width, .exceptions = plan->exceptions});
	}
}

void store_codec_put(struct store_bytes *out, const uint64_t *values, unsigned count)
{
	struct store_codec_plan plan = store_codec_plan(values, count);

	store_codec_put_planned(out, values, count, &plan);
}

static void get_const(struct store_input *input, uint64_t *values, unsigned count)
{
	uint64_t value = store_input_varint(input);

	for (unsigned i = 0; i < count; i++)
		values[i] = value;
}

bool store_codec_get(struct store_input *input, uint64_t *values, unsigned count)
{
	const uint8_t *packing = store_input_take(input, 1), *raw;

	if (!packing)
		return false;
	switch (*packing) {
	case PACKING_CONST:
		get_const(input, values, count);
		break;
	case PACKING_PACKED:
		get_packed(input, values, count);
		break;
	case PACKING_RUNS:
		get_runs(input, values, count);
		break;
	case PACKING_RAW:
		raw = store_input_take(input, 8 * (size_t)count);
		if (raw)
			memcpy(values, raw, 8 * (size_t)count);
		break;
	default:
		input->bad = true;
	}
	return !input->bad;
}

bool store_codec_skip(struct store_input *input, unsigned count)
{
	const uint8_t *packing = store_input_take(input, 1), *head;

	if (!packing)
		return false;
	switch (*packing) {
	case PACKING_CONST:
		store_input_varint(input);
		break;
	case PACKING_PACKED:
		get_packed(input, NULL, count);
		break;
	case PACKING_RUNS:
		head = store_input_take(input, 1);
		if (head && get_packed(input, NULL, *head + 1u))
			get_packed(input, NULL, *head + 1u);
		break;
	case PACKING_RAW:
		store_input_take(input, 8 * (size_t)count);
		break;
	default:
		input->bad = true;
	}
	return !input->bad;
}
