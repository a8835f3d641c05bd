/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_unwind_cache.c - the walk's cache of rules: what a path has left there is there when the path is
 * walked again, also where it is deep, and many paths are at home there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/unwind/unwind_step.h"
#include "tests/unit/unwind_blind.h"

#define DEEP 300 /* frames; as Python's are that call PyTorch */
#define PATHS 200
#define SITES 3000 /* of a training step */

static struct unwinder unwinder;
static uint64_t chance = 1;

static uint64_t draw(void)
{
	uint64_t z = chance += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

static int set_up(void **state)
{
	(void)state;
	memset(&unwinder, 0, sizeof(unwinder));
	unwinder.space.memory.read = no_memory;
	unwinder.space.module_find = no_module;
	return 0;
}

/* Call sites of three libraries. */
static void draw_sites(uint64_t *sites, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		sites[i] = UINT64_C(0x7f0000000000) + (draw() % 3 << 28) + draw() % (UINT64_C(200) << 20);
}

static unsigned walk(const uint64_t *sites, unsigned count)
{
	asked = 0;
	for (unsigned i = 0; i < count; i++)
		assert_true(unwind_rule_find(&unwinder, sites[i])->pc == sites[i]);
	return asked;
}

static void test_a_deep_path_finds_its_rules(void **state)
{
	uint64_t sites[DEEP];
	unsigned missed = 0;

	(void)state;
	for (unsigned path = 0; path < PATHS; path++) {
		unwind_cache_clear(&unwinder);
		draw_sites(sites, DEEP);
		walk(sites, DEEP);
		missed += walk(sites, DEEP) != 0;
	}
	assert_true(missed <= PATHS / 50);
}

/* Sites that call sites share are those of a step: all of them are asked for, again and again. */
static void test_a_step_is_at_home(void **state)
{
	static uint64_t sites[SITES];

	(void)state;
	draw_sites(sites, SITES);
	walk(sites, SITES);
	walk(sites, SITES);
	assert_true(walk(sites, SITES) <= SITES / 10);
}

/* A set keeps its rules but the oldest; one that is filled anew is as young as the newest. */
static void test_the_oldest_makes_room(void **state)
{
	uint64_t sites[UNWIND_CACHE_WAYS + 1] = {UINT64_C(0x7f0000000000)};
	struct unwind_rule *first = unwind_cache_entry(&unwinder, sites[0]);

	(void)state;
	for (unsigned i = 1; i <= UNWIND_CACHE_WAYS;) {
		uint64_t pc = sites[0] + draw() % (1u << 30);

		if (unwind_cache_entry(&unwinder, pc) == first)
			sites[i++] = pc;
	}
	assert_int_equal(walk(sites, UNWIND_CACHE_WAYS), UNWIND_CACHE_WAYS);
	assert_int_equal(walk(sites, UNWIND_CACHE_WAYS), 0);
	assert_int_equal(walk(sites + UNWIND_CACHE_WAYS, 1), 1);
	assert_int_equal(walk(sites + 1, UNWIND_CACHE_WAYS), 0);
	assert_int_equal(walk(sites, 1), 1);
	assert_int_equal(walk(sites + 2, UNWIND_CACHE_WAYS - 1), 0);
	unwind_cache_clear(&unwinder);
	assert_int_equal(walk(sites, UNWIND_CACHE_WAYS), UNWIND_CACHE_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_deep_path_finds_its_rules, set_up),
		cmocka_unit_test_setup(test_a_step_is_at_home, set_up),
		cmocka_unit_test_setup(test_the_oldest_makes_room, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
