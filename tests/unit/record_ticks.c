/* SPDX-License-Identifier: Apache-2.0 */
/* record_ticks.c - durations by the processor's counter against the clock, between readings of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "record/agent/base/ticks.h"

#define ROUNDS 200
#define LONG_NS 2000000u

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pass(uint64_t duration_ns)
{
	uint64_t end_ns = clock_ns() + duration_ns;

	while (clock_ns() < end_ns)
		;
}

/* What the counter says lies between what the clock says of more and of less, but for a thousandth. */
static void test_durations(void **unused)
{
	uint64_t scale;

	(void)unused;
	assert_int_equal(ticks_scale, 0);
	ticks_measure();
	assert_int_equal(ticks_scale, 0); /* not begun */
	ticks_begin();
	pass(20 * LONG_NS);
	ticks_measure();
	scale = ticks_scale;
	if (!scale) {
		print_message("the kernel's clock does not read the counter of ticks\n");
		skip();
	}
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t outer_ns = clock_ns(), begin = ticks_now(), inner_ns = clock_ns(), end, is_ns,
			 least_ns;

		pass((uint64_t)round * LONG_NS / ROUNDS);
		least_ns = clock_ns() - inner_ns;
		end = ticks_now();
		outer_ns = clock_ns() - outer_ns;
		is_ns = ticks_ns(begin, end, scale);
		assert_true(is_ns + is_ns / 1000 + 100 >= least_ns);
		assert_true(is_ns <= outer_ns + outer_ns / 1000 + 100);
	}
}

static void test_backward(void **unused)
{
	(void)unused;
	assert_int_equal(ticks_ns(10, 5, UINT64_C(1) << TICKS_SHIFT), 0);
	assert_int_equal(ticks_ns(5, 10, UINT64_C(1) << TICKS_SHIFT), 5);
	assert_int_equal(ticks_ns(0, UINT64_C(1) << 60, UINT64_C(1) << (TICKS_SHIFT - 1)), UINT64_C(1) << 59);
}

/* Times by the counter lie between the clock's before and after, but for what two readings of one moment are
 * apart; also where the reading they count from is old, and after the program has forbidden the counter. */
static void test_times(void **unused)
{
	struct ticks_clock clock = {0};

	(void)unused;
	for (int round = 0; round < 3 * ROUNDS; round++) {
		uint64_t before_ns, now_ns;

		if (round == 2 * ROUNDS)
			ticks_leave();
		before_ns = clock_ns();
		now_ns = ticks_clock_now(&clock);
		assert_true(now_ns + 500 >= before_ns);
		assert_true(now_ns <= clock_ns() + 500);
		pass(round % 50 ? (uint64_t)round * 10 : LONG_NS);
	}
	assert_int_equal(ticks_scale, 0);
	ticks_measure();
	assert_int_equal(ticks_scale, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
