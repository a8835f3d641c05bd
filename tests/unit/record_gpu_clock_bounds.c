/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_gpu_clock_bounds.c - a device's times on our clock, by bounds: commands of an in-order queue on a
 * machine whose calls are held up at random keep their order, lie within what is known of them, and are where
 * they were as well as the calls can tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/agent/gpu/gpu_clock_bounds.h"

#define CASES 2000
#define COMMANDS 100
#define DAY_NS UINT64_C(86400000000000)

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 11) % below;
}

/* What a step of a call takes: one in eight waits for a processor. */
static uint64_t step_ns(void)
{
	return 200 + draw(2000) + (draw(8) ? 0 : draw(4000000));
}

struct world {
	uint64_t now_ns;	  /* the program's thread */
	uint64_t free_ns;	  /* when the device is */
	uint64_t notified_ns;	  /* when the runtime last told of an end */
	uint64_t shift_ns, drift; /* the device's clock */
};

static uint64_t shown(const struct world *world, uint64_t at_ns)
{
	return at_ns + world->shift_ns + at_ns % DAY_NS / world->drift;
}

/* The truth is begin and end in our time. */
static struct gpu_clock_bounds_command enqueue(struct world *world, uint64_t truth_ns[2])
{
	uint64_t call_begin_ns = world->now_ns, queued_ns = call_begin_ns + step_ns();
	uint64_t call_end_ns = queued_ns + step_ns();

	truth_ns[0] = (world->free_ns > queued_ns ? world->free_ns : queued_ns) + step_ns();
	truth_ns[1] = truth_ns[0] + draw(20000);
	world->free_ns = truth_ns[1];
	world->now_ns = call_end_ns + step_ns();
	if (world->notified_ns < truth_ns[1])
		world->notified_ns = truth_ns[1];
	if (world->notified_ns < call_end_ns)
		world->notified_ns = call_end_ns;
	world->notified_ns += step_ns();
	return (struct gpu_clock_bounds_command){
		.queued_ns = draw(4) ? shown(world, queued_ns) : 0,
		.start_ns = shown(world, truth_ns[0]),
		.end_ns = shown(world, truth_ns[1]),
		.call_begin_ns = call_begin_ns,
		.call_end_ns = call_end_ns,
		.notified_ns = world->notified_ns,
	};
}

static void one_queue(unsigned number)
{
	struct world world = {DAY_NS, 0, 0, draw(DAY_NS), 10000 + draw(1000000)};
	struct gpu_clock_bounds bounds = {0};
	uint64_t last_ns = 0, truth_ns[2], ns[2], off_ns = 0;

	for (unsigned i = 0; i < COMMANDS; i++) {
		struct gpu_clock_bounds_command command = enqueue(&world, truth_ns);

		gpu_clock_bounds_convert(&bounds, &command, ns);
		if (ns[0] < last_ns || ns[1] < ns[0])
			fail_msg("case %u: command %u at %lu..%lu, the one before ended at %lu", number, i,
				(unsigned long)ns[0], (unsigned long)ns[1], (unsigned long)last_ns);
		if (ns[0] < command.call_begin_ns || ns[1] > command.notified_ns)
			fail_msg("case %u: command %u is not between its call and the news of it", number, i);
		last_ns = ns[1];
		off_ns = ns[1] > truth_ns[1] ? ns[1] - truth_ns[1] : truth_ns[1] - ns[1];
	}
	if (off_ns > 100000)
		fail_msg("case %u: the last command is %lu ns off", number, (unsigned long)off_ns);
}

static void a_busy_machine(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < CASES; i++)
		one_queue(i);
}

/* The first call was held up, the second was not, and the commands lay next to each other. */
static void better_bounds_come_late(void **unused)
{
	struct gpu_clock_bounds bounds = {0};
	const struct gpu_clock_bounds_command first = {.queued_ns = 1100,
		.start_ns = 3000100,
		.end_ns = 3000200,
		.call_begin_ns = 1000,
		.call_end_ns = 4001000,
		.notified_ns = 4002000};
	const struct gpu_clock_bounds_command second = {.queued_ns = 4003000,
		.start_ns = 4003100,
		.end_ns = 4003900,
		.call_begin_ns = 4002900,
		.call_end_ns = 4003200,
		.notified_ns = 4004000};
	uint64_t one[2], two[2];

	(void)unused;
	gpu_clock_bounds_convert(&bounds, &first, one);
	gpu_clock_bounds_convert(&bounds, &second, two);
	assert_true(one[1] - one[0] == 100);
	assert_true(two[0] >= one[1]);
	assert_true(two[0] >= second.call_begin_ns && two[1] <= second.notified_ns);
	assert_true(two[1] - two[0] == 800);
}

/* Not a word of the truth in it: nothing is learned, and order is kept. */
static void impossible_times(void **unused)
{
	struct gpu_clock_bounds bounds = {0};
	struct gpu_clock_bounds_command command = {.queued_ns = 100,
		.start_ns = 200,
		.end_ns = 300,
		.call_begin_ns = 1090,
		.call_end_ns = 1110,
		.notified_ns = 1400};
	uint64_t ns[2];

	(void)unused;
	gpu_clock_bounds_convert(&bounds, &command, ns);
	assert_int_equal(ns[0], 1200);
	assert_int_equal(ns[1], 1300);
	command.start_ns = command.end_ns = 5000000;
	gpu_clock_bounds_convert(&bounds, &command, ns);
	assert_int_equal(ns[0], 5001000);
	command.start_ns = command.end_ns = 250;
	gpu_clock_bounds_convert(&bounds, &command, ns);
	assert_int_equal(ns[0], 1250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_busy_machine),
		cmocka_unit_test(better_bounds_come_late), cmocka_unit_test(impossible_times)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
