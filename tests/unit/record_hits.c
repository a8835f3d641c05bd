/* SPDX-License-Identifier: Apache-2.0 */
/* record_hits.c - the queue of kernel call chains against a plain list that moves everything. */
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
	uint64_t address[HIT_DEPTH_MAX];
};

static struct plain plain[MOST];
static uint32_t plain_count;

static void plain_add(const struct plain *hit)
{
	uint32_t at = plain_count;

	while (at && plain[at - 1].time_ns > hit->time_ns)
		at--;
	memmove(&plain[at + 1], &plain[at], (plain_count++ - at) * sizeof(*plain));
	plain[at] = *hit;
}

static void same(const struct hits *hits)
{
	assert_int_equal(hits_count(hits), plain_count);
	for (uint32_t i = 0; i < plain_count; i++) {
		struct hit hit = hits_at(hits, i);

		assert_int_equal(hit.time_ns, plain[i].time_ns);
		assert_int_equal(hit.tid, plain[i].tid);
		assert_int_equal(hit.depth, plain[i].depth);
		if (hit.depth)
			assert_memory_equal(hit.address, plain[i].address, hit.depth * sizeof(uint64_t));
	}
}

static void test_as_a_plain_list(void **state)
{
	struct hits hits = {0};
	uint64_t now_ns = 1000;

	(void)state;
	srand((unsigned)seed_take(__func__, 20261122));
	for (unsigned round = 0; round < 20000; round++) {
		if (rand() % 3 && plain_count < MOST - 1) {
			struct plain hit = {.tid = (uint32_t)rand(),
				.depth = rand() % 4 ? 0 : (uint32_t)rand() % (HIT_DEPTH_MAX + 1)};

			hit.time_ns = (now_ns += (uint64_t)rand() % 3) - (uint64_t)rand() % 5;
			for (uint32_t i = 0; i < hit.depth; i++)
				hit.address[i] = (uint64_t)rand();
			plain_add(&hit);
			assert_true(hits_add(&hits, &(struct hit){.time_ns = hit.time_ns,
							    .tid = hit.tid,
							    .depth = hit.depth,
							    .address = hit.address}));
		} else {
			uint64_t until_ns = now_ns - (uint64_t)rand() % 200;
			uint32_t count = 0;

			while (count < plain_count && plain[count].time_ns <= until_ns)
				count++;
			assert_int_equal(hits_until(&hits, until_ns), count);
			hits_drop(&hits, count);
			memmove(plain, plain + count, (plain_count -= count) * sizeof(*plain));
		}
		if (round % 50 == 0)
			same(&hits);
	}
	hits_clear(&hits);
	assert_int_equal(hits_count(&hits), 0);
	hits_fini(&hits);
}

/* A collector that is held up, or a thread that nobody takes samples of, must not eat all memory. */
static void test_there_is_an_end(void **state)
{
	uint64_t address[HIT_DEPTH_MAX] = {0};
	struct hits hits = {0};
	struct hit hit = {.depth = HIT_DEPTH_MAX, .address = address};
	uint32_t kept = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		hit.time_ns = address[0] = i;
		kept += hits_add(&hits, &hit);
	}
	assert_in_range(kept, 10000, 20000);
	assert_int_equal(hits_count(&hits), kept);
	hits_drop(&hits, kept - 1);
	assert_int_equal(hits_at(&hits, 0).address[0], kept - 1);
	hit.time_ns = address[0] = 100000;
	assert_true(hits_add(&hits, &hit));
	assert_int_equal(hits_at(&hits, 1).address[0], 100000);
	assert_in_range(hits.room, 1, 40000);
	assert_in_range(hits.address_room, 1, 2000000);
	hits_fini(&hits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_plain_list),
		cmocka_unit_test(test_there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
