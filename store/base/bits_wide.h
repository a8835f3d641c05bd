/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits_wide.h - for bits.c alone: a block's eight lanes to values and back with vectors of 256 bits. Each
 * width has code of its own, in which where a row lies is known: a row is shifted, masked and put without a
 * jump.
 */
#ifndef STORE_BITS_WIDE_H
#define STORE_BITS_WIDE_H

#include "store/base/avx2.h"
#include "store/base/codec.h"

#ifdef STORE_HAS_AVX2
#include <immintrin.h>

#define STORE_ROW 8u /* values: one of each lane */

/* The row's lanes, which begin `used` bits into the words; its value may end in the next ones. */
__attribute__((target("avx2"), always_inline)) static inline __m256i row_get(
	const uint8_t *words, unsigned used, unsigned width)
{
	__m256i row = _mm256_loadu_si256((const __m256i *)words);

	row = _mm256_srli_epi32(row, (int)used);
	if (used + width > 32)
		row = _mm256_or_si256(row,
			_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)words + 1), (int)(32 - used)));
	if (used + width != 32)
		row = _mm256_and_si256(row, _mm256_set1_epi32((int)((UINT64_C(1) << width) - 1)));
	return row;
}

__attribute__((target("avx2"), always_inline)) static inline void rows_get(
	uint64_t *to, const uint8_t *from, unsigned width)
{
#pragma GCC unroll 32
	for (unsigned row = 0; row < STORE_BLOCK_RECORDS / STORE_ROW; row++, to += STORE_ROW) {
		unsigned bit = row * width;
		__m256i values = row_get(from + bit / 32 * sizeof(__m256i), bit % 32, width);

		_mm256_storeu_si256((__m256i *)to, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(values)));
		_mm256_storeu_si256((__m256i *)(to + STORE_ROW / 2),
			_mm256_cvtepu32_epi64(_mm256_extracti128_si256(values, 1)));
	}
}

/* Eight values of 64 bits, whose low halves are wanted. */
__attribute__((target("avx2"), always_inline)) static inline __m256i row_narrow(const uint64_t *from)
{
	__m256 low = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)from));
	__m256 high = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(from + STORE_ROW / 2)));
	__m256i halves = _mm256_castps_si256(_mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));

	return _mm256_permute4x64_epi64(halves, _MM_SHUFFLE(3, 1, 2, 0));
}

__attribute__((target("avx2"), always_inline)) static inline void rows_put(
	uint8_t *to, const uint64_t *from, unsigned width)
{
	const __m256i mask = _mm256_set1_epi32((int)((UINT64_C(1) << width) - 1));
	__m256i words = _mm256_setzero_si256();

#pragma GCC unroll 32
	for (unsigned row = 0; row < STORE_BLOCK_RECORDS / STORE_ROW; row++, from += STORE_ROW) {
		unsigned used = row * width % 32;
		__m256i values = _mm256_and_si256(row_narrow(from), mask);

		words = _mm256_or_si256(words, _mm256_slli_epi32(values, (int)used));
		if (used + width < 32)
			continue;
		_mm256_storeu_si256((__m256i *)to, words);
		to += sizeof words;
		words = _mm256_srli_epi32(values, (int)(32 - used));
	}
}

/* Each width from 1 to 32 as a constant. */
#define STORE_CASE(rows, width)        \
	case width:                    \
		rows(to, from, width); \
		break;
#define STORE_CASES_8(rows, more)  \
	STORE_CASE(rows, more + 1) \
	STORE_CASE(rows, more + 2) \
	STORE_CASE(rows, more + 3) \
	STORE_CASE(rows, more + 4) \
	STORE_CASE(rows, more + 5) \
	STORE_CASE(rows, more + 6) \
	STORE_CASE(rows, more + 7) \
	STORE_CASE(rows, more + 8)
#define STORE_CASES(rows)       \
	STORE_CASES_8(rows, 0)  \
	STORE_CASES_8(rows, 8)  \
	STORE_CASES_8(rows, 16) \
	STORE_CASES_8(rows, 24)

__attribute__((target("avx2"))) static void block_get_wide(const uint8_t *from, uint64_t *to, unsigned width)
{
	switch (width) {
		STORE_CASES(rows_get)
	}
}

__attribute__((target("avx2"))) static void block_put_wide(uint8_t *to, const uint64_t *from, unsigned width)
{
	switch (width) {
		STORE_CASES(rows_put)
	}
}
#endif

#endif
