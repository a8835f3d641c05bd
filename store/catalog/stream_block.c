/* SPDX-License-Identifier: Apache-2.0 */
/* stream_block.c - see stream_block.h. */
#include "store/catalog/stream_block.h"

#include <stddef.h>

#include "store/base/codec.h"

_Static_assert(STORE_STREAM_DENSE == STORE_BLOCK_RECORDS, "a column is one body");

/* struct store_stream as columns: numbers of four bytes first, then those of eight. */
#define SHORT 12u
#define LONG 17u
#define COLUMNS (SHORT + LONG)
#define LONG_AT (SHORT * sizeof(uint32_t))
_Static_assert(offsetof(struct store_stream, begin_ns) == LONG_AT, "the first of eight bytes");
_Static_assert(sizeof(struct store_stream) == LONG_AT + LONG * sizeof(uint64_t), "and no gaps");
_Static_assert(STORE_TRACK_COUNT == 3 && sizeof(enum store_stream_kind) == sizeof(uint32_t), "");

enum { KIND, HOST, PID = 3, TID = 9, NAME, DEVICE_NAME, BEGIN, END, COMPLETE = 19, THINNED = 25 };
enum { PLAIN, STEP, BESIDE };

static inline uint64_t number_of(const struct store_stream *stream, unsigned column)
{
	const char *bytes = (const char *)stream;
	uint64_t number;
	uint32_t four;

	if (column >= SHORT) {
		memcpy(&number, bytes + LONG_AT + (column - SHORT) * sizeof number, sizeof number);
		return number;
	}
	memcpy(&four, bytes + column * sizeof four, sizeof four);
	return four;
}

static char *place_of(struct store_stream *streams, unsigned column)
{
	return (char *)streams +
	       (column < SHORT ? column * sizeof(uint32_t) : LONG_AT + (column - SHORT) * sizeof(uint64_t));
}

/* Each with `base` added; false: some are beyond what a number of four bytes may be. */
static bool scatter_short(char *to, uint32_t count, const uint64_t *numbers, uint64_t base, uint64_t most)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < count; i++, to += sizeof(struct store_stream)) {
		const uint64_t number = numbers[i] + base;
		const uint32_t four = (uint32_t)number;

		largest = number > largest ? number : largest;
		memcpy(to, &four, sizeof four);
	}
	return largest <= most;
}

static void scatter_long(char *to, uint32_t count, const uint64_t *numbers, uint64_t base)
{
	for (uint32_t i = 0; i < count; i++, to += sizeof(struct store_stream)) {
		const uint64_t number = numbers[i] + base;

		memcpy(to, &number, sizeof number);
	}
}

/* A list of many thousand streams spends its time here. */
static bool scatter(struct store_stream *streams, uint32_t count, unsigned column, const uint64_t *numbers,
	uint64_t base, uint64_t most)
{
	char *to = place_of(streams, column);

	if (column < SHORT)
		return scatter_short(to, count, numbers, base, most);
	scatter_long(to, count, numbers, base);
	return true;
}

/* ---- to bytes ---- */

/* Which column this one follows; itself: none. */
static unsigned beside(unsigned column)
{
	if (column == TID)
		return PID;
	if (column == END)
		return BEGIN;
	return column >= COMPLETE && column < COMPLETE + STORE_TRACK_COUNT ? END : column;
}

static void less_least(uint64_t *numbers, uint32_t count, uint64_t *least)
{
	*least = numbers[0];
	for (uint32_t i = 1; i < count; i++)
		*least = (int64_t)(numbers[i] - *least) < 0 ? numbers[i] : *least;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] -= *least;
}

static void put_plain(struct store_bytes *out, const uint64_t *numbers, uint32_t count)
{
	uint64_t body[STORE_STREAM_DENSE] = {0}, least;

	memcpy(body, numbers, count * sizeof *body);
	less_least(body, count, &least);
	store_bytes_put(out, &(uint8_t){PLAIN}, 1);
	store_bytes_put_varint(out, least);
	store_codec_put(out, body, count);
}

/* Two at least. */
static void put_step(struct store_bytes *out, const uint64_t *numbers, uint32_t count)
{
	const uint32_t last = count > 1 ? count - 1 : 1;
	const uint64_t step = (uint64_t)((int64_t)(numbers[last] - numbers[0]) / (int64_t)last);
	uint64_t body[STORE_STREAM_DENSE] = {0};

	for (uint32_t i = 1; i < count; i++)
		body[i] = store_zigzag(numbers[i] - numbers[i - 1] - step);
	store_bytes_put(out, &(uint8_t){STEP}, 1);
	store_bytes_put_varint(out, numbers[0]);
	store_bytes_put_zigzag(out, step);
	store_codec_put(out, body, count);
}

static void put_beside(struct store_bytes *out, const uint64_t *numbers, const struct store_stream *streams,
	uint32_t count, unsigned column)
{
	uint64_t body[STORE_STREAM_DENSE] = {0}, least;

	for (uint32_t i = 0; i < count; i++)
		body[i] = numbers[i] - number_of(&streams[i], column);
	less_least(body, count, &least);
	store_bytes_put(out, (uint8_t[]){BESIDE, (uint8_t)column}, 2);
	store_bytes_put_varint(out, least);
	store_codec_put(out, body, count);
}

/* The shortest way. */
static void put_column(
	struct store_bytes *out, const struct store_stream *streams, uint32_t count, unsigned column)
{
	uint64_t numbers[STORE_STREAM_DENSE] = {0};
	struct store_bytes tries[BESIDE + 1] = {0}, *best = tries;

	for (uint32_t i = 0; i < count; i++)
		numbers[i] = number_of(&streams[i], column);
	put_plain(&tries[PLAIN], numbers, count);
	put_step(&tries[STEP], numbers, count);
	if (beside(column) != column)
		put_beside(&tries[BESIDE], numbers, streams, count, beside(column));
	for (unsigned i = PLAIN; i <= BESIDE; i++) {
		out->failed |= tries[i].failed;
		if (tries[i].size && tries[i].size < best->size)
			best = &tries[i];
	}
	store_bytes_put(out, best->data, best->size);
	for (unsigned i = PLAIN; i <= BESIDE; i++)
		store_bytes_fini(&tries[i]);
}

static uint32_t varying_of(const struct store_stream *streams, uint32_t count)
{
	uint32_t varying = 0;

	for (unsigned column = 0; column < COLUMNS; column++)
		for (uint32_t i = 1; i < count; i++)
			if (number_of(&streams[i], column) != number_of(&streams[0], column)) {
				varying |= UINT32_C(1) << column;
				break;
			}
	return varying;
}

void store_stream_block_put(struct store_bytes *out, const struct store_stream *streams, uint32_t count)
{
	const uint32_t varying = varying_of(streams, count);

	store_bytes_put(out, &(uint8_t){(uint8_t)(count - 1)}, 1);
	store_bytes_put(out, &varying, sizeof varying);
	for (unsigned column = 0; column < COLUMNS; column++)
		if (!(varying >> column & 1))
			store_bytes_put_varint(out, number_of(streams, column));
	for (unsigned column = 0; column < COLUMNS; column++)
		if (varying >> column & 1)
			put_column(out, streams, count, column);
}

/* ---- and back ---- */

/* The largest that a column may hold. */
static uint64_t most_of(unsigned column, uint32_t texts)
{
	if (column == KIND)
		return STORE_STREAM_KINDS - 1;
	if (column == HOST || column == NAME || column == DEVICE_NAME)
		return texts - 1;
	return column < SHORT ? UINT32_MAX : UINT64_MAX;
}

static void add_steps(uint64_t *numbers, uint32_t count, uint64_t first, uint64_t step)
{
	numbers[0] = first;
	for (uint32_t i = 1; i < count; i++)
		numbers[i] = numbers[i - 1] + step + store_unzigzag(numbers[i]);
}

/* Those of threads that were made one behind the other. */
static void even_steps(uint64_t *numbers, uint32_t count, uint64_t first, uint64_t step)
{
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = first + i * step;
}

static void add_beside(uint64_t *numbers, uint32_t count, const struct store_stream *streams, unsigned column)
{
	for (uint32_t i = 0; column < SHORT && i < count; i++)
		numbers[i] += number_of(&streams[i], column);
	for (uint32_t i = 0; column >= SHORT && i < count; i++)
		numbers[i] += number_of(&streams[i], column);
}

static void get_column(struct store_stream *streams, uint32_t count, unsigned column,
	struct store_input *input, uint64_t most)
{
	const uint8_t *how = store_input_take(input, 1), *other = how;
	uint64_t numbers[STORE_STREAM_DENSE], base, step = 0, residual;

	if (how && *how == BESIDE)
		other = store_input_take(input, 1);
	base = store_input_varint(input);
	if (how && *how == STEP)
		step = store_input_zigzag(input);
	if (!how || !other || *how > BESIDE || (*how == BESIDE && *other >= column)) {
		input->bad = true;
		return;
	}
	if (*how == STEP && store_codec_get_const(input, &residual)) {
		even_steps(numbers, count, base, step + store_unzigzag(residual));
		base = 0;
	} else if (!store_codec_get(input, numbers, count)) {
		input->bad = true;
	} else if (*how == STEP) {
		add_steps(numbers, count, base, step);
		base = 0;
	} else if (*how == BESIDE) {
		add_beside(numbers, count, streams, *other);
	}
	if (!input->bad)
		input->bad |= !scatter(streams, count, column, numbers, base, most);
}

/* None has lost more than it had. */
static bool are_sound(const struct store_stream *streams, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			if (streams[i].dropped[track] > (streams[i].thinned_ns ? streams[i].count[track] : 0))
				return false;
	return true;
}

uint32_t store_stream_block_count(struct store_input input)
{
	const uint8_t *count = store_input_take(&input, 1);

	return count ? *count + 1u : 0;
}

static void get_constants(
	struct store_stream *stream, uint32_t varying, struct store_input *input, uint32_t texts)
{
	for (unsigned column = 0; column < COLUMNS; column++) {
		uint64_t number = 0;

		if (!(varying >> column & 1))
			number = store_input_varint(input);
		input->bad |= number > most_of(column, texts);
		scatter(stream, 1, column, &number, 0, UINT64_MAX);
	}
}

uint32_t store_stream_block_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts)
{
	const uint32_t count = store_stream_block_count(*input);
	const uint8_t *head = store_input_take(input, 1 + sizeof(uint32_t));
	uint32_t varying = head ? store_load32(head + 1) : 0;
	struct store_stream same;

	input->bad |= !count || count > room || varying >> COLUMNS;
	if (input->bad)
		return 0;
	get_constants(&same, varying, input, texts);
	for (uint32_t i = 0; i < count; i++)
		streams[i] = same;
	for (unsigned column = 0; column < COLUMNS && !input->bad; column++)
		if (varying >> column & 1)
			get_column(streams, count, column, input, most_of(column, texts));
	/* Of most stores nothing was dropped. */
	if (varying >> THINNED || same.thinned_ns || same.dropped[0] || same.dropped[1] || same.dropped[2])
		input->bad |= !are_sound(streams, count);
	return count;
}
