/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_codec_split.c - bodies of two sizes of numbers: few bytes, the same numbers back, and an error where
 * somebody has changed them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/base/codec.h"
#include "tests/unit/chance.h"

#define SPLIT 4u

/* One in `each` values is of 32 bits, the others are of 10. */
static void fill_split(uint64_t *values, unsigned count, unsigned each)
{
	for (unsigned i = 0; i < count; i++) {
		values[i] = draw() >> 54;
		if (i % each == 0)
			values[i] = (uint64_t)1 << 31 | draw() >> 33;
	}
}

static bool read_split(const struct store_bytes *bytes, unsigned count, bool wanted)
{
	uint64_t back[STORE_BLOCK_RECORDS];
	struct store_input input = {.at = bytes->data, .end = bytes->data + bytes->size};

	return wanted ? store_codec_get(&input, back, count) : store_codec_skip(&input, count);
}

/* Few exceptions have positions, many a bit for each value; each is much less than all values at full width.
 */
static void test_split(void **unused)
{
	static const struct {
		unsigned count, each;
	} cases[] = {{256, 3}, {256, 8}, {256, 9}, {255, 3}, {200, 9}, {129, 2}, {64, 3}, {63, 4}};

	(void)unused;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		const unsigned count = cases[c].count,
			       exceptions = (count + cases[c].each - 1) / cases[c].each;
		const unsigned marks = exceptions < (count + 7) / 8 ? exceptions : (count + 7) / 8;
		uint64_t values[STORE_BLOCK_RECORDS], back[STORE_BLOCK_RECORDS];
		struct store_bytes out = {0};
		struct store_input input;

		fill_split(values, count, cases[c].each);
		store_codec_put(&out, values, count);
		assert_int_equal(out.data[0], SPLIT);
		assert_true(out.size <= 5 + (10 * count + 7) / 8 + marks + (22 * exceptions + 7) / 8);
		input = (struct store_input){.at = out.data, .end = out.data + out.size};
		assert_true(store_codec_get(&input, back, count) && input.at == input.end);
		assert_memory_equal(values, back, count * sizeof *values);
		assert_true(read_split(&out, count, false));
		store_bytes_fini(&out);
	}
}

/* `width` 8, bits 0, the marks, then exceptions of 4 bits. */
static void make_split(
	struct store_bytes *to, unsigned count, uint8_t width, uint8_t exceptions, const uint8_t *marks)
{
	static const uint8_t zeros[8 * STORE_BLOCK_RECORDS];
	const unsigned bits = (count + 7) / 8, given = exceptions < bits ? exceptions : bits;

	to->size = 0;
	store_bytes_put(to, (uint8_t[]){SPLIT, width, exceptions}, 3);
	store_bytes_put(to, zeros, ((size_t)width * count + 7) / 8);
	store_bytes_put(to, marks, given);
	store_bytes_put(to, (uint8_t[]){4, 0}, 2);
	store_bytes_put(to, zeros, (4u * exceptions + 7) / 8);
}

/* What no writer puts: nothing to patch, more than there is, marks that are too many, too few or of no value.
 */
static void test_split_damaged(void **unused)
{
	uint8_t marks[STORE_BLOCK_RECORDS / 8] = {0x0f, 0x0f, 0x0f, 0x0f, 0x0f};
	struct store_bytes bytes = {0};

	(void)unused;
	make_split(&bytes, 36, 8, 20, marks);
	assert_true(read_split(&bytes, 36, true));
	make_split(&bytes, 36, 8, 19, marks);
	assert_false(read_split(&bytes, 36, true));
	make_split(&bytes, 36, 8, 21, marks);
	assert_false(read_split(&bytes, 36, true));
	marks[4] = 0x17; /* bit 36 */
	make_split(&bytes, 36, 8, 20, marks);
	assert_false(read_split(&bytes, 36, true));
	make_split(&bytes, 36, 8, 2, (uint8_t[]){0, 35});
	assert_true(read_split(&bytes, 36, true));
	make_split(&bytes, 36, 8, 2, (uint8_t[]){0, 36});
	assert_false(read_split(&bytes, 36, true));
	for (int wanted = 0; wanted < 2; wanted++) {
		make_split(&bytes, 36, 8, 0, marks);
		assert_false(read_split(&bytes, 36, wanted));
		make_split(&bytes, 36, 8, 37, marks);
		assert_false(read_split(&bytes, 36, wanted));
		make_split(&bytes, 36, 64, 20, marks);
		assert_false(read_split(&bytes, 36, wanted));
	}
	store_bytes_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_damaged),
	};

	chance = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
