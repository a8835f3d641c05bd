/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_clock.c - see gpu_clock.h. */
#include "record/agent/gpu/gpu_clock.h"

#define SECOND_NS INT64_C(1000000000)
#define DRIFT_LIFE_NS UINT64_C(20000000) /* 1 us at 50 ppm */
#define SLACK_NS UINT64_C(1000000000)

static uint64_t width_mask(uint32_t bits)
{
	return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Convert differences between ticks and ns; exact to the tick for centuries. */
static int64_t ns_of(const struct gpu_clock *clock, int64_t ticks)
{
	return (int64_t)((__int128)ticks * SECOND_NS / (__int128)clock->frequency);
}

static int64_t ticks_of(const struct gpu_clock *clock, int64_t ns)
{
	return (int64_t)((__int128)ns * (__int128)clock->frequency / SECOND_NS);
}

/* An eighth of the counter's wrap time, at most a second. */
static uint64_t slack_ns(const struct gpu_clock *clock)
{
	unsigned __int128 wrap_ns =
		(unsigned __int128)width_mask(clock->bits) * (unsigned)SECOND_NS / clock->frequency;

	return wrap_ns / 8 < SLACK_NS ? (uint64_t)(wrap_ns / 8) : SLACK_NS;
}

uint64_t gpu_clock_anchor_life_ns(const struct gpu_clock *clock)
{
	uint64_t slack = slack_ns(clock);

	return slack < DRIFT_LIFE_NS ? slack : DRIFT_LIFE_NS;
}

void gpu_clock_convert(const struct gpu_clock *clock, uint64_t launch_ns, uint64_t now_ns,
	const uint64_t begin_end_ticks[2], uint64_t begin_end_ns[2])
{
	uint64_t mask = width_mask(clock->bits), slack = slack_ns(clock), duration, earliest;
	int64_t after;

	begin_end_ns[0] = begin_end_ns[1] = 0;
	if (!begin_end_ticks[0] && !begin_end_ticks[1])
		return;
	/* The first time after `launch - slack` at which the counter had the begin's value. */
	after = ticks_of(clock, (int64_t)(launch_ns - slack - clock->anchor_ns));
	earliest = clock->anchor_ticks + (uint64_t)after;
	after += (int64_t)((begin_end_ticks[0] - earliest) & mask);
	begin_end_ns[0] = clock->anchor_ns + (uint64_t)ns_of(clock, after);
	duration = (begin_end_ticks[1] - begin_end_ticks[0]) & mask;
	/* Computed from ticks, not from the rounded begin: the next operation may begin at the same tick. */
	begin_end_ns[1] = clock->anchor_ns + (uint64_t)ns_of(clock, after + (int64_t)duration);
	if (begin_end_ns[1] > now_ns + slack || (int64_t)duration < 0) {
		duration = (begin_end_ticks[0] - begin_end_ticks[1]) & mask;
		begin_end_ns[1] = begin_end_ns[0] - (uint64_t)ns_of(clock, (int64_t)duration);
	}
}
