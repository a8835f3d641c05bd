/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_decode_residuals.h - turns residuals of a block's column into values, in place, several at a time.
 * Inlined into the loops of the decoder.
 */
#ifndef STORE_CHUNK_DECODE_RESIDUALS_H
#define STORE_CHUNK_DECODE_RESIDUALS_H

#include "store/base/avx2.h"
#include "store/chunk/chunk_decode_internal.h"

/* Prefix sum: adds to each value the one before it. */
static inline void sum_up(uint64_t *values, unsigned count)
{
	uint64_t value = values[0];
	unsigned i = 1;

	/* In groups of four, so that only one addition waits for the group before. */
	for (; i + 4 <= count; i += 4) {
		uint64_t two = values[i] + values[i + 1], three = two + values[i + 2];

		values[i] += value;
		values[i + 1] = value + two;
		values[i + 2] = value + three;
		values[i + 3] = value += three + values[i + 3];
	}
	for (; i < count; i++)
		values[i] = value += values[i];
}

#ifdef STORE_HAS_AVX2
#include <immintrin.h>

/* Undoes DELTA with vectors: sums within each group of four are independent; only the group's base waits for
 * the group before. `more`: added to each value, NULL: nothing. Returns whether no step and no value has the
 * highest bit: then values do not fall. */
__attribute__((target("avx2"))) static inline bool undo_steps_wide(
	uint64_t *values, const uint64_t *more, unsigned count, uint64_t centre)
{
	const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi64x(1);
	const __m256i centres = _mm256_set1_epi64x((long long)centre);
	__m256i before = _mm256_set1_epi64x((long long)values[0]), signs = before;
	uint64_t rest = 0;
	size_t i = 1;

	for (; i + 4 <= count; i += 4) {
		__m256i sum = _mm256_loadu_si256((const __m256i *)(values + i)), value;
		__m256i sign = _mm256_sub_epi64(zero, _mm256_and_si256(sum, one));

		sum = _mm256_add_epi64(_mm256_xor_si256(_mm256_srli_epi64(sum, 1), sign), centres);
		if (more)
			sum = _mm256_add_epi64(sum, _mm256_loadu_si256((const __m256i *)(more + i - 1)));
		signs = _mm256_or_si256(signs, sum);
		sum = _mm256_add_epi64(sum, _mm256_slli_si256(sum, 8));
		sum = _mm256_add_epi64(
			sum, _mm256_blend_epi32(zero, _mm256_permute4x64_epi64(sum, 0x50), 0xf0));
		value = _mm256_add_epi64(sum, before);
		_mm256_storeu_si256((__m256i *)(values + i), value);
		signs = _mm256_or_si256(signs, value);
		before = _mm256_add_epi64(before, _mm256_permute4x64_epi64(sum, 0xff));
	}
	for (; i < count; i++) {
		uint64_t step = (more ? more[i - 1] : 0) + centre + store_unzigzag(values[i]);

		values[i] = values[i - 1] + step;
		rest |= step | values[i];
	}
	return !(rest >> 63) && !_mm256_movemask_pd(_mm256_castsi256_pd(signs));
}
#endif

/* Steps to values, from the first one on. Returns whether they are known not to fall and have no highest
 * bit. */
static inline bool undo_steps(const struct store_chunk_job *job, uint64_t *values, const uint64_t *more,
	unsigned count, uint64_t centre)
{
#ifdef STORE_HAS_AVX2
	if (job->is_wide)
		return undo_steps_wide(values, more, count, centre);
#else
	(void)job;
#endif
	for (unsigned i = 1; i < count; i++)
		values[i] = (more ? more[i - 1] : 0) + centre + store_unzigzag(values[i]);
	sum_up(values, count);
	return false;
}

/* Adds each index's table value to the residual. */
static inline void add_table(uint64_t *to, const uint64_t *table, const uint64_t *index, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to[i] = table[index[i]] + store_unzigzag(to[i]);
}

#ifdef STORE_HAS_AVX2
/* Uses gathers, which the compiler does not generate. */
__attribute__((target("avx2"))) static inline void add_table_wide(
	uint64_t *to, const uint64_t *table, const uint64_t *index, unsigned count)
{
	const __m256i one = _mm256_set1_epi64x(1);
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		__m256i left = _mm256_loadu_si256((const __m256i *)(to + i));
		__m256i sign = _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(left, one));
		__m256i value =
			_mm256_set_epi64x((long long)table[index[i + 3]], (long long)table[index[i + 2]],
				(long long)table[index[i + 1]], (long long)table[index[i]]);

		left = _mm256_xor_si256(_mm256_srli_epi64(left, 1), sign);
		_mm256_storeu_si256((__m256i *)(to + i), _mm256_add_epi64(value, left));
	}
	add_table(to + i, table, index + i, count - (unsigned)i);
}
#endif

#endif
