/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - writes and reads little-endian bytes: a buffer that grows, and an input that never reads past
 * its end. Both remember a failure, so that a caller checks once at the end. Every stored value is built
 * here.
 *
 *   varint   7 bits a byte, lowest first, high bit = more follow; at most 10 bytes
 *   zigzag   0 -1 1 -2 ... as 0 1 2 3 ...
 *   sealed   u32 low half of XXH3-64(payload, seed = XXH3-64(key)), payload
 */
#ifndef STORE_BYTES_H
#define STORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the store's integers are read in place: little-endian machines only"
#endif

#define STORE_SEAL_BYTES 4u

/* True when the checksums are equal. Fuzzing builds always return true, to reach the code behind the check.
 */
static inline bool store_sum_fits(uint64_t stored, uint64_t computed)
{
#ifdef STORE_TRUSTS_SEALS
	(void)stored, (void)computed;
	return true;
#else
	return stored == computed;
#endif
}

/* Bytes owned elsewhere: in the map, in a buffer. */
struct store_slice {
	const uint8_t *bytes;
	size_t size;
};

/* All-zero is an empty buffer. After `failed` every put does nothing. */
struct store_bytes {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
};

void store_bytes_fini(struct store_bytes *bytes);
bool store_bytes_grow(struct store_bytes *bytes, size_t more); /* keeps the memory for the next value */
/* Reserves `more` bytes behind `size`; NULL (and failed) without memory. */
static inline uint8_t *store_bytes_reserve(struct store_bytes *bytes, size_t more)
{
	if ((bytes->failed || bytes->capacity - bytes->size < more || !bytes->data) &&
		!store_bytes_grow(bytes, more))
		return NULL;
	return bytes->data + bytes->size;
}
static inline void store_bytes_put(struct store_bytes *bytes, const void *from, size_t size)
{
	uint8_t *to = store_bytes_reserve(bytes, size);

	if (!to || !size)
		return;
	memcpy(to, from, size);
	bytes->size += size;
}
void store_bytes_put_varint(struct store_bytes *bytes, uint64_t value);

/* Empties the buffer and leaves room for the seal, which store_bytes_seal() fills in. */
void store_bytes_begin_sealed(struct store_bytes *bytes);
void store_bytes_seal(struct store_bytes *bytes, const void *key, size_t key_size);

/* The bytes not yet read. After `bad` every get returns 0. */
struct store_input {
	const uint8_t *at, *end;
	bool bad;
};

/* The payload of a sealed value; bad when the seal is wrong. */
struct store_input store_input_sealed(struct store_slice value, const void *key, size_t key_size);
/* True when the value was sealed under that key (store_tree_cursor.fits). */
bool store_is_sealed(struct store_slice key, struct store_slice value);
/* The same without checking the seal; the caller checks it later. */
struct store_input store_input_peek(struct store_slice value);
/* The slow path: a varint of more than one byte. */
uint64_t store_input_varint_long(struct store_input *input);

static inline uint64_t store_zigzag(uint64_t value)
{
	return value << 1 ^ (0 - (value >> 63));
}

static inline void store_bytes_put_zigzag(struct store_bytes *bytes, uint64_t value)
{
	store_bytes_put_varint(bytes, store_zigzag(value));
}

/* `size` bytes of the input, NULL when there are fewer. */
static inline const uint8_t *store_input_take(struct store_input *input, size_t size)
{
	const uint8_t *at = input->at;

	if (input->bad || size > (size_t)(input->end - at)) {
		input->bad = true;
		return NULL;
	}
	input->at += size;
	return at;
}

/* Joins eight groups of seven bits; groups behind the last byte are 0. */
static inline uint64_t store_squeeze(uint64_t sevens)
{
	sevens = (sevens & 0x007f007f007f007fu) | (sevens & 0x7f007f007f007f00u) >> 1;
	sevens = (sevens & 0x00003fff00003fffu) | (sevens & 0x3fff00003fff0000u) >> 2;
	return (sevens & 0x000000000fffffffu) | (sevens & 0x0fffffff00000000u) >> 4;
}

static inline uint64_t store_input_varint(struct store_input *input)
{
	/* The analyzer takes the slow path's result for null. */
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (!input->bad && input->at < input->end && *input->at < 0x80)
		return *input->at++;
	return store_input_varint_long(input);
}

static inline uint64_t store_unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static inline uint64_t store_input_zigzag(struct store_input *input)
{
	return store_unzigzag(store_input_varint(input));
}

/* A varint that must fit 32 bits. */
static inline uint32_t store_input_u32(struct store_input *input)
{
	uint64_t value = store_input_varint(input);

	if (value > UINT32_MAX)
		input->bad = true;
	return (uint32_t)value;
}

static inline uint16_t store_load16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static inline uint32_t store_load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static inline uint64_t store_load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

#define STORE_DECIMAL_BYTES 20u
/* Writes the number's decimal digits without a NUL and returns their count. Hot: rows by the million use it.
 */
size_t store_decimal_put(char out[STORE_DECIMAL_BYTES], uint64_t number);

#endif
