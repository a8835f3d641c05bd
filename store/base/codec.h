/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - packs up to 256 unsigned integers and unpacks them. What the integers mean (deltas, dictionary
 * indices, residuals) is up to chunk_write.c; here only their size matters.
 *
 *   body    | packing u8 | ...
 *   CONST   varint                                    all are equal
 *   PACKED  width u8, exceptions u8, bits, positions u8 x e, high parts varint x e
 *   RUNS    runs - 1 u8, PACKED of the values, PACKED of the lengths - 1
 *   RAW     u64 x count
 *   SPLIT   width u8, exceptions u8, bits, where, PACKED of the high parts, one per exception
 *           where: positions u8 x e, or a bit for each value, whichever is smaller
 *
 * PACKED is patched frame-of-reference: each value's low `width` bits; the few values that do not fit are
 * exceptions, stored by position and high part. 256 values are in eight lanes of 32 bits, so that vector
 * registers of 128 to 512 bits load them directly: value i is in lane i % 8, row i / 8; a lane's rows fill
 * 32-bit words from the lowest bit; word k of lane l is word 8 k + l. Widths above 32 are two such packs,
 * the low 32 bits first. Fewer than 256 values are one bit string, lowest first.
 */
#ifndef STORE_CODEC_H
#define STORE_CODEC_H

#include "store/base/bytes.h"

#define STORE_BLOCK_RECORDS 256u

/* The best packing of a set of values and its size in bytes: exact, but an upper bound when exceptions
 * differ in size. */
struct store_codec_plan {
	uint8_t packing;
	uint8_t width, exceptions;
	uint8_t second_width, second_exceptions; /* RUNS: of the lengths; SPLIT: of the high parts */
	uint16_t runs;
	uint32_t size;
};
/* 1 <= count <= 256. */
struct store_codec_plan store_codec_plan(const uint64_t *values, unsigned count);
/* Writes the body that was planned for these values. */
void store_codec_put_planned(
	struct store_bytes *out, const uint64_t *values, unsigned count, const struct store_codec_plan *plan);
void store_codec_put(struct store_bytes *out, const uint64_t *values, unsigned count);
/* Writes a body of equal values, of any count. */
void store_codec_put_const(struct store_bytes *out, uint64_t value);
/* Reads a body of `count` values; false and input->bad when the bytes are damaged. */
bool store_codec_get(struct store_input *input, uint64_t *values, unsigned count);
/* Reads a CONST body: true and its value in *value; otherwise reads nothing. */
bool store_codec_get_const(struct store_input *input, uint64_t *value);
/* Skips a body. */
bool store_codec_skip(struct store_input *input, unsigned count);

#endif
