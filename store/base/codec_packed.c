/* SPDX-License-Identifier: Apache-2.0 */
/* codec_packed.c - see codec_packed.h. Chooses the width from a histogram of bit widths. */
#include "store/base/codec_packed.h"

#include "store/base/avx2.h"
#include "store/base/bits.h"

#define GROUP 8u      /* values of which mostly none is above */
#define HISTOGRAMS 4u /* counting in turn: the same bin twice in a row would wait for itself */

static unsigned bits_of(uint64_t value)
{
	return 64 - (value ? (unsigned)__builtin_clzll(value) : 64);
}

/* Sixteen values in a vector: all of a block are compared with a width at once. Their highest bit is turned
 * over, since vectors compare signed numbers. */
typedef int16_t lanes __attribute__((vector_size(32), may_alias));
#define NARROW 16u /* bits */
#define VECTORS (STORE_BLOCK_RECORDS * sizeof(int16_t) / sizeof(lanes))
#define WIDE_FEW 64u /* such values are looked for, and counted one by one */

struct narrow {
	int16_t values[STORE_BLOCK_RECORDS] __attribute__((aligned(sizeof(lanes))));
};

static inline unsigned sum_of(const lanes *vector)
{
	uint64_t quarters[sizeof(lanes) / 8], sum;

	memcpy(quarters, vector, sizeof quarters);
	/* No lane counts above 16, so that no sum of 16 bits runs over into the next one. */
	sum = quarters[0] + quarters[1] + quarters[2] + quarters[3];
	return (unsigned)(sum * UINT64_C(0x0001000100010001) >> 48);
}

/* What is wider counts as 16 bits. */
static inline void make_narrow(struct narrow *narrow, const uint64_t *values, unsigned widest)
{
	for (unsigned v = 0; v < STORE_BLOCK_RECORDS; v++)
		narrow->values[v] = (int16_t)(values[v] ^ INT16_MIN);
	for (unsigned v = 0; v < STORE_BLOCK_RECORDS && widest > NARROW; v++)
		narrow->values[v] = values[v] > UINT16_MAX ? INT16_MAX : narrow->values[v];
}

/* How many have a bit above `width` < 16. */
static inline unsigned count_above(const struct narrow *narrow, unsigned width)
{
	const lanes limit = (lanes){0} + (int16_t)(((1u << width) - 1) ^ INT16_MIN);
	lanes wider = {0};

#pragma GCC unroll 16
	for (unsigned v = 0; v < VECTORS; v++)
		wider -= (lanes)(((const lanes *)narrow->values)[v] > limit);
	return sum_of(&wider);
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
		if (values[v] > UINT16_MAX)
			bins[bits_of(values[v])]++;
}

/* A search for the best width that goes from the widest down. */
struct search {
	unsigned widest, width;
	unsigned above, bits; /* values above that width; bits that those have there */
	size_t least;	      /* bytes PACKED, so far */
};

/* May a smaller width still be better? Below, no fewer values are above, and they have no fewer bits there.
 */
static inline bool is_open(const struct search *search)
{
	const unsigned above = search->above, count = STORE_BLOCK_RECORDS;
	unsigned bytes = (search->widest - search->width) / 7 + 1, width;
	size_t split;

	if (above > UINT8_MAX)
		return false;
	split = 5 + store_codec_where_size(count, above) + above / STORE_CODEC_SPLIT_EACH +
		(search->bits + search->width * above) / 8;
	if (split < search->least + 1 - (search->least + 1) / STORE_CODEC_SPLIT_SHARE)
		return true;
	do { /* the smallest width for each number of bytes that an exception takes */
		width = search->widest > 7 * bytes ? search->widest - 7 * bytes : 0;
		if (2 + store_bits_size(width, count) + above * (1 + (size_t)bytes) < search->least)
			return true;
		bytes++;
	} while (width);
	return false;
}

static size_t packed_size(unsigned widest, unsigned width, unsigned count, unsigned above)
{
	return 2 + store_bits_size(width, count) + above * (1 + (size_t)(widest - width + 6) / 7);
}

/* Bins of a block's values, from the widest down, as far as they matter; those above 16 bits are there. */
static inline void count_down(struct store_codec_widths *widths, const struct narrow *narrow)
{
	struct search search = {.widest = widths->widest,
		.width = widths->widest,
		.least = packed_size(widths->widest, widths->widest, STORE_BLOCK_RECORDS, 0)};

	while (search.width > 0 && is_open(&search)) {
		unsigned above, width = --search.width;
		size_t size;

		above = width < NARROW ? count_above(narrow, width) : search.above + widths->bins[width + 1];
		widths->bins[width + 1] = (uint16_t)(above - search.above);
		search.above = above;
		search.bits += above;
		size = packed_size(search.widest, width, STORE_BLOCK_RECORDS, above);
		search.least = size < search.least ? size : search.least;
	}
	widths->lowest = search.width;
}

static inline void count_widths(struct store_codec_widths *widths, const uint64_t *values, unsigned count)
{
	struct narrow narrow;
	uint64_t all = 0;

	for (unsigned v = 0; v < count; v++)
		all |= values[v];
	widths->widest = bits_of(all);
	widths->lowest = 0;
	if (count == STORE_BLOCK_RECORDS) {
		make_narrow(&narrow, values, widths->widest);
		if (widths->widest <= NARROW || count_above(&narrow, NARROW - 1) <= WIDE_FEW) {
			if (widths->widest > NARROW)
				count_wide(values, widths->widest, widths->bins);
			count_down(widths, &narrow);
			return;
		}
	}
	count_each(values, count, widths->widest, widths->bins);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void count_widths_wide(
	struct store_codec_widths *widths, const uint64_t *values, unsigned count)
{
	count_widths(widths, values, count);
}
#endif

void store_codec_count(struct store_codec_widths *widths, const uint64_t *values, unsigned count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		count_widths_wide(widths, values, count);
		return;
	}
#endif
	count_widths(widths, values, count);
}

struct store_codec_packed store_codec_plan_widths(
	const uint16_t *bins, unsigned widest, unsigned lowest, unsigned count)
{
	struct store_codec_packed best = {.width = widest, .size = packed_size(widest, widest, count, 0)};
	unsigned above = 0;

	for (unsigned width = widest; width-- > lowest;) {
		size_t size;

		above += bins[width + 1];
		if (above > UINT8_MAX || above >= best.size)
			break;
		size = packed_size(widest, width, count, above);
		if (size < best.size)
			best = (struct store_codec_packed){.width = width, .exceptions = above, .size = size};
	}
	return best;
}

struct store_codec_packed store_codec_plan_packed(const uint64_t *values, unsigned count)
{
	struct store_codec_widths widths;

	store_codec_count(&widths, values, count);
	return store_codec_plan_widths(widths.bins, widths.widest, widths.lowest, count);
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
