/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_source_perf.c - what a hit of the sampling event stands for: the samples of a thread keep to its
 * clock, which is asked seldom where hits come in time, however far they are ahead of it, and often where
 * they do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/agent/process/process.h"
#include "tests/unit/seed.h"

#define PERIOD_NS 100000
#define HITS 20000

static uint64_t wall_clock, cpu_clock, asked;

static uint64_t test_now_ns(void)
{
	return wall_clock;
}

static uint64_t test_cpu_ns(void)
{
	asked++;
	return cpu_clock;
}

#define process_handler_now_ns test_now_ns
#define process_handler_cpu_ns test_cpu_ns
#include "record/agent/sample/source_perf.h"

struct source_perf source_perf = {.kernel = true};
static struct event_ring ring;
static struct thread thread;

uint64_t start_stop_off_ns(const struct event_ring *of, uint64_t at_cpu_ns)
{
	(void)of;
	(void)at_cpu_ns;
	return 0;
}

void sample_take_ns(
	struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight_ns, uint64_t at_ns)
{
	(void)context;
	(void)at_ns;
	assert_true(periods > 0);
	t->covered_ns += weight_ns;
}

void sample_take(struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t at_ns)
{
	sample_take_ns(t, context, periods, periods * PERIOD_NS, at_ns);
}

static int set_up(void **state)
{
	(void)state;
	process.settings.period_ns = PERIOD_NS;
	thread.ring.shared = &ring;
	thread.covered_ns = thread.hit_ns = 0;
	thread.lead_ns = 0;
	thread.believed = 0;
	wall_clock = 1000000000;
	cpu_clock = asked = 0;
	return 0;
}

/* The thread has run for so long, and others in its place. */
static void callchain(uint64_t own_ns, uint64_t others_ns)
{
	wall_clock += own_ns + others_ns;
	cpu_clock += own_ns;
	source_perf_hit(&thread, NULL);
}

static int64_t ahead_ns(void)
{
	return (int64_t)(thread.covered_ns - cpu_clock);
}

/* The event's first period is as long as the thread's, but began elsewhere. */
static void test_a_thread_alone_is_believed(void **state)
{
	(void)state;
	for (unsigned part = 1; part < 20; part++) {
		set_up(NULL);
		callchain(PERIOD_NS * part / 20, 0);
		for (unsigned i = 0; i < HITS; i++) {
			callchain(PERIOD_NS + (uint64_t)(rand() % 4001) - 2000, 0);
			assert_true(llabs(ahead_ns()) < PERIOD_NS);
		}
		assert_in_range(asked, HITS / (SOURCE_PERF_BELIEVED_MAX + 1), HITS / 8);
	}
}

/* The kernel hands the event on, with what is left of its period. */
static void test_threads_that_take_turns_are_not(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HITS; i++) {
		uint64_t own = (uint64_t)(rand() % (PERIOD_NS + 1));

		callchain(own, PERIOD_NS - own);
	}
	assert_true(asked > HITS / 3);
	assert_true(llabs(ahead_ns()) <= (SOURCE_PERF_BELIEVED_MAX + 1) * PERIOD_NS);
}

/* A hypervisor takes the processor away: the event's clock goes on, the thread's does not. Then it is left
 * alone. */
static void test_hits_in_user_code_keep_to_the_clock(void **state)
{
	uint64_t alone_ns;

	(void)state;
	source_perf.kernel = false;
	for (unsigned i = 0; i < HITS; i++) {
		uint64_t own = PERIOD_NS - (uint64_t)(rand() % (PERIOD_NS / 2));

		callchain(own, PERIOD_NS - own);
		assert_true(llabs(ahead_ns()) <= PERIOD_NS);
	}
	alone_ns = thread.covered_ns;
	for (unsigned i = 0; i < HITS; i++)
		callchain(PERIOD_NS, 0);
	assert_int_equal(thread.covered_ns - alone_ns, (uint64_t)HITS * PERIOD_NS); /* each is taken */
	for (unsigned i = 0; i < HITS; i++) {
		cpu_clock += 5 * PERIOD_NS / 2; /* two hits, which wait behind a tick */
		thread.covered_ns = cpu_clock - cpu_clock % PERIOD_NS;
		callchain(0, 0);
		callchain(0, 0);
		assert_true(llabs(ahead_ns()) <= PERIOD_NS / 2);
	}
	source_perf.kernel = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_thread_alone_is_believed, set_up),
		cmocka_unit_test_setup(test_threads_that_take_turns_are_not, set_up),
		cmocka_unit_test_setup(test_hits_in_user_code_keep_to_the_clock, set_up),
	};

	srand((unsigned)seed_take("source_perf", 31));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
