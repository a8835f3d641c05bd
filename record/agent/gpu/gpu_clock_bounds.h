/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_clock_bounds.h - a device's clock on ours where the two can never be read at one
 * moment: what a command's times and calls tell bounds how far the clocks are apart.
 * All commands of a device narrow the bounds; they widen with time, as clocks drift.
 * What the difference is taken for moves only where the bounds leave it no room, and
 * what was later on the device does not become earlier here by that: the calls of a
 * busy machine tell little, and better bounds come between two commands that lay
 * next to each other. Who calls holds a lock.
 */
#ifndef RECORD_AGENT_GPU_CLOCK_BOUNDS_H
#define RECORD_AGENT_GPU_CLOCK_BOUNDS_H

#include <stdint.h>

/* All zero before the first command. Our time - the device's lies in [low, high], as of at_ns. */
struct gpu_clock_bounds {
	int64_t low_ns, high_ns, offset_ns;
	uint64_t at_ns;
	uint64_t last_device_ns, last_ns; /* the latest moment that was told, and when that was to us */
};

/* A command: the device's times of it, and ours of the call that enqueued it and of the news of its end. */
struct gpu_clock_bounds_command {
	uint64_t queued_ns, start_ns, end_ns; /* queued_ns 0: not known */
	uint64_t call_begin_ns, call_end_ns, notified_ns;
};

/*
 * Begin and end in our time. A command is queued within its call, starts after that has begun and ends before
 * it is told; times that contradict this are shifted as those before, and tell nothing.
 */
void gpu_clock_bounds_convert(struct gpu_clock_bounds *bounds, const struct gpu_clock_bounds_command *command,
	uint64_t begin_end_ns[2]);

#endif
