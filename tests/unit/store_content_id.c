/* SPDX-License-Identifier: Apache-2.0 */
/* store_content_id.c - the id of a file's content: any byte that is covered changes it, where it lies does
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/base/content_id.h"

#define WHOLE_BYTES (16u << 20)

static int file_of(size_t size)
{
	int fd = memfd_create("content", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static void byte_put(int fd, size_t at, uint8_t byte)
{
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static void test_each_byte(void **state)
{
	static const size_t sizes[] = {1, 65536, 65537, 200000, WHOLE_BYTES};
	uint8_t before[CONTENT_ID_BYTES], after[CONTENT_ID_BYTES];

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t places[] = {0, sizes[i] / 2, sizes[i] - 1};
		int fd = file_of(sizes[i]), other = file_of(sizes[i]);

		assert_true(content_id_of_file(fd, before) && content_id_of_file(other, after));
		assert_memory_equal(before, after, sizeof(before));
		assert_true(content_id_is(before, sizeof(before)));
		assert_false(content_id_is_of_memory(before, sizeof(before)));
		for (unsigned j = 0; j < 3; j++) {
			byte_put(fd, places[j], 1);
			assert_true(content_id_of_file(fd, after));
			assert_memory_not_equal(before, after, sizeof(before));
			byte_put(fd, places[j], 0);
		}
		close(fd);
		close(other);
	}
}

static void test_large(void **state)
{
	uint8_t id[4][CONTENT_ID_BYTES];
	int fd = file_of(5 * (size_t)WHOLE_BYTES);

	(void)state;
	assert_true(content_id_of_file(fd, id[0]));
	byte_put(fd, 0, 1);
	assert_true(content_id_of_file(fd, id[1]));
	byte_put(fd, 5 * (size_t)WHOLE_BYTES - 1, 1);
	assert_true(content_id_of_file(fd, id[2]));
	assert_int_equal(ftruncate(fd, 5 * (off_t)WHOLE_BYTES + 1), 0);
	assert_true(content_id_of_file(fd, id[3]));
	for (unsigned i = 1; i < 4; i++)
		assert_memory_not_equal(id[i - 1], id[i], CONTENT_ID_BYTES);
	close(fd);
}

static void test_kinds(void **state)
{
	uint8_t id[CONTENT_ID_BYTES], other[CONTENT_ID_BYTES];
	int fd = file_of(0);

	(void)state;
	assert_false(content_id_of_file(fd, id));
	assert_false(content_id_of_file(-1, id));
	close(fd);
	content_id_of_memory(id, "a", 1);
	content_id_of_memory(other, "b", 1);
	assert_true(content_id_is(id, sizeof(id)) && content_id_is_of_memory(id, sizeof(id)));
	assert_memory_not_equal(id, other, sizeof(id));
	assert_false(content_id_is(id, sizeof(id) - 1)); /* a linker's, by chance */
	id[0] = 2;
	assert_false(content_id_is(id, sizeof(id)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_byte),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
