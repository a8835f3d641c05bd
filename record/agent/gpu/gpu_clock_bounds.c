/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_clock_bounds.c - see gpu_clock_bounds.h. */
#include <stdbool.h>

#include "record/agent/gpu/gpu_clock_bounds.h"

#define DRIFT 2000 /* the clocks drift apart by 1 ns in this many ns at most */

static int64_t clamped(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void narrow(struct gpu_clock_bounds *bounds, int64_t low_ns, int64_t high_ns, uint64_t now_ns)
{
	int64_t drift_ns = (int64_t)(now_ns - bounds->at_ns) / DRIFT + 1;
	bool is_first = !bounds->at_ns;

	bounds->low_ns -= drift_ns;
	bounds->high_ns += drift_ns;
	if (is_first || bounds->low_ns > high_ns || bounds->high_ns < low_ns) {
		bounds->low_ns = low_ns;
		bounds->high_ns = high_ns;
	}
	bounds->low_ns = low_ns > bounds->low_ns ? low_ns : bounds->low_ns;
	bounds->high_ns = high_ns < bounds->high_ns ? high_ns : bounds->high_ns;
	if (is_first)
		bounds->offset_ns = low_ns + (high_ns - low_ns) / 2;
	bounds->offset_ns = clamped(bounds->offset_ns, bounds->low_ns, bounds->high_ns);
	bounds->at_ns = now_ns;
}

/* Converts a device time, keeping the order of earlier and later ones. */
static uint64_t moment_of(const struct gpu_clock_bounds *bounds, uint64_t device_ns)
{
	uint64_t ns = device_ns + (uint64_t)bounds->offset_ns;
	bool is_later = device_ns >= bounds->last_device_ns;

	return bounds->last_ns && is_later == (ns < bounds->last_ns) ? bounds->last_ns : ns;
}

void gpu_clock_bounds_convert(struct gpu_clock_bounds *bounds, const struct gpu_clock_bounds_command *command,
	uint64_t begin_end_ns[2])
{
	int64_t low_ns = (int64_t)(command->call_begin_ns - command->start_ns);
	int64_t high_ns = (int64_t)(command->notified_ns - command->end_ns);

	if (command->queued_ns && command->queued_ns <= command->start_ns) {
		int64_t from_ns = (int64_t)(command->call_begin_ns - command->queued_ns),
			to_ns = (int64_t)(command->call_end_ns - command->queued_ns);

		low_ns = from_ns > low_ns ? from_ns : low_ns;
		high_ns = to_ns < high_ns ? to_ns : high_ns;
	}
	if (low_ns <= high_ns)
		narrow(bounds, low_ns, high_ns, command->notified_ns);
	begin_end_ns[0] = moment_of(bounds, command->start_ns);
	begin_end_ns[1] = moment_of(bounds, command->end_ns);
	if (command->end_ns >= bounds->last_device_ns) {
		bounds->last_device_ns = command->end_ns;
		bounds->last_ns = begin_end_ns[1];
	}
}
