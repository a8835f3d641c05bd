/* SPDX-License-Identifier: Apache-2.0 */
/* codec_packed.c - see codec_packed.h. The width is chosen by a histogram of bit widths. */
#include "store/codec_packed.h"

#include "store/bits.h"
#include "store/wide.h"

#define GROUP 8u      /* values of which mostly none is above */
#define HISTOGRAMS 4u /* counting in turn: the same bin twice in a row would wait for itself */

static unsigned bits_of(uint64_t value)
{
	return 64 - (value ? (unsigned)__builtin_clzll(value) : 64);
}

/* Sixteen values in a vector: all of a block are asked for each width in the time that takes one by one to
 * their bins. */
typedef uint16_t lanes __attribute__((vector_size(32), may_alias));
#define NARROW 16u /* bits */
#define VECTORS (STORE_BLOCK_RECORDS * sizeof(uint16_t) / sizeof(lanes))
#define WIDE_FEW 64u /* such values are looked for, and counted one by one */

static inline unsigned sum_of(const lanes *vector)
{
	uint64_t quarters[sizeof(lanes) / 8], sum;

	memcpy(quarters, vector, sizeof quarters);
	/* No lane counts above 16, so that no sum of 16 bits runs over into the next one. */
	sum = quarters[0] + quarters[1] + quarters[2] + quarters[3];
	return (unsigned)(sum * UINT64_C(0x0001000100010001) >> 48);
}

/* Bins 0..widest of a block, 16 at most: what is wider counts as 16 bits. */
static inline void count_narrow(const uint64_t *values, unsigned widest, uint16_t *bins)
{
	uint16_t narrow[STORE_BLOCK_RECORDS] __attribute__((aligned(sizeof(lanes))));
	unsigned above = 0;

	for (unsigned v = 0; v < STORE_BLOCK_RECORDS; v++)
		narrow[v] = (uint16_t)values[v];
	for (unsigned v = 0; v < STORE_BLOCK_RECORDS && widest > NARROW; v++)
		narrow[v] = values[v] > UINT16_MAX ? UINT16_MAX : narrow[v];
	for (unsigned width = widest < NARROW ? widest : NARROW; width-- > 0;) {
		lanes within = {0};
		unsigned wider;

#pragma GCC unroll 16
		for (unsigned v = 0; v < VECTORS; v++)
			within -= (lanes)(((const lanes *)narrow)[v] >> (uint16_t)width == 0);
		wider = STORE_BLOCK_RECORDS - sum_of(&within);
		bins[width + 1] = (uint16_t)(wider - above);
		above = wider;
	}
	bins[0] = (uint16_t)(STORE_BLOCK_RECORDS - above);
}

static inline void count_each(const uint64_t *values, unsigned count, unsigned widest, uint16_t *bins)
{
	uint16_t partial[HISTOGRAMS][STORE_CODEC_BINS];
	unsigned i = 0;

	for (unsigned h = 0; h < HISTOGRAMS; h++)
		memset(partial[h], 0, (widest + 1) * sizeof **partial);
	for (; i + HISTOGRAMS <= count; i += HISTOGRAMS)
		for (unsigned h = 0; h < HISTOGRAMS; h++)
			partial[h][bits_of(values[i + h])]++;
	for (; i < count; i++)
		partial[0][bits_of(values[i])]++;
	for (unsigned b = 0; b <= widest; b++)
		bins[b] = (uint16_t)(partial[0][b] + partial[1][b] + partial[2][b] + partial[3][b]);
}

static inline void count_wide(const uint64_t *values, unsigned widest, uint16_t *bins)
{
	for (unsigned b = NARROW + 1; b <= widest; b++)
		bins[b] = 0;
	for (unsigned v = 0; v < STORE_BLOCK_RECORDS; v++)
		if (values[v] > UINT16_MAX) {
			bins[NARROW]--;
			bins[bits_of(values[v])]++;
		}
}

static inline unsigned count_widths(const uint64_t *values, unsigned count, uint16_t *bins)
{
	uint64_t all = 0;
	unsigned widest;

	for (unsigned v = 0; v < count; v++)
		all |= values[v];
	widest = bits_of(all);
	if (count < STORE_BLOCK_RECORDS) {
		count_each(values, count, widest, bins);
		return widest;
	}
	count_narrow(values, widest, bins);
	if (widest > NARROW && bins[NARROW] <= WIDE_FEW)
		count_wide(values, widest, bins);
	else if (widest > NARROW)
		count_each(values, count, widest, bins);
	return widest;
}

#ifdef STORE_HAS_WIDE
STORE_WIDE static unsigned count_widths_wide(const uint64_t *values, unsigned count, uint16_t *bins)
{
	return count_widths(values, count, bins);
}
#endif

unsigned store_codec_widths(const uint64_t *values, unsigned count, uint16_t *bins)
{
#ifdef STORE_HAS_WIDE
	if (store_is_wide())
		return count_widths_wide(values, count, bins);
#endif
	return count_widths(values, count, bins);
}

struct store_codec_packed store_codec_plan_widths(const uint16_t *bins, unsigned widest, unsigned count)
{
	struct store_codec_packed best = {.width = widest, .size = 2 + store_bits_size(widest, count)};
	unsigned above = 0;

	for (unsigned width = widest; width-- > 0;) {
		size_t size;

		above += bins[width + 1];
		if (above > UINT8_MAX || above >= best.size)
			break;
		size = 2 + store_bits_size(width, count) + above * (1 + (size_t)(widest - width + 6) / 7);
		if (size < best.size)
			best = (struct store_codec_packed){.width = width, .exceptions = above, .size = size};
	}
	return best;
}

struct store_codec_packed store_codec_plan_packed(const uint64_t *values, unsigned count)
{
	uint16_t bins[STORE_CODEC_BINS];
	unsigned widest = store_codec_widths(values, count, bins);

	return store_codec_plan_widths(bins, widest, count);
}

unsigned store_codec_above(uint8_t *positions, const uint64_t *values, unsigned count, unsigned width)
{
	unsigned found = 0, i = 0;

	for (; i + GROUP <= count; i += GROUP) {
		uint64_t any = 0;

		for (unsigned v = i; v < i + GROUP; v++)
			any |= values[v];
		for (unsigned v = i; any >> width && v < i + GROUP; v++) {
			positions[found] = (uint8_t)v;
			found += values[v] >> width != 0;
		}
	}
	for (; i < count; i++) {
		positions[found] = (uint8_t)i;
		found += values[i] >> width != 0;
	}
	return found;
}

static void put_exceptions(struct store_bytes *out, const uint64_t *values, unsigned count, unsigned width)
{
	uint8_t positions[STORE_BLOCK_RECORDS];
	unsigned found = store_codec_above(positions, values, count, width);

	store_bytes_put(out, positions, found);
	for (unsigned i = 0; i < found; i++)
		store_bytes_put_varint(out, values[positions[i]] >> width);
}

void store_codec_put_packed(
	struct store_bytes *out, const uint64_t *values, unsigned count, struct store_codec_packed plan)
{
	uint8_t *to = store_bytes_reserve(out, 2 + store_bits_size(plan.width, count));

	if (!to)
		return;
	to[0] = (uint8_t)plan.width;
	to[1] = (uint8_t)plan.exceptions;
	store_bits_put(to + 2, values, count, plan.width);
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

bool store_codec_get_packed(struct store_input *input, uint64_t *values, unsigned count)
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
	if (values)
		store_bits_get(bits, values, count, width);
	return !head[1] || get_exceptions(input, values, count, width, head[1]);
}
