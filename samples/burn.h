/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burn.h - how samples, and programs of tests, use up CPU time: BURN is a loop, not a function, so that the
 * time lies in the function that it is written in. Time is the thread's own CPU clock, so that a busy machine
 * changes how long a sample takes, never what its trace must show.
 */
#ifndef SAMPLES_BURN_H
#define SAMPLES_BURN_H

#include <stdint.h>
#include <time.h>

/* Keeps a function a function: never inlined, cloned or merged with its twin. */
#define APART __attribute__((noinline, noclone, noipa))
/* After a call, keeps the compiler from making it a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static inline uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One turn takes about 0.1 ms between two looks at the clock. */
#define BURN(ns)                                                                                       \
	for (uint64_t burn_end_ = cpu_now_ns() + (uint64_t)(ns), burn_ = 1; cpu_now_ns() < burn_end_;) \
		for (int turn_ = 0; turn_ < 100000; turn_++) {                                         \
			burn_ = burn_ * 6364136223846793005u + 1442695040888963407u;                   \
			__asm__ volatile("" : "+r"(burn_));                                            \
		}

#endif
