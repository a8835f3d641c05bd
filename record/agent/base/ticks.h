/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - durations and times by the processor's counter, where the kernel's clock reads the same one: it
 * takes less than half of the clock's time. Not ordered with what runs before and after, so a duration is off
 * by some ns.
 */
#ifndef RECORD_AGENT_TICKS_H
#define RECORD_AGENT_TICKS_H

#include <stdatomic.h>
#include <stdint.h>

#define TICKS_SHIFT 32

/* Nanoseconds of a tick, shifted left; 0: not known, use the clock. Any thread. */
extern _Atomic uint64_t ticks_scale __attribute__((visibility("hidden")));

/* Where the counter began, by the clock; the first call counts. Leaves it alone where it does not tell the
 * time: other clock sources, counters that stop, traps. Opens a file for a moment. Any thread. */
void ticks_begin(void);
/* Before the program forbids itself the counter (PR_SET_TSC): it is not read again. */
void ticks_leave(void);
/* Measures the scale from there on: the longer ago, the better; not before 1 ms have passed. If the system
 * was suspended meanwhile, during which the clock stands still, it begins anew from here. Any thread. */
void ticks_measure(void);

static inline uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* A reading of the clock and the counter of that moment, of one thread: for TICKS_CLOCK_NS the counter tells
 * the time, so a clock that is corrected meanwhile does no harm. All zero at first. */
struct ticks_clock {
	uint64_t ns, ticks;
	uint64_t span; /* in ticks; 0: the next reading is of the clock */
};
#define TICKS_CLOCK_NS UINT64_C(200000)

/* Reads the clock. */
uint64_t ticks_clock_read(struct ticks_clock *clock);

/* CLOCK_MONOTONIC, in ns, some ns off. */
static inline uint64_t ticks_clock_now(struct ticks_clock *clock)
{
	uint64_t scale = atomic_load_explicit(&ticks_scale, memory_order_relaxed), gone;

	if (!scale)
		return ticks_clock_read(clock);
	gone = ticks_now() - clock->ticks;
	return gone < clock->span ? clock->ns + (gone * scale >> TICKS_SHIFT) : ticks_clock_read(clock);
}

/* A counter that went backward gives 0. */
static inline uint64_t ticks_ns(uint64_t begin, uint64_t end, uint64_t scale)
{
	return end > begin ? (uint64_t)((unsigned __int128)(end - begin) * scale >> TICKS_SHIFT) : 0;
}

#endif
