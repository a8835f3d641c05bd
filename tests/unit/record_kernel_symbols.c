/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_kernel_symbols.c - functions of the kernel by distance, and the file that keeps them: what is in it
 * may be anything, and many write it at once.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/kernel/kernel_symbols.h"
#include "store/base/hash.h"

#define COUNT 600u

static const uint8_t build_id[20] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8};
static char directory[] = "/tmp/hpct-symbols.XXXXXX";
static char path[256];

static void symbols_make(struct kernel_symbols *symbols, unsigned salt)
{
	char name[64];

	*symbols = (struct kernel_symbols){.span = COUNT * 16 + 100};
	for (unsigned i = 0; i < COUNT; i++) {
		int length = snprintf(name, sizeof(name), "function_%u_of_%u", i, salt);

		assert_true(kernel_symbols_add(symbols, 16 * i + 8, name, (size_t)length));
	}
	kernel_symbols_sort(symbols);
}

/* Loaded, and all of it is as it was written. If not, the table is empty. */
static bool symbols_load_all(struct kernel_symbols *symbols)
{
	if (!kernel_symbols_load(symbols, build_id, sizeof(build_id)))
		return false;
	for (unsigned i = 0; i < COUNT; i++)
		if (!kernel_symbols_fetch(symbols, 16 * i + 8)) {
			assert_int_equal(symbols->count, 0);
			assert_null(symbols->file);
			return false;
		}
	return true;
}

/* All of one salt: whoever wrote it, nobody else wrote in between. */
static void symbols_check(struct kernel_symbols *symbols)
{
	unsigned salt = 0;
	char name[64];

	assert_int_equal(symbols->count, COUNT);
	assert_int_equal(symbols->span, COUNT * 16 + 100);
	for (unsigned i = 0; i < COUNT; i++) {
		uint32_t begin;
		const char *found;

		assert_true(kernel_symbols_fetch(symbols, 16 * i + 8 + i % 16));
		found = kernel_symbols_find(symbols, 16 * i + 8 + i % 16, &begin);
		assert_non_null(found);
		assert_int_equal(begin, 16 * i + 8);
		if (!i)
			assert_int_equal(sscanf(found, "function_0_of_%u", &salt), 1);
		snprintf(name, sizeof(name), "function_%u_of_%u", i, salt);
		assert_string_equal(found, name);
	}
}

static void test_names_by_place(void **state)
{
	struct kernel_symbols symbols = {0};
	char longer[300];
	uint32_t begin;

	(void)state;
	memset(longer, 'x', sizeof(longer));
	assert_null(kernel_symbols_find(&symbols, 5, &begin));
	assert_true(kernel_symbols_fetch(&symbols, 5)); /* what is in no file need not be read */
	kernel_symbols_add(&symbols, 40, "later", 5);
	kernel_symbols_add(&symbols, 16, "first", 5);
	kernel_symbols_add(&symbols, 16, "alias", 5);
	kernel_symbols_add(&symbols, 90, longer, sizeof(longer));
	kernel_symbols_sort(&symbols);
	assert_null(kernel_symbols_find(&symbols, 15, &begin));
	assert_string_equal(kernel_symbols_find(&symbols, 16, &begin), "first");
	assert_string_equal(kernel_symbols_find(&symbols, 39, &begin), "first");
	assert_int_equal(begin, 16);
	assert_string_equal(kernel_symbols_find(&symbols, 40, &begin), "later");
	assert_int_equal(strlen(kernel_symbols_find(&symbols, UINT32_MAX, &begin)), KERNEL_SYMBOL_BYTES - 1);
	kernel_symbols_fini(&symbols);
}

static void test_what_was_kept_comes_back(void **state)
{
	struct kernel_symbols symbols, again = {0};
	uint8_t other[20] = {0xab, 0xcd, 9};
	struct stat status;

	(void)state;
	assert_false(kernel_symbols_load(&again, build_id, sizeof(build_id)));
	symbols_make(&symbols, 1);
	kernel_symbols_save(&symbols, build_id, sizeof(build_id));
	kernel_symbols_fini(&symbols);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_true(kernel_symbols_load(&again, build_id, sizeof(build_id)));
	symbols_check(&again);
	kernel_symbols_fini(&again);
	assert_false(kernel_symbols_load(&again, other, sizeof(other)));
	assert_false(kernel_symbols_load(&again, build_id, 0));	 /* a kernel without one */
	kernel_symbols_save(&again, build_id, sizeof(build_id)); /* nothing takes the place of nothing */
	assert_int_equal(stat(path, &status), 0);
}

static uint8_t *file_read(size_t *size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes = malloc(1 << 20);

	assert_non_null(file);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void file_write(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	fwrite(bytes, 1, size, file);
	fclose(file);
}

/* With checksums that fit, as its owner can make them: nothing outside the file is read. */
static void file_write_sealed(uint8_t *bytes, size_t size)
{
	struct {
		uint32_t first, end;
		uint64_t checksum;
	} block;
	uint32_t blocks, begin = 0;
	uint64_t checksum;
	size_t place;

	memcpy(&blocks, bytes + 8, sizeof(blocks));
	place = 24 + (size_t)blocks * sizeof(block) + sizeof(checksum);
	for (uint32_t i = 0; place < size && i < blocks; begin = block.end, i++) {
		memcpy(&block, bytes + 24 + i * sizeof(block), sizeof(block));
		if (block.end < begin || block.end > size - place)
			break;
		block.checksum = store_hash64(bytes + place + begin, block.end - begin, 0);
		memcpy(bytes + 24 + i * sizeof(block), &block, sizeof(block));
	}
	if (place < size) {
		checksum = store_hash64(bytes, place - sizeof(checksum), 0);
		memcpy(bytes + place - sizeof(checksum), &checksum, sizeof(checksum));
	}
	file_write(bytes, size);
}

/* What a table says that a hostile file made: something, or nothing, of the file. */
static void symbols_ask_all(struct kernel_symbols *symbols, size_t size)
{
	for (uint32_t at = 0; at < 16 * COUNT + 64; at += 4) {
		uint32_t begin;
		const char *name =
			kernel_symbols_fetch(symbols, at) ? kernel_symbols_find(symbols, at, &begin) : NULL;

		if (name)
			assert_in_range(strlen(name), 0, size);
	}
}

static void test_damage_is_no_table(void **state)
{
	struct kernel_symbols symbols = {0};
	size_t size;
	uint8_t *bytes = file_read(&size), *changed = malloc(size);

	(void)state;
	for (size_t at = 0; at < size; at += at < 64 ? 1 : 997) {
		memcpy(changed, bytes, size);
		changed[at] ^= 0x40;
		file_write(changed, size);
		assert_false(symbols_load_all(&symbols));
		file_write(bytes, at);
		assert_false(symbols_load_all(&symbols));
	}
	for (size_t at = 8; at < size; at += at < 2000 ? 3 : 101) {
		memcpy(changed, bytes, size);
		changed[at] ^= 0x80;
		file_write_sealed(changed, size);
		if (kernel_symbols_load(&symbols, build_id, sizeof(build_id))) {
			symbols_ask_all(&symbols, size);
			kernel_symbols_fini(&symbols);
		}
	}
	file_write(bytes, size);
	assert_true(kernel_symbols_load(&symbols, build_id, sizeof(build_id)));
	symbols_check(&symbols);
	kernel_symbols_fini(&symbols);
	free(changed);
	free(bytes);
}

static void test_only_a_file_of_ones_own(void **state)
{
	struct kernel_symbols symbols = {0};
	char aside[300];

	(void)state;
	snprintf(aside, sizeof(aside), "%s.aside", path);
	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(symlink(aside, path), 0);
	assert_false(kernel_symbols_load(&symbols, build_id, sizeof(build_id)));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(kernel_symbols_load(&symbols, build_id, sizeof(build_id)));
	unlink(path);
	assert_int_equal(rename(aside, path), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_false(kernel_symbols_load(&symbols, build_id, sizeof(build_id)));
		assert_int_equal(chown(path, 0, 0), 0);
	}
}

static void test_many_write_at_once(void **state)
{
	(void)state;
	for (unsigned child = 0; child < 6; child++)
		if (!fork()) {
			struct kernel_symbols symbols, again = {0};

			symbols_make(&symbols, child);
			for (unsigned i = 0; i < 20; i++) {
				kernel_symbols_save(&symbols, build_id, sizeof(build_id));
				if (!kernel_symbols_load(&again, build_id, sizeof(build_id)))
					_exit(1);
				symbols_check(&again);
				kernel_symbols_fini(&again);
			}
			_exit(0);
		}
	for (unsigned child = 0; child < 6; child++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	setenv("XDG_CACHE_HOME", directory, 1);
	snprintf(path, sizeof(path), "%s/hpct/kernel/abcd010203040506070800000000000000000000", directory);
	return 0;
}

static int end(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_by_place),
		cmocka_unit_test(test_what_was_kept_comes_back),
		cmocka_unit_test(test_damage_is_no_table),
		cmocka_unit_test(test_only_a_file_of_ones_own),
		cmocka_unit_test(test_many_write_at_once),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
