/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - the growing buffer, and reads that are not worth inlining.
 */
#include "store/base/bytes.h"

#include <stdlib.h>

#include "store/base/hash.h"

#define BYTES_FIRST 256u
#define VARINT_MAX_BYTES 10

void store_bytes_fini(struct store_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct store_bytes){0};
}

bool store_bytes_grow(struct store_bytes *bytes, size_t more)
{
	size_t capacity = bytes->capacity ? bytes->capacity : BYTES_FIRST;
	uint8_t *data;

	if (bytes->failed || more > SIZE_MAX / 4 || bytes->size > SIZE_MAX / 4) {
		bytes->failed = true;
		return false;
	}
	while (capacity < bytes->size + more)
		capacity *= 2;
	data = realloc(bytes->data, capacity);
	if (!data) {
		bytes->failed = true;
		return false;
	}
	bytes->data = data;
	bytes->capacity = capacity;
	return true;
}

void store_bytes_put_varint(struct store_bytes *bytes, uint64_t value)
{
	uint8_t *to = store_bytes_reserve(bytes, VARINT_MAX_BYTES);

	if (!to)
		return;
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	bytes->size = (size_t)(to - bytes->data);
}

void store_bytes_begin_sealed(struct store_bytes *bytes)
{
	bytes->size = 0;
	if (store_bytes_reserve(bytes, STORE_SEAL_BYTES))
		bytes->size = STORE_SEAL_BYTES;
}

/* The key seeds the seal, so that a value found under another's key is damage too. */
static uint32_t seal_of(const uint8_t *payload, size_t size, const void *key, size_t key_size)
{
	return (uint32_t)store_hash64(payload, size, store_hash64(key, key_size, 0));
}

void store_bytes_seal(struct store_bytes *bytes, const void *key, size_t key_size)
{
	uint32_t seal;

	if (bytes->failed)
		return;
	seal = seal_of(bytes->data + STORE_SEAL_BYTES, bytes->size - STORE_SEAL_BYTES, key, key_size);
	memcpy(bytes->data, &seal, sizeof seal);
}

struct store_input store_input_peek(struct store_slice value)
{
	struct store_input input = {.at = value.bytes, .end = value.bytes + value.size};

	input.bad = value.size < STORE_SEAL_BYTES;
	input.at += input.bad ? 0 : STORE_SEAL_BYTES;
	return input;
}

struct store_input store_input_sealed(struct store_slice value, const void *key, size_t key_size)
{
	struct store_input input = store_input_peek(value);

	if (!input.bad)
		input.bad = !store_sum_fits(store_load32(value.bytes),
			seal_of(input.at, value.size - STORE_SEAL_BYTES, key, key_size));
	return input;
}

bool store_is_sealed(struct store_slice key, struct store_slice value)
{
	return !store_input_sealed(value, key.bytes, key.size).bad;
}

uint64_t store_input_varint_long(struct store_input *input)
{
	uint64_t value = 0;

	if (!input->bad && input->end - input->at >= 8) {
		uint64_t eight = store_load64(input->at), ends = ~eight & 0x8080808080808080u;

		if (ends) {
			input->at += ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
			return store_squeeze(eight & (ends ^ (ends - 1)));
		}
	}
	/* Two bytes are what most of them have. */
	if (!input->bad && input->end - input->at >= 2 && input->at[0] >= 0x80 && input->at[1] < 0x80) {
		value = (input->at[0] & 0x7fu) | (uint64_t)input->at[1] << 7;
		input->at += 2;
		return value;
	}
	for (unsigned shift = 0; !input->bad && input->at < input->end; shift += 7) {
		uint8_t byte = *input->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	input->bad = true;
	return 0;
}

static void put_pair(char at[2], unsigned number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	memcpy(at, pairs + 2 * (size_t)number, 2);
}

/* `out` has room for the longest number: copies a fixed size, including bytes behind the last digit. */
size_t store_decimal_put(char out[STORE_DECIMAL_BYTES], uint64_t number)
{
	char digits[2 * STORE_DECIMAL_BYTES] = {0};
	size_t first = STORE_DECIMAL_BYTES;

	if (number < 10) {
		*out = (char)('0' + number);
		return 1;
	}
	for (; number >= 100; number /= 100)
		put_pair(&digits[first -= 2], (unsigned)(number % 100));
	put_pair(&digits[first -= 2], (unsigned)number);
	first += number < 10;
	memcpy(out, digits + first, STORE_DECIMAL_BYTES);
	return STORE_DECIMAL_BYTES - first;
}
