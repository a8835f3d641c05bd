/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_clock.h - converts a device's clock to CLOCK_MONOTONIC: ticks of any frequency and width, of which
 * events hold only the lower bits. The vendor reads both clocks at one moment (the anchor), and again before
 * the counter can wrap. Nothing here calls a device.
 */
#ifndef RECORD_AGENT_GPU_CLOCK_H
#define RECORD_AGENT_GPU_CLOCK_H

#include <stdint.h>

struct gpu_clock {
	uint64_t frequency; /* ticks per second, not 0 */
	uint32_t bits;	    /* width of the times to convert; the anchor has at least as many bits */
	uint64_t anchor_ns; /* CLOCK_MONOTONIC at anchor_ticks */
	uint64_t anchor_ticks;
};

/* How long an anchor stays valid: the clocks may drift by 50 ppm, and the counter may wrap. */
uint64_t gpu_clock_anchor_life_ns(const struct gpu_clock *clock);

/* Times of an operation that was launched at launch_ns and had finished by now_ns. The counter may have
 * wrapped any number of times before and while it ran; it must have begun within 7/8 of a wrap after its
 * launch. Both ticks 0: both times 0. An end before the begin (broken drivers) is kept. */
void gpu_clock_convert(const struct gpu_clock *clock, uint64_t launch_ns, uint64_t now_ns,
	const uint64_t begin_end_ticks[2], uint64_t begin_end_ns[2]);

#endif
