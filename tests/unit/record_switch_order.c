/* SPDX-License-Identifier: Apache-2.0 */
/* record_switch_order.c - switch records of several rings in the order of threads and time, against a plain
 * stable sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/kernel/switch_order.h"
#include "tests/unit/seed.h"

#define MOST 600u

/* Each of the rings, which are read in turns, is in order of time; `kind` numbers what is of one moment. */
static void events_make(struct switch_event *events, uint32_t count, uint32_t threads, uint32_t rings)
{
	uint64_t now_ns[8] = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t ring = i / 7 % rings;

		now_ns[ring] += (uint64_t)rand() % 3;
		/* Some have the same low bits. */
		events[i] = (struct switch_event){now_ns[ring], (uint32_t)rand() % threads * 512, i};
	}
}

/* The twin: each in its place, one after the other. */
static void insert_in_order(struct switch_event *events, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t at = i; at && (events[at - 1].tid > events[at].tid ||
						    (events[at - 1].tid == events[at].tid &&
							    events[at - 1].time_ns > events[at].time_ns));
			at--) {
			struct switch_event was = events[at];

			events[at] = events[at - 1];
			events[at - 1] = was;
		}
}

/* Those of one thread stand in one place: there they are the twin's. */
static void assert_is_twin(const struct switch_event *got, const struct switch_event *wanted, uint32_t count)
{
	for (uint32_t i = 0, same; i < count; i += same) {
		uint32_t at = 0;

		while (wanted[at].tid != got[i].tid)
			at++;
		for (same = 0; at + same < count && wanted[at + same].tid == got[i].tid; same++)
			assert_memory_equal(&got[i + same], &wanted[at + same], sizeof(*got));
	}
}

static void test_order_is_its_twin(void **state)
{
	struct switch_events events = {0}, scratch = {0};
	static struct switch_event wanted[MOST];

	uint64_t end, first = seed_rounds(__func__, 300, &end);

	(void)state;
	for (uint64_t seed = first; seed < end; seed++) {
		uint32_t count, threads;

		srand((unsigned)seed);
		count = (uint32_t)rand() % MOST;
		threads = 1 + (uint32_t)rand() % 20;
		events_make(wanted, count, threads, 1 + (uint32_t)rand() % 8);
		events.count = 0;
		assert_true(switch_events_reserve(&events, count + 1));
		memcpy(events.events, wanted, count * sizeof(*wanted));
		events.count = count;
		insert_in_order(wanted, count);
		assert_true(switch_events_order(&events, &scratch));
		assert_int_equal(events.count, count);
		assert_is_twin(events.events, wanted, count);
	}
	switch_events_fini(&events);
	switch_events_fini(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_is_its_twin)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
