/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - for chunk_read.c and bits.c: their loops once more for machines with vectors of 256 bits, chosen
 * at run time. STORE_WIDE stands before a function that calls the plain one, which is compiled into it.
 */
#ifndef STORE_WIDE_H
#define STORE_WIDE_H

#include <stdbool.h>

extern bool store_is_plain; /* nothing wide: tests set it */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
#define STORE_HAS_WIDE
#define STORE_WIDE __attribute__((target("avx2,bmi,bmi2"), flatten))
static inline bool store_is_wide(void)
{
	return !store_is_plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

#endif
