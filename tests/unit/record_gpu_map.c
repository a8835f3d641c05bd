/* SPDX-License-Identifier: Apache-2.0 */
/* Handles to what is known of them, against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/agent/gpu/gpu_map.h"
#include "tests/unit/seed.h"

#define KEYS 600u
#define STEPS 200000u

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 11) % below;
}

static void as_an_array(void **unused)
{
	static char keys[KEYS * 16], *values[KEYS];
	struct gpu_map map = {0};

	(void)unused;
	for (unsigned i = 0; i < STEPS; i++) {
		/* First it fills, then most of it goes again. */
		unsigned k = (unsigned)draw(KEYS), adds = i < STEPS / 2 ? 6 : 2;
		void *key = keys + 16 * (size_t)k;

		assert_ptr_equal(gpu_map_get(&map, key), values[k]);
		if (draw(8) < adds) {
			values[k] = keys + draw(sizeof(keys));
			assert_int_equal(gpu_map_put(&map, key, values[k]), 0);
		} else {
			assert_ptr_equal(gpu_map_take(&map, key), values[k]);
			values[k] = NULL;
		}
	}
	for (unsigned k = 0; k < KEYS; k++) {
		assert_ptr_equal(gpu_map_take(&map, keys + 16 * (size_t)k), values[k]);
		assert_null(gpu_map_get(&map, keys + 16 * (size_t)k));
	}
	assert_int_equal(map.count, 0);
	free(map.slots);
}

static void empty(void **unused)
{
	struct gpu_map map = {0};
	char key = 0;

	(void)unused;
	assert_null(gpu_map_get(&map, &key));
	assert_null(gpu_map_take(&map, &key));
	assert_null(gpu_map_get(&map, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_an_array), cmocka_unit_test(empty)};

	state = seed_take("as_an_array", 20261122);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
