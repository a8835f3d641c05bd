/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - durations by the processor's counter, where the kernel's clock reads the same one: it takes less
 * than half of the clock's time. Not ordered with what runs before and after, so a duration is off by some
 * ns.
 */
#ifndef RECORD_AGENT_TICKS_H
#define RECORD_AGENT_TICKS_H

#include <stdatomic.h>
#include <stdint.h>

#define TICKS_SHIFT 32

/* Nanoseconds of a tick, shifted left; 0: not known, use the clock. Any thread. */
extern _Atomic uint64_t ticks_scale __attribute__((visibility("hidden")));

/* Where the counter began, by the clock; once, before there are threads that use it. Leaves it alone where it
 * does not tell the time: other clock sources, counters that stop, traps. Opens a file for a moment. */
void ticks_begin(void);
/* Measures the scale from there on: the longer ago, the better; not before 1 ms have passed. Any thread. */
void ticks_measure(void);

static inline uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* A counter that went backward gives 0. */
static inline uint64_t ticks_ns(uint64_t begin, uint64_t end, uint64_t scale)
{
	return end > begin ? (uint64_t)((unsigned __int128)(end - begin) * scale >> TICKS_SHIFT) : 0;
}

#endif
