/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_clock.h - a device's clock on ours: ticks of any frequency and width, of which
 * events hold only the lower bits, become CLOCK_MONOTONIC. The vendor's file reads
 * both clocks at one moment (the anchor) and again before the counter can wrap;
 * nothing here asks a device.
 */
#ifndef RECORD_AGENT_GPU_CLOCK_H
#define RECORD_AGENT_GPU_CLOCK_H

#include <stdint.h>

struct gpu_clock {
	uint64_t frequency; /* ticks per second, not 0 */
	uint32_t bits;	    /* of the times to be converted; the anchor has at least as many */
	uint64_t anchor_ns; /* CLOCK_MONOTONIC when the device said anchor_ticks */
	uint64_t anchor_ticks;
};

/* How long an anchor serves: the clocks may drift 50 ppm, the counter may wrap. */
uint64_t gpu_clock_anchor_life_ns(const struct gpu_clock *clock);

/*
 * Times of an operation that was launched at launch_ns and had finished by now_ns. The counter may have
 * wrapped any number of times before and while it ran; it must have begun within 7/8 of a wrap of its launch.
 * Both ticks 0: both times 0. An end before the begin, as broken drivers report, stays one.
 */
void gpu_clock_convert(const struct gpu_clock *clock, uint64_t launch_ns, uint64_t now_ns,
	const uint64_t begin_end_ticks[2], uint64_t begin_end_ns[2]);

#endif
