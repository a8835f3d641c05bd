/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of counters as a processor gives them that this machine may not have: increases are those of the
 * kernel's values, scaled where groups took turns, exact beyond 64 bits, never negative; what has not counted
 * waits for the next reading. And the events that libpfm4 encodes for a processor of ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/sample/counter_group.h"
#include "record/events/events.h"

#define MS UINT64_C(1000000)

static struct counter_group group = {.count = 2};
static uint64_t more[EVENT_COUNTERS_MAX];

static bool grow(uint64_t enabled_ns, uint64_t running_ns, uint64_t first, uint64_t second)
{
	const uint64_t words[] = {2, enabled_ns, running_ns, first, second};

	more[0] = more[1] = 99;
	return counter_group_grow(&group, words, more);
}

static void test_increases(void **unused)
{
	(void)unused;
	memset(&group, 0, sizeof group);
	group.count = 2;
	assert_true(grow(5 * MS, 5 * MS, 1000, 70));
	assert_int_equal(more[0], 1000);
	assert_int_equal(more[1], 70);
	assert_true(grow(10 * MS, 10 * MS, 1500, 70));
	assert_int_equal(more[0], 500);
	assert_int_equal(more[1], 0);
	/* It counted for a quarter of the time. */
	assert_true(grow(18 * MS, 12 * MS, 1600, 75));
	assert_int_equal(more[0], 400);
	assert_int_equal(more[1], 20);
	/* Not at all: the next reading stands for both. */
	assert_false(grow(20 * MS, 12 * MS, 1600, 75));
	assert_int_equal(group.enabled_ns, 18 * MS);
	assert_true(grow(22 * MS, 14 * MS, 1700, 80));
	assert_int_equal(more[0], 200);
	assert_int_equal(more[1], 10);
	/* A value that falls, as a driver's fault may have it, is no increase of 2^64. */
	assert_true(grow(23 * MS, 15 * MS, 1600, 81));
	assert_int_equal(more[0], 0);
	assert_int_equal(more[1], 1);
}

static void test_large(void **unused)
{
	(void)unused;
	memset(&group, 0, sizeof group);
	group.count = 2;
	/* An hour of 4 GHz, of which it counted a third. */
	assert_true(grow(3600000 * MS, 1200000 * MS, UINT64_C(4800000000000), 3));
	assert_int_equal(more[0], UINT64_C(14400000000000));
	assert_int_equal(more[1], 9);
}

/* The kernel's own value of a clock may fall behind, or stand still. */
static void test_clock(void **unused)
{
	(void)unused;
	memset(&group, 0, sizeof group);
	group.count = 2;
	group.clocks = 2;
	assert_true(grow(8 * MS, 8 * MS, 1000, 3 * MS));
	assert_int_equal(more[0], 1000);
	assert_int_equal(more[1], 8 * MS);
	assert_true(grow(20 * MS, 12 * MS, 1100, 2 * MS));
	assert_int_equal(more[0], 300);
	assert_int_equal(more[1], 12 * MS);
}

static void test_others(void **unused)
{
	const uint64_t words[] = {3, 9 * MS, 9 * MS, 1, 2, 3}; /* another event has the number now */

	(void)unused;
	memset(&group, 0, sizeof group);
	group.count = 2;
	assert_false(counter_group_grow(&group, words, more));
	assert_int_equal(group.seen[0], 0);
}

/* By libpfm4's tables of a Skylake, whatever runs here; skipped where hpct is built without it. */
static void test_encoding(void **unused)
{
	struct events_asked asked = {.event = {"skl::INST_RETIRED:ANY_P,skl::CPU_CLK_UNHALTED:value",
					     "page-faults:u,task-clock:value"},
		.count = 2};
	char events[EVENT_EVENTS_MAX];
	struct error error;

	(void)unused;
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	if (events_write(events, &asked, &error)) {
		print_message("libpfm4 has it not: %s\n", error.text);
		skip();
	}
	assert_non_null(strstr(events, " value=0/skl::INST_RETIRED:ANY_P=4:"));
	assert_non_null(strstr(events, "c0:0:0:")); /* event 0xc0 */
	assert_non_null(strstr(events, " value=0/skl::CPU_CLK_UNHALTED=4:"));
	assert_non_null(strstr(events, " value=1/page-faults:u=1:2:0:0:u"));
	assert_non_null(strstr(events, " value=1/task-clock=1:1:0:0:"));
}

static void test_words(void **unused)
{
	static const char *const wrong[] = {
		"page-faults@5:value", ",:value", "page-faults,,cs:value", "no-such:value"};
	struct events_asked asked = {.count = 1};
	char events[EVENT_EVENTS_MAX];
	struct error error;

	(void)unused;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		asked.event[0] = wrong[i];
		assert_int_equal(events_write(events, &asked, &error), -ERROR_USAGE);
	}
	asked.event[0] = asked.event[1] = "page-faults:value";
	asked.count = 2;
	assert_int_equal(events_write(events, &asked, &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "twice"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_increases), cmocka_unit_test(test_large),
		cmocka_unit_test(test_clock), cmocka_unit_test(test_others), cmocka_unit_test(test_encoding),
		cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
