/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_ticks_suspend.c - the counter's scale around a suspend of the system. The agent's clock is made of
 * the counter itself, two ticks to a nanosecond, and can be left behind, as the kernel's is by a suspend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "record/agent/base/ticks.h"

#define SCALE (UINT64_C(1) << (TICKS_SHIFT - 1))
#define PASS_NS UINT64_C(20000000)

static uint64_t suspended_ns;

int __wrap_vdso_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_open(const char *path, int flags);

int __wrap_vdso_clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns = ticks_now() / 2 - (clock == CLOCK_MONOTONIC ? suspended_ns : 0);

	*now = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	return 0;
}

/* The kernel's clock reads the counter. */
int __wrap_open(const char *path, int flags)
{
	FILE *file = tmpfile();

	(void)path;
	(void)flags;
	assert_non_null(file);
	fputs("tsc\n", file);
	rewind(file);
	return fileno(file); /* closed by the reader; the stream stays */
}

static void pass(uint64_t duration_ns)
{
	uint64_t end = ticks_now() + 2 * duration_ns;

	while (ticks_now() < end)
		;
}

static bool is_scale(uint64_t scale)
{
	return scale > SCALE - SCALE / 10 && scale < SCALE + SCALE / 10;
}

static void measure_after(uint64_t duration_ns)
{
	pass(duration_ns);
	ticks_measure();
}

static void test_suspend(void **unused)
{
	uint64_t before;

	(void)unused;
	ticks_begin();
	measure_after(PASS_NS);
	before = ticks_scale;
	if (!ticks_now())
		skip();
	assert_true(is_scale(before));

	suspended_ns = PASS_NS;
	measure_after(PASS_NS);
	assert_int_equal(ticks_scale, before); /* the interval tells nothing */
	ticks_scale = 1;
	measure_after(PASS_NS);
	assert_true(is_scale(ticks_scale)); /* from the end of the suspend on */
}

/* Before the first scale is known. */
static void test_suspend_first(void **unused)
{
	(void)unused;
	if (!ticks_now())
		skip();
	ticks_scale = 0;
	suspended_ns += PASS_NS;
	measure_after(PASS_NS);
	assert_int_equal(ticks_scale, 0);
	measure_after(PASS_NS);
	assert_true(is_scale(ticks_scale));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspend),
		cmocka_unit_test(test_suspend_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
