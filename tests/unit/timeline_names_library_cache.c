// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.names_library_cache - answers kept for other runs: what was kept is found, with another key
 * it is not, a damaged file costs itself, and many writers at once leave a whole file.
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

#include "timeline/names/names_library_cache.h"

static char directory[] = "/tmp/hpct-test-XXXXXX";
static char cache[64], file[160];
static struct symbol_answer answer;

static const struct symbol_request request = {
	.build_id_bytes = 8, .build_id = {0xab, 1, 2, 3, 4, 5, 6, 7}, .path = "", .real_path = ""};

static struct names_library_cache *open_with(const char *key, bool wants_damage)
{
	bool is_damaged;
	struct names_library_cache *shared = names_library_cache_open(cache, &request, key, &is_damaged);

	assert_non_null(shared);
	assert_int_equal(is_damaged, wants_damage);
	return shared;
}

static void add(struct names_library_cache *shared, uint64_t offset)
{
	char name[32];

	snprintf(name, sizeof name, "f%llu", (unsigned long long)offset);
	answer = (struct symbol_answer){.offset = offset, .source = NAMES_FROM_DEBUG, .scope_count = 2};
	for (unsigned i = 0; i < 2; i++)
		answer.scopes[i] = (struct names_scope){.kind = i ? NAMES_LOOP : NAMES_FUNCTION,
			.name = i ? "" : name,
			.linkage = "",
			.file = "/f.c",
			.decl_file = "/f.c",
			.line = 7,
			.decl_line = 6,
			.start = offset};
	names_library_cache_add(shared, &answer);
}

static bool has(struct names_library_cache *shared, uint64_t offset)
{
	char name[32];

	snprintf(name, sizeof name, "f%llu", (unsigned long long)offset);
	answer.module = 77;
	if (!names_library_cache_find(shared, offset, &answer))
		return false;
	assert_int_equal(answer.module, 77);
	assert_int_equal(answer.scope_count, 2);
	assert_string_equal(answer.scopes[0].name, name);
	assert_int_equal(answer.scopes[1].kind, NAMES_LOOP);
	return true;
}

static void keep(const char *key, uint64_t begin, uint64_t end)
{
	struct names_library_cache *shared = open_with(key, false);

	for (uint64_t offset = begin; offset < end; offset++)
		add(shared, offset);
	names_library_cache_close(shared);
}

static void test_kept(void **state)
{
	struct names_library_cache *shared;
	struct stat status;

	(void)state;
	unlink(file);
	keep("one", 1, 100);
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	keep("one", 100, 200);
	shared = open_with("one", false);
	for (uint64_t offset = 1; offset < 200; offset++)
		assert_true(has(shared, offset));
	assert_false(has(shared, 200));
	names_library_cache_close(shared);
	shared = open_with("another", false);
	assert_false(has(shared, 1));
	names_library_cache_close(shared);
	keep("another", 1, 2);
	shared = open_with("one", false);
	assert_false(has(shared, 1));
	names_library_cache_close(shared);
}

/* An answer holds for all addresses that it was said to hold for, whoever adds it again. */
static void test_stretches(void **state)
{
	struct names_library_cache *shared;
	struct stat first, second;

	(void)state;
	unlink(file);
	for (uint64_t turn = 0; turn < 2; turn++) {
		shared = open_with("one", false);
		for (uint64_t begin = 90; begin > 0; begin -= 10) {
			answer = (struct symbol_answer){.offset = begin + 3 + turn,
				.stretch = {begin, begin + 8},
				.source = NAMES_FROM_DEBUG,
				.scope_count = 1,
				.scopes = {{.name = "f", .linkage = "", .file = "", .decl_file = ""}}};
			names_library_cache_add(shared, &answer);
		}
		names_library_cache_close(shared);
		assert_int_equal(stat(file, turn ? &second : &first), 0);
	}
	shared = open_with("one", false);
	for (uint64_t offset = 1; offset < 100; offset++) {
		assert_int_equal(
			names_library_cache_find(shared, offset, &answer), offset >= 10 && offset % 10 < 8);
		assert_int_equal(answer.offset, offset);
	}
	names_library_cache_close(shared);
	assert_int_equal(second.st_size, first.st_size);
}

/* Flipped bytes, and every shorter file. */
static void test_damage(void **state)
{
	struct names_library_cache *shared;
	uint8_t bytes[4096];
	ssize_t size;
	int fd;

	(void)state;
	unlink(file);
	keep("one", 1, 20);
	fd = open(file, O_RDONLY);
	size = read(fd, bytes, sizeof bytes);
	close(fd);
	assert_in_range(size, 100, sizeof bytes - 1);
	for (ssize_t i = 1; i < 2 * size; i++) {
		ssize_t at = i < size ? i : i - size;
		bytes[at] ^= 0x41;
		fd = open(file, O_WRONLY | O_TRUNC);
		assert_int_equal(write(fd, bytes,
					 (size_t)(i < size ? size
						  : at	   ? at
							   : 1)),
			i < size ? size
			: at	 ? at
				 : 1);
		close(fd);
		bytes[at] ^= 0x41;
		shared = open_with("one", true);
		assert_false(has(shared, 1));
		names_library_cache_close(shared);
	}
	shared = open_with("one", true);
	add(shared, 5);
	names_library_cache_close(shared);
	shared = open_with("one", false);
	assert_true(has(shared, 5));
	names_library_cache_close(shared);
}

static void test_not_ours(void **state)
{
	struct names_library_cache *shared;
	char target[192];

	(void)state;
	unlink(file);
	keep("one", 1, 20);
	snprintf(target, sizeof target, "%s.away", file);
	assert_int_equal(rename(file, target), 0);
	assert_int_equal(symlink(target, file), 0);
	shared = open_with("one", false);
	assert_false(has(shared, 1));
	names_library_cache_close(shared);
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0);
	shared = open_with("one", false);
	assert_false(has(shared, 1));
	names_library_cache_close(shared);
	unlink(file);
}

static void test_many_writers(void **state)
{
	unsigned found = 0;
	struct names_library_cache *shared;

	(void)state;
	unlink(file);
	for (uint64_t writer = 0; writer < 8; writer++)
		if (fork() == 0) {
			for (uint64_t turn = 0; turn < 20; turn++)
				keep("one", 1 + writer * 1000 + turn * 10, 11 + writer * 1000 + turn * 10);
			_exit(0);
		}
	for (int status, writer = 0; writer < 8; writer++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	shared = open_with("one", false);
	for (uint64_t offset = 1; offset < 8000; offset++)
		found += has(shared, offset);
	assert_true(found >= 200);
	names_library_cache_close(shared);
	print_message("%u of 1600 answers of 8 writers were kept\n", found);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(cache, sizeof cache, "%s/not/yet/there", directory);
	snprintf(file, sizeof file, "%s/names/ab/01020304050607", cache);
	return 0;
}

static int remove_directory(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_many_writers),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
