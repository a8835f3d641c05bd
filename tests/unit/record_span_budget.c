/* SPDX-License-Identifier: Apache-2.0 */
/* record_span_budget.c - when spans of short calls of MPI are too many: at a rate, in a burst, without a
 * pause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/agent/mpi/span_budget.h"

#define BEGIN_NS UINT64_C(5000000000)

/* How many calls, each so long after the one before, until there are too many; `most`: never. Every `group`
 * calls a pause. */
static uint32_t calls_until(uint64_t apart_ns, uint32_t group, uint64_t pause_ns, uint32_t most)
{
	struct span_budget budget;
	uint64_t now_ns = BEGIN_NS;

	span_budget_fill(&budget, now_ns);
	for (uint32_t i = 1; i <= most; i++) {
		now_ns += i % group ? apart_ns : pause_ns;
		if (span_budget_spend(&budget, now_ns))
			return i;
	}
	return most;
}

static void test_steady(void **unused)
{
	(void)unused;
	assert_int_equal(calls_until(120000, 1000, 120000, 1000000), 1000000); /* 8,300 a second: for ever */
	assert_int_equal(calls_until(50000, 1000, 50000, 1000000), 1000000);
	assert_int_equal(calls_until(20000, 1000, 20000, 1000000), SPAN_BUDGET_AT_ONCE);
}

static void test_dense(void **unused)
{
	(void)unused;
	assert_int_equal(calls_until(1000, 1u << 30, 0, 1000000), SPAN_BUDGET_DENSE);
	/* A step of a simulation: some calls at once, then work. */
	assert_int_equal(calls_until(1000, 100, 10000000, 1000000), 1000000);
	/* With too little work the burst ends it. */
	assert_int_equal(calls_until(1000, 100, 6000, 1000000), SPAN_BUDGET_AT_ONCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_dense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
