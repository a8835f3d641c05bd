/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avx2.h - for what packs and unpacks columns: its loops once more for machines with vectors of 256 bits,
 * chosen at run time. STORE_AVX2 stands before a function that calls the plain one, which is compiled into
 * it.
 */
#ifndef STORE_AVX2_H
#define STORE_AVX2_H

#include <stdbool.h>

extern bool store_is_plain; /* nothing wide: tests set it */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
/* libc has asked the processor before main. The compiler's own way asks it once more at the start of each
 * program, which takes a virtual machine 0.1 ms. */
#if defined(__has_include) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define STORE_CPU_HAS(FEATURE, name) CPU_FEATURE_ACTIVE(FEATURE)
#define STORE_CPU_COUNTS CPU_FEATURE_ACTIVE(LZCNT)
#else
#define STORE_CPU_HAS(FEATURE, name) __builtin_cpu_supports(name)
#define STORE_CPU_COUNTS true /* who has BMI2 has it, too; not all compilers know its name */
#endif
#define STORE_HAS_AVX2
#define STORE_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt"), flatten))
static inline bool store_cpu_has_avx2(void)
{
	return !store_is_plain && STORE_CPU_HAS(AVX2, "avx2") && STORE_CPU_HAS(BMI2, "bmi2") &&
	       STORE_CPU_COUNTS;
}
#endif

#endif
