/* SPDX-License-Identifier: Apache-2.0 */
/* record_kernel_callchains.c - the queue of kernel call chains against a plain list that moves everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "record/kernel/kernel_callchains.h"
#include "tests/unit/seed.h"

#define MOST 2000u

struct plain {
	uint64_t time_ns;
	uint32_t tid, depth;
	uint64_t address[KERNEL_CALLCHAIN_DEPTH_MAX];
};

static struct plain plain[MOST];
static uint32_t plain_count;

static void plain_add(const struct plain *callchain)
{
	uint32_t at = plain_count;

	while (at && plain[at - 1].time_ns > callchain->time_ns)
		at--;
	memmove(&plain[at + 1], &plain[at], (plain_count++ - at) * sizeof(*plain));
	plain[at] = *callchain;
}

static void same(const struct kernel_callchains *callchains)
{
	assert_int_equal(kernel_callchains_count(callchains), plain_count);
	for (uint32_t i = 0; i < plain_count; i++) {
		struct kernel_callchain callchain = kernel_callchains_at(callchains, i);

		assert_int_equal(callchain.time_ns, plain[i].time_ns);
		assert_int_equal(callchain.tid, plain[i].tid);
		assert_int_equal(callchain.depth, plain[i].depth);
		if (callchain.depth)
			assert_memory_equal(
				callchain.address, plain[i].address, callchain.depth * sizeof(uint64_t));
	}
}

static void test_as_a_plain_list(void **state)
{
	struct kernel_callchains callchains = {0};
	uint64_t now_ns = 1000;

	(void)state;
	srand((unsigned)seed_take(__func__, 20261122));
	for (unsigned round = 0; round < 20000; round++) {
		if (rand() % 3 && plain_count < MOST - 1) {
			struct plain callchain = {.tid = (uint32_t)rand(),
				.depth =
					rand() % 4 ? 0 : (uint32_t)rand() % (KERNEL_CALLCHAIN_DEPTH_MAX + 1)};

			callchain.time_ns = (now_ns += (uint64_t)rand() % 3) - (uint64_t)rand() % 5;
			for (uint32_t i = 0; i < callchain.depth; i++)
				callchain.address[i] = (uint64_t)rand();
			plain_add(&callchain);
			assert_true(kernel_callchains_add(
				&callchains, &(struct kernel_callchain){.time_ns = callchain.time_ns,
						     .tid = callchain.tid,
						     .depth = callchain.depth,
						     .address = callchain.address}));
		} else {
			uint64_t until_ns = now_ns - (uint64_t)rand() % 200;
			uint32_t count = 0;

			while (count < plain_count && plain[count].time_ns <= until_ns)
				count++;
			assert_int_equal(kernel_callchains_until(&callchains, until_ns), count);
			kernel_callchains_drop(&callchains, count);
			memmove(plain, plain + count, (plain_count -= count) * sizeof(*plain));
		}
		if (round % 50 == 0)
			same(&callchains);
	}
	kernel_callchains_clear(&callchains);
	assert_int_equal(kernel_callchains_count(&callchains), 0);
	kernel_callchains_fini(&callchains);
}

/* A collector that is held up, or a thread that nobody takes samples of, must not eat all memory. */
static void test_there_is_an_end(void **state)
{
	uint64_t address[KERNEL_CALLCHAIN_DEPTH_MAX] = {0};
	struct kernel_callchains callchains = {0};
	struct kernel_callchain callchain = {.depth = KERNEL_CALLCHAIN_DEPTH_MAX, .address = address};
	uint32_t kept = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		callchain.time_ns = address[0] = i;
		kept += kernel_callchains_add(&callchains, &callchain);
	}
	assert_in_range(kept, 10000, 20000);
	assert_int_equal(kernel_callchains_count(&callchains), kept);
	kernel_callchains_drop(&callchains, kept - 1);
	assert_int_equal(kernel_callchains_at(&callchains, 0).address[0], kept - 1);
	callchain.time_ns = address[0] = 100000;
	assert_true(kernel_callchains_add(&callchains, &callchain));
	assert_int_equal(kernel_callchains_at(&callchains, 1).address[0], 100000);
	assert_in_range(callchains.capacity, 1, 40000);
	assert_in_range(callchains.address_capacity, 1, 2000000);
	kernel_callchains_fini(&callchains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_plain_list),
		cmocka_unit_test(test_there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
