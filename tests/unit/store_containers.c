/* SPDX-License-Identifier: Apache-2.0 */
/* store_containers.c - growable arrays, the hash table of numbers and binary heaps hold what was put there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/base/array.h"
#include "store/base/hash_index.h"
#include "store/base/heap.h"

#define COUNT 5000u

static void array_keeps_items(void **state)
{
	uint32_t *list = NULL;
	size_t room = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_true(array_widen(&list, &room, i, sizeof *list));
		assert_true(room > i);
		list[i] = i;
	}
	for (size_t i = COUNT; i < room; i++)
		list[i] = 1;
	for (size_t before = room; room == before;)
		assert_true(array_reserve_zero(&list, &room, before + 1, sizeof *list));
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(list[i], i);
	for (size_t i = room / 2; i < room; i++)
		assert_int_equal(list[i], 0);
	free(list);
}

static void array_out_of_memory_is_what_it_was(void **state)
{
	uint64_t *list = NULL;
	size_t room = 0;

	(void)state;
	assert_true(array_reserve(&list, &room, 3, sizeof *list));
	list[2] = 7;
	for (unsigned shift = 50; shift < 64; shift++) {
		size_t before = room;

		assert_false(array_reserve(&list, &room, (size_t)1 << shift, sizeof *list));
		assert_false(array_resize(&list, (size_t)1 << shift, sizeof *list));
		assert_int_equal(room, before);
	}
	assert_int_equal(list[2], 7);
	free(list);
}

/* Few hashes: most numbers lie behind others. */
static uint64_t hash_of(const void *owner, uint32_t number)
{
	return ((const uint32_t *)owner)[number] % 97 * 0x9e3779b97f4a7c15u;
}

static bool equal(const void *owner, uint32_t number, const void *key)
{
	return ((const uint32_t *)owner)[number] == *(const uint32_t *)key;
}

static void index_finds_each_number(void **state)
{
	struct hash_index index = {0};
	uint32_t things[COUNT];

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t *slot;

		things[i] = i * 2654435761u;
		assert_true(hash_index_reserve(&index, i, hash_of, things));
		assert_true(2 * (i + 1) <= index.count);
		slot = hash_index_slot(&index, hash_of(things, i), equal, things, &things[i]);
		assert_int_equal(*slot, 0);
		*slot = i + 1;
	}
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(
			*hash_index_slot(&index, hash_of(things, i), equal, things, &things[i]), i + 1);
	free(index.slots);
}

struct item {
	uint32_t rank, other;
};

static bool is_before(const void *a, const void *b)
{
	return ((const struct item *)a)->rank < ((const struct item *)b)->rank;
}

static void heap_gives_the_first(void **state)
{
	struct item heap[COUNT];
	uint32_t seed = 1, last = 0;
	size_t count = 0;

	(void)state;
	for (; count < COUNT; count++) {
		seed = seed * 1664525u + 1013904223u;
		heap[count] = (struct item){seed >> 20, ~(seed >> 20)};
		heap_rise(heap, count, sizeof *heap, is_before);
	}
	while (count) {
		assert_true(heap[0].rank >= last);
		assert_int_equal(heap[0].other, ~heap[0].rank);
		last = heap[0].rank;
		heap[0] = heap[--count];
		heap_sink(heap, count, 0, sizeof *heap, is_before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(array_keeps_items),
		cmocka_unit_test(array_out_of_memory_is_what_it_was),
		cmocka_unit_test(index_finds_each_number),
		cmocka_unit_test(heap_gives_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
