/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_start_stop.c - what whoever records asks for is said to be done when it is: a start that finds no
 * room in the log of pauses waits until the log is drained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/process/process.h"

static bool test_is_own(void)
{
	return true;
}

#define process_is_own test_is_own
#include "record/agent/sample/start_stop.c" /* NOLINT(bugprone-suspicious-include): its state */

static bool is_parked, counts = true;

void source_timers_park(bool now)
{
	is_parked = now;
}

void counter_groups_switch(bool off)
{
	counts = !off;
}

struct thread *trace_begin(void)
{
	return NULL;
}

void trace_end(struct thread *t)
{
	(void)t;
}

uint32_t trace_callpath(struct thread *t)
{
	(void)t;
	return 0;
}

uint32_t trace_text(struct thread *t, const char *text)
{
	(void)t;
	(void)text;
	return 0;
}

void trace_span(struct thread *t, uint8_t type, const struct event_span *span)
{
	(void)t;
	(void)type;
	(void)span;
}

bool sample_publish(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	(void)t, (void)node, (void)flags, (void)weight, (void)now_ns;
	return true;
}

void sample_publish_pathless(struct thread *t, uint64_t now_ns)
{
	(void)t;
	(void)now_ns;
}

/* True: the process says that it has done it. */
static bool ask(bool is_on)
{
	uint32_t wanted = atomic_load(&process.shared->control_wanted) & ~EVENT_CONTROL_ON;

	wanted += EVENT_CONTROL_NEXT + (is_on ? EVENT_CONTROL_ON : 0);
	atomic_store(&process.shared->control_wanted, wanted);
	start_stop_obey();
	return atomic_load(&process.shared->control_done) == wanted;
}

static int set_up(void **state)
{
	(void)state;
	process.shared = calloc(1, sizeof(*process.shared));
	assert_non_null(process.shared);
	start_stop_init(false);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(process.shared);
	process.shared = NULL;
	return 0;
}

static void test_orders(void **state)
{
	struct event_process *shared = process.shared;

	(void)state;
	assert_true(ask(false));
	assert_true(start_stop_is_off() && is_parked && !counts);
	assert_true(ask(false));
	assert_int_equal(atomic_load(&shared->pause_count), 1);
	assert_true(ask(true));
	assert_false(start_stop_is_off() || is_parked || !counts);
	assert_int_equal(atomic_load(&shared->pause_count), 2);
}

static void test_full(void **state)
{
	struct event_process *shared = process.shared;

	(void)state;
	for (unsigned i = 0; i < EVENT_PAUSES_MAX; i++) {
		start_stop_switch_off();
		start_stop_switch_on();
	}
	assert_true(start_stop_is_off());
	assert_in_range(atomic_load(&shared->pause_count), EVENT_PAUSES_MAX - 1, EVENT_PAUSES_MAX);
	assert_false(ask(true));
	assert_true(start_stop_is_off() && start_stop_is_asked());
	atomic_store(&shared->pauses_taken, atomic_load(&shared->pause_count));
	start_stop_obey();
	assert_false(start_stop_is_off() || start_stop_is_asked());
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_orders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
