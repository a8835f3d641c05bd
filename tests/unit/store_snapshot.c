/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_snapshot.c - which pages of a file are in memory is known to who may not write it, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/file_state.h"

#define PAGES 64u
#define PLACE 40u /* of the page that is looked at */
#define BYTE 7

enum { AS_IT_IS, AS_IT_IS_NOT, NO_STRANGER };

static uint8_t *map_pages(int file)
{
	uint8_t *map = mmap(NULL, PAGES * (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file, 0);

	assert_true(map != MAP_FAILED);
	madvise(map, PAGES * (size_t)sysconf(_SC_PAGESIZE), MADV_RANDOM);
	return map;
}

/* False: the file lies in memory, or cannot leave it. */
static bool leave_to_disk(int file)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char is_there = 1;
	uint8_t *map;

	if (fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
		return false;
	map = map_pages(file);
	mincore(map + PLACE * page, 1, &is_there);
	munmap(map, PAGES * page);
	return !(is_there & 1);
}

static int look_as_stranger(const char *path)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct store_file file = {.fd = -1};
	struct store_snapshot snapshot = {.file = &file, .map_bytes = PAGES * page};
	struct store_slice value = {NULL, 1};
	bool is_right;

	if (!geteuid() && setuid(65534))
		return NO_STRANGER;
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file.fd < 0)
		return NO_STRANGER;
	snapshot.map = map_pages(file.fd);
	value.bytes = (uint8_t *)snapshot.map + PLACE * page + 1;
	is_right = !store_snapshot_holds(&snapshot, value);
	is_right &= *(const volatile uint8_t *)value.bytes == BYTE;
	is_right &= store_snapshot_holds(&snapshot, value);
	snapshot.map = NULL; /* of an archive, which is unpacked into memory */
	is_right &= store_snapshot_holds(&snapshot, value);
	return is_right ? AS_IT_IS : AS_IT_IS_NOT;
}

static void test_what_is_in_memory(void **unused)
{
	const size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/hpct-snapshot-XXXXXX";
	int file = mkstemp(path), status;
	void *content = malloc(bytes);
	bool is_on_disk;

	(void)unused;
	assert_true(file >= 0 && content);
	memset(content, BYTE, bytes);
	assert_int_equal(write(file, content, bytes), bytes);
	free(content);
	assert_int_equal(fchmod(file, 0444), 0);
	is_on_disk = leave_to_disk(file);
	if (is_on_disk && !fork())
		_exit(look_as_stranger(path));
	close(file);
	if (is_on_disk)
		wait(&status);
	unlink(path);
	if (!is_on_disk || WEXITSTATUS(status) == NO_STRANGER)
		skip(); /* there is no disk below /tmp, or nobody else */
	assert_int_equal(status, AS_IT_IS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
