/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avx2.h - compiles the loops that pack and unpack columns a second time for AVX2; the version is chosen at
 * run time. STORE_AVX2 marks a function that inlines the plain one.
 */
#ifndef STORE_AVX2_H
#define STORE_AVX2_H

#include <stdbool.h>

extern bool store_is_plain; /* use no AVX2: tests set it */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
/* libc has run CPUID before main. The compiler's builtin runs it again at each program start, which costs
 * 0.1 ms in a virtual machine. */
#if defined(__has_include) && __has_include(<sys/platform/x86.h>) && !defined(HPCT_PORTABLE)
#include <sys/platform/x86.h>
#define STORE_CPU_HAS(FEATURE, name) CPU_FEATURE_ACTIVE(FEATURE)
#define STORE_CPU_COUNTS CPU_FEATURE_ACTIVE(LZCNT)
#else
#define STORE_CPU_HAS(FEATURE, name) __builtin_cpu_supports(name)
#define STORE_CPU_COUNTS true /* every processor with BMI2 has POPCNT; not all compilers know it */
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
