/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - integers to bits and back. Chooses the packing from a histogram of bit widths; reading checks
 * every length, because the bytes are untrusted.
 */
#include "store/base/codec.h"

#include "store/base/avx2.h"
#include "store/base/bits.h"
#include "store/base/codec_packed.h"

enum packing { PACKING_CONST, PACKING_PACKED, PACKING_RUNS, PACKING_RAW, PACKING_SPLIT };

#define RUN_AHEAD 8u

/* ---- RUNS ---- */

/* Counted as wide as the values are: vectors need not change their lanes. */
static inline unsigned count_runs(const uint64_t *values, unsigned count)
{
	uint64_t repeated = 0;

	for (unsigned i = 1; i < count; i++)
		repeated += values[i] == values[i - 1];
	return count - (unsigned)repeated;
}

/* Values and lengths - 1 of the runs; `at` and `lengths` have room for 256. */
static void split_runs(const uint64_t *values, unsigned count, uint64_t *at, uint64_t *lengths)
{
	unsigned run = 0, begin = 0;

	at[0] = values[0];
	for (unsigned i = 1; i < count; i++) {
		bool is_other = values[i] != values[i - 1];

		lengths[run] = i - 1 - begin;
		run += is_other;
		begin = is_other ? i : begin;
		at[run] = values[i];
	}
	lengths[run] = count - 1 - begin;
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

	if (!runs || !store_codec_get_packed(input, at, runs) ||
		!store_codec_get_packed(input, lengths, runs))
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

/* ---- SPLIT ---- */

static void put_where(
	struct store_bytes *out, const uint64_t *values, unsigned count, unsigned width, unsigned exceptions)
{
	uint8_t where[STORE_BLOCK_RECORDS] = {0};
	unsigned size = store_codec_where_size(count, exceptions);

	if (size == exceptions)
		store_codec_above(where, values, count, width);
	else
		for (unsigned i = 0; i < count; i++)
			where[i / 8] |= (uint8_t)((values[i] >> width != 0) << i % 8);
	store_bytes_put(out, where, size);
}

static void put_split(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan)
{
	uint64_t above[STORE_BLOCK_RECORDS];
	unsigned width = plan->width, found = 0;
	uint8_t *to = store_bytes_reserve(out, 2 + store_bits_size(width, count));

	if (!to)
		return;
	to[0] = plan->width;
	to[1] = plan->exceptions;
	store_bits_put(to + 2, values, count, width);
	out->size += 2 + store_bits_size(width, count);
	put_where(out, values, count, width, plan->exceptions);
	for (unsigned i = 0; i < count; i++) {
		above[found] = values[i] >> width;
		found += above[found] != 0;
	}
	store_codec_put_packed(out, above, found,
		(struct store_codec_packed){
			.width = plan->second_width, .exceptions = plan->second_exceptions});
}

/* False: the bits are not as many as the exceptions, or stand behind the last value. */
static bool patch_bits(const uint8_t *bits, const uint64_t *above, unsigned exceptions, uint64_t *values,
	unsigned count, unsigned width)
{
	uint64_t words[STORE_BLOCK_RECORDS / 64] = {0};
	unsigned found = 0;

	memcpy(words, bits, (count + 7) / 8);
	for (unsigned w = 0; w < STORE_BLOCK_RECORDS / 64; w++)
		found += (unsigned)__builtin_popcountll(words[w]);
	if (found != exceptions || (count % 64 && words[count / 64] >> count % 64))
		return false;
	for (unsigned w = 0; w < STORE_BLOCK_RECORDS / 64; w++)
		for (uint64_t word = words[w]; word; word &= word - 1)
			values[64 * w + (unsigned)__builtin_ctzll(word)] |= *above++ << width;
	return true;
}

static bool patch_positions(const uint8_t *positions, const uint64_t *above, unsigned exceptions,
	uint64_t *values, unsigned count, unsigned width)
{
	for (unsigned i = 0; i < exceptions; i++) {
		if (positions[i] >= count)
			return false;
		values[positions[i]] |= above[i] << width;
	}
	return true;
}

/* `values` NULL: only skips the bytes. */
static bool get_split(struct store_input *input, uint64_t *values, unsigned count)
{
	uint64_t above[STORE_BLOCK_RECORDS];
	const uint8_t *head = store_input_take(input, 2), *bits, *where;
	unsigned width, exceptions, size;

	if (!head)
		return false;
	width = head[0];
	exceptions = head[1];
	if (width > 63 || !exceptions || exceptions > count) {
		input->bad = true;
		return false;
	}
	bits = store_input_take(input, store_bits_size(width, count));
	size = store_codec_where_size(count, exceptions);
	where = store_input_take(input, size);
	if (!where || !store_codec_get_packed(input, values ? above : NULL, exceptions))
		return false;
	if (!values)
		return true;
	store_bits_get(bits, values, count, width);
	input->bad = !(size == exceptions ? patch_positions : patch_bits)(
		where, above, exceptions, values, count, width);
	return !input->bad;
}

/* ---- the choice ---- */

static void consider_runs(struct store_codec_plan *plan, const uint64_t *values, unsigned count)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];
	struct store_codec_packed plan_at, plan_lengths;

	split_runs(values, count, at, lengths);
	plan_at = store_codec_plan_packed(at, plan->runs);
	plan_lengths = store_codec_plan_packed(lengths, plan->runs);
	if (2 + plan_at.size + plan_lengths.size >= plan->size)
		return;
	plan->packing = PACKING_RUNS;
	plan->width = (uint8_t)plan_at.width;
	plan->exceptions = (uint8_t)plan_at.exceptions;
	plan->second_width = (uint8_t)plan_lengths.width;
	plan->second_exceptions = (uint8_t)plan_lengths.exceptions;
	plan->size = (uint32_t)(2 + plan_at.size + plan_lengths.size);
}

/* Many exceptions of about one size, such as the steps of a timer whose thread had to wait for its turn. */
static void consider_split(
	struct store_codec_plan *plan, const struct store_codec_widths *widths, unsigned count)
{
	const uint16_t *bins = widths->bins;
	const unsigned widest = widths->widest;
	size_t limit = plan->size - plan->size / STORE_CODEC_SPLIT_SHARE;
	unsigned above = 0, bits = 0; /* which those above have there: PACKED takes as many at least */

	for (unsigned width = widest; width-- > widths->lowest;) {
		struct store_codec_packed second;
		size_t size, slow;

		above += bins[width + 1];
		bits += above;
		if (above > UINT8_MAX)
			break;
		size = 3 + store_bits_size(width, count) + store_codec_where_size(count, above);
		slow = above / STORE_CODEC_SPLIT_EACH;
		if (size + slow + 2 + bits / 8 >= limit)
			continue;
		second = store_codec_plan_widths(bins + width, widest - width, 0, above);
		if (size + slow + second.size >= limit)
			continue;
		limit = size + slow + second.size;
		plan->packing = PACKING_SPLIT;
		plan->width = (uint8_t)width;
		plan->exceptions = (uint8_t)above;
		plan->second_width = (uint8_t)second.width;
		plan->second_exceptions = (uint8_t)second.exceptions;
		plan->size = (uint32_t)(size + second.size);
	}
}

static inline struct store_codec_plan plan_of(const uint64_t *values, unsigned count)
{
	struct store_codec_plan plan = {.packing = PACKING_CONST, .size = 2};
	struct store_codec_packed packed;
	struct store_codec_widths widths;

	plan.runs = (uint16_t)count_runs(values, count);
	if (plan.runs == 1)
		return plan;
	store_codec_count(&widths, values, count);
	packed = store_codec_plan_widths(widths.bins, widths.widest, widths.lowest, count);
	plan.packing = PACKING_PACKED;
	plan.width = (uint8_t)packed.width;
	plan.exceptions = (uint8_t)packed.exceptions;
	plan.size = (uint32_t)(1 + packed.size);
	if (plan.size > 1 + 8 * count) {
		plan.packing = PACKING_RAW;
		plan.size = 1 + 8 * count;
	}
	consider_split(&plan, &widths, count);
	if (plan.runs < count / 2)
		consider_runs(&plan, values, count);
	return plan;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static struct store_codec_plan plan_wide(const uint64_t *values, unsigned count)
{
	return plan_of(values, count);
}
#endif

struct store_codec_plan store_codec_plan(const uint64_t *values, unsigned count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return plan_wide(values, count);
#endif
	return plan_of(values, count);
}

static void put_runs(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];

	split_runs(values, count, at, lengths);
	store_bytes_put(out, &(uint8_t){(uint8_t)(plan->runs - 1)}, 1);
	store_codec_put_packed(out, at, plan->runs,
		(struct store_codec_packed){.width = plan->width, .exceptions = plan->exceptions});
	store_codec_put_packed(out, lengths, plan->runs,
		(struct store_codec_packed){
			.width = plan->second_width, .exceptions = plan->second_exceptions});
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
	case PACKING_SPLIT:
		put_split(out, values, count, plan);
		break;
	default:
		store_codec_put_packed(out, values, count,
			(struct store_codec_packed){.width = plan->width, .exceptions = plan->exceptions});
	}
}

void store_codec_put_const(struct store_bytes *out, uint64_t value)
{
	store_bytes_put(out, &(uint8_t){PACKING_CONST}, 1);
	store_bytes_put_varint(out, value);
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

bool store_codec_get_const(struct store_input *input, uint64_t *value)
{
	if (input->bad || input->at == input->end || *input->at != PACKING_CONST)
		return false;
	input->at++;
	*value = store_input_varint(input);
	return true;
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
		store_codec_get_packed(input, values, count);
		break;
	case PACKING_RUNS:
		get_runs(input, values, count);
		break;
	case PACKING_RAW:
		raw = store_input_take(input, 8 * (size_t)count);
		if (raw)
			memcpy(values, raw, 8 * (size_t)count);
		break;
	case PACKING_SPLIT:
		get_split(input, values, count);
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
		store_codec_get_packed(input, NULL, count);
		break;
	case PACKING_RUNS:
		head = store_input_take(input, 1);
		if (head && store_codec_get_packed(input, NULL, *head + 1u))
			store_codec_get_packed(input, NULL, *head + 1u);
		break;
	case PACKING_RAW:
		store_input_take(input, 8 * (size_t)count);
		break;
	case PACKING_SPLIT:
		get_split(input, NULL, count);
		break;
	default:
		input->bad = true;
	}
	return !input->bad;
}
