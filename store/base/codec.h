/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - up to 256 unsigned integers to few bytes and back. What the integers mean (deltas,
 * dictionary indices, residuals) is chunk.c's affair; here only their size counts.
 *
 *   body    | packing u8 | ...
 *   CONST   varint                                    all are equal
 *   PACKED  width u8, exceptions u8, bits, positions u8 x e, high parts varint x e
 *   RUNS    runs - 1 u8, PACKED of the values, PACKED of the lengths - 1
 *   RAW     u64 x count
 *   SPLIT   width u8, exceptions u8, bits, where, PACKED of what is above, for each exception
 *           where: positions u8 x e, or a bit for each value, whatever is less
 *
 * PACKED is patched frame-of-reference: each value's low `width` bits, and for the few that do not
 * fit, their position and what is above. 256 values lie in eight lanes of 32 bits, so that vector
 * registers of 128 to 512 bits read them as they lie: value i in lane i % 8, row i / 8; a lane's rows
 * fill 32-bit words from the lowest bit; word k of lane l is the (8 k + l)th. Widths above 32 are two such
 * packs, the low 32 bits first. Fewer than 256 values are one string of bits, lowest first.
 */
#ifndef STORE_CODEC_H
#define STORE_CODEC_H

#include "store/base/bytes.h"

#define STORE_BLOCK_RECORDS 256u

/* How a set of values would be packed best, and the bytes that takes: exact but for exceptions of mixed
 * sizes, for which it is an upper bound. */
struct store_codec_plan {
	uint8_t packing;
	uint8_t width, exceptions;
	uint8_t second_width, second_exceptions; /* RUNS: of the lengths; SPLIT: of what is above */
	uint16_t runs;
	uint32_t size;
};
/* 1 <= count <= 256. */
struct store_codec_plan store_codec_plan(const uint64_t *values, unsigned count);
/* Puts the body that was planned for these values. */
void store_codec_put_planned(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan);
void store_codec_put(struct store_bytes *out, const uint64_t *values, unsigned count);
/* One whose values are all the same, however many they are. */
void store_codec_put_const(struct store_bytes *out, uint64_t value);
/* Reads a body of `count` values; false and input->bad when its bytes are not one. */
bool store_codec_get(struct store_input *input, uint64_t *values, unsigned count);
/* The same where all values are one, and that is said: true, and it in *value; else nothing is read. */
bool store_codec_get_const(struct store_input *input, uint64_t *value);
/* Passes over it. */
bool store_codec_skip(struct store_input *input, unsigned count);

#endif
