/* SPDX-License-Identifier: Apache-2.0 */
/* A device's ticks on our clock: any frequency and width, wraps anywhere, anchors before and after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/agent/gpu/gpu_clock.h"
#include "tests/unit/seed.h"

#define CASES 200000
#define DAY_NS UINT64_C(86400000000000)

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 11) % below;
}

/* What the device shows: the twin, in plain arithmetic. */
struct device {
	uint64_t frequency, offset, mask;
};

static uint64_t shown(const struct device *device, uint64_t at_ns)
{
	return (device->offset + (uint64_t)((unsigned __int128)at_ns * device->frequency / 1000000000u)) &
	       device->mask;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void every_clock(void **unused)
{
	static const uint64_t frequencies[] = {1000000, 12500000, 19200000, 52083333, 1000000000, 1700000000};

	(void)unused;
	for (unsigned i = 0; i < CASES; i++) {
		uint32_t bits = 24 + (uint32_t)draw(41);
		uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
		struct device d = {frequencies[draw(6)], draw(UINT64_MAX >> 12) << 12 | draw(4096), mask};
		uint64_t tick_ns = 1000000000u / d.frequency + 2;
		unsigned __int128 wrap = (unsigned __int128)mask * 1000000000u / d.frequency;
		uint64_t wrap_ns = wrap < DAY_NS ? (uint64_t)wrap : DAY_NS;
		uint64_t launch_ns = DAY_NS + draw(DAY_NS), begin_ns = launch_ns + draw(wrap_ns / 4 * 3);
		uint64_t end_ns = begin_ns + draw(wrap_ns / 16), ns[2];
		struct gpu_clock clock = {.frequency = d.frequency, .bits = bits};
		uint64_t ticks[2] = {shown(&d, begin_ns), shown(&d, end_ns)};

		clock.anchor_ns = launch_ns - DAY_NS / 2 + draw(DAY_NS);
		d.mask = UINT64_MAX; /* of the device, events hold less */
		clock.anchor_ticks = shown(&d, clock.anchor_ns);
		if (!ticks[0] && !ticks[1])
			continue;
		gpu_clock_convert(&clock, launch_ns, end_ns + draw(wrap_ns), ticks, ns);
		if (apart(ns[0], begin_ns) > tick_ns || apart(ns[1], end_ns) > 2 * tick_ns)
			fail_msg("case %u, %u bits at %lu Hz: %ld and %ld ns off", i, bits,
				(unsigned long)d.frequency, (long)(ns[0] - begin_ns), (long)(ns[1] - end_ns));
	}
}

static const struct gpu_clock plain = {
	.frequency = 12500000, .bits = 32, .anchor_ns = UINT64_C(5000000000), .anchor_ticks = 4294967000};

static void no_times(void **unused)
{
	const uint64_t ticks[2] = {0, 0};
	uint64_t ns[2] = {1, 1};

	(void)unused;
	gpu_clock_convert(&plain, UINT64_C(5000000000), UINT64_C(5000001000), ticks, ns);
	assert_int_equal(ns[0], 0);
	assert_int_equal(ns[1], 0);
}

/* An end before its begin is not taken for a wrap. */
static void inverted(void **unused)
{
	const uint64_t ticks[2] = {204, 4294967200}; /* 40 us and 16 us after the anchor */
	uint64_t ns[2];

	(void)unused;
	gpu_clock_convert(&plain, UINT64_C(5000000000), UINT64_C(5000100000), ticks, ns);
	assert_int_equal(ns[0], UINT64_C(5000040000));
	assert_int_equal(ns[1], UINT64_C(5000016000));
}

/* An operation that waited in its queue while the counter wrapped, and ran while it wrapped again. */
static void two_wraps(void **unused)
{
	const struct gpu_clock clock = {
		.frequency = 1000000000, .bits = 24, .anchor_ns = 1000, .anchor_ticks = 0};
	const uint64_t ticks[2] = {14000000, 4000000};
	uint64_t ns[2];

	(void)unused;
	gpu_clock_convert(&clock, 1000, 30000000, ticks, ns);
	assert_int_equal(ns[0], 14001000);
	assert_int_equal(ns[1], 4001000 + (1 << 24));
	assert_true(gpu_clock_anchor_life_ns(&clock) < (1 << 24) / 4);
	assert_int_equal(gpu_clock_anchor_life_ns(&plain), 20000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_clock), cmocka_unit_test(no_times),
		cmocka_unit_test(inverted), cmocka_unit_test(two_wraps)};

	state = seed_take("every_clock", 20261122);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
