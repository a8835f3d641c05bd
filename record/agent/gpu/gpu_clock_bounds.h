/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_clock_bounds.h - converts a device's clock to ours where the two cannot be read at one moment: each
 * command's device times and call times bound the difference of the clocks. The commands of a device narrow
 * the bounds; drift widens them with time. The assumed difference changes only when it leaves the bounds, and
 * the change never reorders device times: the calls of a busy machine give loose bounds, and better bounds
 * may come between two adjacent commands. The caller holds a lock.
 */
#ifndef RECORD_AGENT_GPU_CLOCK_BOUNDS_H
#define RECORD_AGENT_GPU_CLOCK_BOUNDS_H

#include <stdint.h>

/* All zero before the first command. Our time minus the device's is in [low, high], as of at_ns. */
struct gpu_clock_bounds {
	int64_t low_ns, high_ns, offset_ns;
	uint64_t at_ns;
	uint64_t last_device_ns, last_ns; /* the latest converted time, on the device's clock and on ours */
};

/* A command: its device times, and our times of the call that enqueued it and of the notification of its
 * end. */
struct gpu_clock_bounds_command {
	uint64_t queued_ns, start_ns, end_ns; /* queued_ns 0: not known */
	uint64_t call_begin_ns, call_end_ns, notified_ns;
};

/* Begin and end in our time. A command is queued within its call, starts after the call began and ends
 * before its notification; times that contradict this are shifted by the current difference and do not
 * change the bounds. */
void gpu_clock_bounds_convert(struct gpu_clock_bounds *bounds, const struct gpu_clock_bounds_command *command,
	uint64_t begin_end_ns[2]);

#endif
