/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_perf_map.c - the name of moved code is that of what was last where it was, however much code there
 * is and whether it came before the last reading or since. A table by address, in order of coming, tells the
 * truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/write/writer.h"
#include "tests/unit/seed.h"

static uint32_t text_of_store(struct store_writer *writer, const char *bytes, size_t size);

#define store_writer_text text_of_store
#include "record/modules/perf_map.c" /* NOLINT(bugprone-suspicious-include): its entries */

#define PLACES 100000u
#define PLACE_BYTES 64u

static uint32_t texts, truth[PLACES];

static uint32_t text_of_store(struct store_writer *writer, const char *bytes, size_t size)
{
	(void)writer, (void)bytes, (void)size;
	return ++texts;
}

static uint64_t address_of(uint32_t place)
{
	return UINT64_C(0x10000) + (uint64_t)place * PLACE_BYTES;
}

static void load(struct dump_own *own, uint32_t place)
{
	dump_take(
		own, &(struct jit_dump_code){
			     .begin = address_of(place), .size = PLACE_BYTES, .name = "f", .name_bytes = 1});
	truth[place] = texts;
}

static void move(struct dump_own *own, uint32_t from, uint32_t to)
{
	dump_take(own, &(struct jit_dump_code){
			       .begin = address_of(to), .size = PLACE_BYTES, .from = address_of(from)});
	truth[to] = truth[from];
}

static void hold(const struct perf_map *map)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		const struct perf_map_entry *entry = entry_find(map, address_of(i) + 1);

		assert_int_equal(entry ? entry->name : 0, truth[i]);
	}
}

static void test_moves_of_much_code(void **state)
{
	struct perf_map map = {.module = 1};
	struct dump_own own = {&map, NULL};

	(void)state;
	texts = 0;
	memset(truth, 0, sizeof truth);
	for (uint32_t i = 0; i < PLACES; i += 2)
		load(&own, i);
	for (uint32_t i = 0; i < PLACES; i += 2) /* anew, and half as much before the last reading */
		load(&own, i);
	entries_sort(&map);
	move(&own, 0, 1);
	move(&own, 1, 3); /* since the reading, and moved itself */
	load(&own, 4);
	move(&own, 4, 5);
	move(&own, 7, 9); /* nothing is there */
	assert_int_equal(truth[1], truth[0]);
	entries_sort(&map);
	hold(&map);
	perf_map_fini(&map);
}

static void test_moves_at_random(void **state)
{
	struct perf_map map = {.module = 1};
	struct dump_own own = {&map, NULL};
	uint64_t chance = seed_take("record_perf_map", 1);

	(void)state;
	texts = 0;
	memset(truth, 0, sizeof truth);
	for (uint32_t i = 0; i < 3 * PLACES; i++) {
		uint32_t place = (uint32_t)(seed_next(&chance) % PLACES),
			 other = (uint32_t)(seed_next(&chance) % PLACES);

		if (i % 8 == 0 && truth[place])
			move(&own, place, other);
		else
			load(&own, place);
		if (seed_next(&chance) % 40000 == 0)
			entries_sort(&map);
	}
	entries_sort(&map);
	hold(&map);
	perf_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves_of_much_code), cmocka_unit_test(test_moves_at_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
