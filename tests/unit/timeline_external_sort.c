/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_external_sort.c - what is sorted beside memory comes back as what is sorted in it, twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "timeline/base/external_sort.h"

#define COUNT 60000u

/* Larger than what memory is asked for: 60000 x 24 against 64 KiB. */
struct entry {
	uint64_t key, number, rest;
};

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void expect_sorted(struct external_sort *spill, struct entry *entries, size_t count)
{
	const struct entry *entry;
	struct error error;
	size_t at = 0;
	int code;

	qsort(entries, count, sizeof *entries, compare);
	for (int round = 0; round < 2; round++, at = 0) {
		assert_int_equal(external_sort_rewind(spill, &error), 0);
		while ((entry = external_sort_next(spill, &code, &error))) {
			assert_true(at < count);
			assert_memory_equal(entry, &entries[at++], sizeof *entry);
		}
		assert_int_equal(code, 0);
		assert_int_equal(at, count);
	}
}

static void key_of(const void *entry, uint64_t key[2])
{
	const struct entry *e = entry;

	key[0] = e->key >> 7 << 40; /* the higher half tells some, the lower one more, `compare` the rest */
	key[1] = e->key / 3;
}

static void sort(size_t count, uint64_t mem_bytes, bool has_keys)
{
	struct entry *entries = calloc(count + 1, sizeof *entries);
	struct external_sort *spill;
	struct error error;

	assert_int_equal(external_sort_new(&spill, sizeof *entries, compare, mem_bytes, &error), 0);
	if (has_keys)
		external_sort_by(spill, key_of);
	for (size_t i = 0; i < count; i++) {
		entries[i] = (struct entry){(i * 2654435761u) % 1000, i, ~i};
		assert_int_equal(external_sort_put(spill, &entries[i], &error), 0);
	}
	expect_sorted(spill, entries, count);
	external_sort_free(spill);
	free(entries);
}

static void test_sorts(void **unused)
{
	const size_t full = ((size_t)64 << 10) / sizeof(struct entry);

	(void)unused;
	for (int has_keys = 0; has_keys < 2; has_keys++) {
		sort(0, 0, has_keys);
		sort(0, 1, has_keys);
		sort(1, 1, has_keys);
		sort(COUNT, 0, has_keys);
		sort(COUNT, 1, has_keys);
		sort(COUNT, 200000, has_keys);
		sort(full, 1, has_keys);
		sort(full + 1, 1, has_keys);
	}
}

static void test_no_room(void **unused)
{
	struct external_sort *spill;
	struct error error = {0};
	struct entry entry = {0};
	int code = 0;

	(void)unused;
	setenv("TMPDIR", "/proc/nowhere", 1);
	assert_int_equal(external_sort_new(&spill, sizeof entry, compare, 1, &error), 0);
	for (unsigned i = 0; i < COUNT && !code; i++)
		code = external_sort_put(spill, &entry, &error);
	assert_int_equal(code, -ERROR_IO);
	external_sort_free(spill);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts), cmocka_unit_test(test_no_room)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
