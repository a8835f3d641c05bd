/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_python_places.c - what a process says of its Python functions becomes texts of the store: whole
 * entries do, once each; what is no entry, or lies outside the memory, is a function without a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/write/writer.h"

static uint32_t text_of_store(struct store_writer *writer, const char *bytes, size_t size);

#define store_writer_text text_of_store
#include "record/process/python_places.c" /* NOLINT(bugprone-suspicious-include): its bounds, and what it stores */

static char stored[2048];
static size_t stored_size;
static unsigned texts;

static uint32_t text_of_store(struct store_writer *writer, const char *bytes, size_t size)
{
	(void)writer;
	assert_true(size <= sizeof stored);
	memcpy(stored, bytes, size);
	stored_size = size;
	return ++texts;
}

static char *names;

static void entry_put(uint32_t number, uint32_t bytes, uint32_t line, const char *text, size_t size)
{
	struct event_name name = {.bytes = bytes, .line = line};

	memcpy(names + 8 * (size_t)number, &name, sizeof name);
	memcpy(names + 8 * (size_t)number + sizeof name, text, size);
}

static uint64_t place_of(struct python_places *places, uint64_t number, uint64_t line)
{
	return python_place(places, names, NULL, number << EVENT_PYTHON_LINE_BITS | line);
}

static int setup(void **state)
{
	(void)state;
	names = calloc(
		1, EVENT_NAMES_DATA); /* its end is the allocation's: a sanitizer sees reads behind it */
	texts = 0;
	return names ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(names);
	return 0;
}

static void test_a_name(void **state)
{
	static const char wanted[] = "C.f\0dir/f.py\000042";
	struct python_places places = {0};

	(void)state;
	entry_put(5, 12, 42, "C.f\0dir/f.py", 12);
	assert_int_equal(place_of(&places, 5, 43), UINT64_C(1) << STORE_PYTHON_LINE_BITS | 43);
	assert_int_equal(stored_size, 15);
	assert_memory_equal(stored, wanted, 13);
	assert_memory_equal(stored + 13, "42", 2);
	assert_int_equal(place_of(&places, 5, STORE_PYTHON_LINE_MAX),
		UINT64_C(1) << STORE_PYTHON_LINE_BITS | STORE_PYTHON_LINE_MAX);
	assert_int_equal(texts, 1);
	python_places_fini(&places);
}

static void test_no_names(void **state)
{
	static const uint64_t numbers[] = {0, 1, NUMBERS - 1, NUMBERS, UINT32_MAX, UINT64_C(0xffffffffff)};
	char longest[EVENT_NAME_BYTES_MAX];
	struct python_places places = {0};

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_int_equal(place_of(&places, numbers[i], 7), 7);
	memset(longest, 'x', sizeof longest);
	entry_put(10, sizeof longest, 1, longest, sizeof longest); /* without a file */
	assert_int_equal(place_of(&places, 10, 7), 7);
	entry_put(10, EVENT_NAME_BYTES_MAX + 1, 1, "f\0g", 3);
	assert_int_equal(place_of(&places, 10, 7), 7);
	entry_put(10, UINT32_MAX, 1, "f\0g", 3);
	assert_int_equal(place_of(&places, 10, 7), 7);
	entry_put(NUMBERS - 2, 9, 1, "f\0g", 3); /* longer than the memory */
	assert_int_equal(place_of(&places, NUMBERS - 2, 7), 7);
	assert_int_equal(texts, 0);
	assert_int_equal(python_place(&places, NULL, NULL, UINT64_C(10) << EVENT_PYTHON_LINE_BITS | 7), 7);
	longest[3] = '\0';
	entry_put(10, sizeof longest, UINT32_MAX, longest, sizeof longest);
	assert_int_equal(place_of(&places, 10, 7), UINT64_C(1) << STORE_PYTHON_LINE_BITS | 7);
	assert_int_equal(stored_size, sizeof longest + strlen("_4294967295"));
	python_places_fini(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
