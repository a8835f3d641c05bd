/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - integers to bits and back. The packing is chosen by a histogram of bit widths; reading
 * checks every length before it believes it, because the bytes may be anybody's.
 */
#include "store/codec.h"

#define LANES 8u
#define ROWS (STORE_BLOCK_RECORDS / LANES)

enum packing { PACKING_CONST, PACKING_PACKED, PACKING_RUNS, PACKING_RAW, PACKING_COUNT };

/* How a set of values would be PACKED best. */
struct plan {
	unsigned width;
	unsigned exceptions;
	size_t size;
};

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* Bytes that the low `width` bits of `count` values take. */
static size_t packed_bytes(unsigned width, unsigned count)
{
	return ((size_t)width * count + 7) / 8;
}

/* ---- 256 values in eight lanes ---- */

static void lanes_pack(uint8_t *to, const uint32_t *from, unsigned width)
{
	uint32_t word[LANES] = {0}, mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
	unsigned used = 0;

	for (unsigned row = 0; row < ROWS && width; row++, from += LANES) {
		for (unsigned l = 0; l < LANES; l++)
			word[l] |= (from[l] & mask) << used;
		used += width;
		if (used < 32)
			continue;
		memcpy(to, word, sizeof word);
		to += sizeof word;
		used -= 32;
		for (unsigned l = 0; l < LANES; l++)
			word[l] = used ? (from[l] & mask) >> (width - used) : 0;
	}
}

static void lanes_unpack(const uint8_t *from, uint32_t *to, unsigned width)
{
	uint32_t word[LANES], next[LANES], mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
	unsigned used = 32;

	if (!width) {
		memset(to, 0, STORE_BLOCK_RECORDS * sizeof *to);
		return;
	}
	memset(next, 0, sizeof next);
	for (unsigned row = 0; row < ROWS; row++, to += LANES) {
		if (used == 32) {
			memcpy(next, from, sizeof next);
			from += sizeof next;
			used = 0;
		}
		for (unsigned l = 0; l < LANES; l++)
			word[l] = next[l] >> used;
		if (used + width > 32) {
			memcpy(next, from, sizeof next);
			from += sizeof next;
			for (unsigned l = 0; l < LANES; l++)
				word[l] |= next[l] << (32 - used);
			used = used + width - 32;
		} else {
			used += width;
		}
		for (unsigned l = 0; l < LANES; l++)
			to[l] = word[l] & mask;
	}
}

static void block_pack(uint8_t *to, const uint64_t *values, unsigned width)
{
	uint32_t half[STORE_BLOCK_RECORDS];
	unsigned low = width < 32 ? width : 32;

	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		half[i] = (uint32_t)values[i];
	lanes_pack(to, half, low);
	if (width <= 32)
		return;
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		half[i] = (uint32_t)(values[i] >> 32);
	lanes_pack(to + packed_bytes(32, STORE_BLOCK_RECORDS), half, width - 32);
}

static void block_unpack(const uint8_t *from, uint64_t *values, unsigned width)
{
	uint32_t half[STORE_BLOCK_RECORDS];

	lanes_unpack(from, half, width < 32 ? width : 32);
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		values[i] = half[i];
	if (width <= 32)
		return;
	lanes_unpack(from + packed_bytes(32, STORE_BLOCK_RECORDS), half, width - 32);
	for (unsigned i = 0; i < STORE_BLOCK_RECORDS; i++)
		values[i] |= (uint64_t)half[i] << 32;
}

/* ---- fewer than 256 values: a string of bits ---- */

static void string_pack(uint8_t *to, const uint64_t *values, unsigned count, unsigned width)
{
	size_t bit = 0;

	memset(to, 0, packed_bytes(width, count));
	for (unsigned i = 0; i < count; i++) {
		for (unsigned done = 0; done < width;) {
			unsigned room = 8 - bit % 8, take = width - done < room ? width - done : room;

			to[bit / 8] |= (uint8_t)((values[i] >> done & ((1u << take) - 1)) << bit % 8);
			done += take;
			bit += take;
		}
	}
}

static void string_unpack(const uint8_t *from, uint64_t *values, unsigned count, unsigned width)
{
	size_t bit = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t value = 0;

		for (unsigned done = 0; done < width;) {
			unsigned room = 8 - bit % 8, take = width - done < room ? width - done : room;

			value |= (uint64_t)(from[bit / 8] >> bit % 8 & ((1u << take) - 1)) << done;
			done += take;
			bit += take;
		}
		values[i] = value;
	}
}

/* ---- PACKED ---- */

/* The width for which bits and exceptions together are smallest. */
static struct plan plan_packed(const uint64_t *values, unsigned count)
{
	unsigned histogram[65] = {0}, widest = 0, above = 0;
	struct plan best;

	for (unsigned i = 0; i < count; i++)
		histogram[bits_of(values[i])]++;
	for (unsigned b = 0; b <= 64; b++)
		if (histogram[b])
			widest = b;
	best = (struct plan){.width = widest, .size = 2 + packed_bytes(widest, count)};
	for (unsigned width = widest; width-- > 0;) {
		size_t size;

		above += histogram[width + 1];
		if (above > UINT8_MAX)
			break;
		size = 2 + packed_bytes(width, count) + above * (1 + (size_t)(widest - width + 6) / 7);
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
	uint8_t *to = store_bytes_reserve(out, 2 + packed_bytes(plan.width, count));

	if (!to)
		return;
	to[0] = (uint8_t)plan.width;
	to[1] = (uint8_t)plan.exceptions;
	if (count == STORE_BLOCK_RECORDS)
		block_pack(to + 2, values, plan.width);
	else
		string_pack(to + 2, values, count, plan.width);
	out->size += 2 + packed_bytes(plan.width, count);
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
	bits = store_input_take(input, packed_bytes(width, count));
	if (!bits)
		return false;
	if (values && count == STORE_BLOCK_RECORDS)
		block_unpack(bits, values, width);
	else if (values)
		string_unpack(bits, values, count, width);
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

static bool get_runs(struct store_input *input, uint64_t *values, unsigned count)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];
	const uint8_t *head = store_input_take(input, 1);
	unsigned runs = head ? *head + 1u : 0, filled = 0;

	if (!runs || !get_packed(input, at, runs) || !get_packed(input, lengths, runs))
		return false;
	for (unsigned run = 0; run < runs; run++) {
		if (lengths[run] >= count - filled) {
			input->bad = true;
			return false;
		}
		for (uint64_t i = 0; i <= lengths[run]; i++)
			values[filled++] = at[run];
	}
	input->bad = filled != count;
	return !input->bad;
}

/* ---- the choice ---- */

struct choice {
	enum packing packing;
	unsigned runs;
	struct plan plan, lengths;
	size_t size;
};

static void consider_runs(struct choice *choice, const uint64_t *values, unsigned count)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];
	struct plan plan_at, plan_lengths;

	split_runs(values, count, at, lengths);
	plan_at = plan_packed(at, choice->runs);
	plan_lengths = plan_packed(lengths, choice->runs);
	if (2 + plan_at.size + plan_lengths.size >= choice->size)
		return;
	choice->packing = PACKING_RUNS;
	choice->plan = plan_at;
	choice->lengths = plan_lengths;
	choice->size = 2 + plan_at.size + plan_lengths.size;
}

static struct choice choose(const uint64_t *values, unsigned count)
{
	struct choice choice = {.packing = PACKING_CONST, .size = 2, .runs = count_runs(values, count)};

	if (choice.runs == 1)
		return choice;
	choice.plan = plan_packed(values, count);
	choice.packing = PACKING_PACKED;
	choice.size = 1 + choice.plan.size;
	if (choice.size > 1 + 8 * (size_t)count) {
		choice.packing = PACKING_RAW;
		choice.size = 1 + 8 * (size_t)count;
	}
	if (choice.runs < count / 2)
		consider_runs(&choice, values, count);
	return choice;
}

size_t store_codec_cost(const uint64_t *values, unsigned count)
{
	return choose(values, count).size;
}

static void put_runs(struct store_bytes *out, const uint64_t *values, unsigned count, struct choice choice)
{
	uint64_t at[STORE_BLOCK_RECORDS], lengths[STORE_BLOCK_RECORDS];

	split_runs(values, count, at, lengths);
	store_bytes_put(out, &(uint8_t){(uint8_t)(choice.runs - 1)}, 1);
	put_packed(out, at, choice.runs, choice.plan);
	put_packed(out, lengths, choice.runs, choice.lengths);
}

void store_codec_put(struct store_bytes *out, const uint64_t *values, unsigned count)
{
	struct choice choice = choose(values, count);

	store_bytes_put(out, &(uint8_t){(uint8_t)choice.packing}, 1);
	switch (choice.packing) {
	case PACKING_CONST:
		store_bytes_put_varint(out, values[0]);
		break;
	case PACKING_RUNS:
		put_runs(out, values, count, choice);
		break;
	case PACKING_RAW:
		store_bytes_put(out, values, 8 * (size_t)count);
		break;
	default:
		put_packed(out, values, count, choice.plan);
	}
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
