/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_snapshot.c - which pages of a file are in memory is known to who may not write it, too; and a long
 * row that is not is asked of the disk at once.
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

#include "store/file/file_internal.h"
#include "store/read/reader_internal.h"
#include "store/rollup/rollup.h"
#include "store/write/writer.h"

#define PAGES 64u
#define PLACE 40u /* of the page that is looked at */
#define BYTE 7
#define SAMPLES 100000u
#define PERIOD_NS 1000000u
#define MOMENT_US 10000u
#define MOMENTS 1000u /* that a disk has */

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
	const uint8_t *byte;
	bool is_right;

	if (!geteuid() && setuid(65534))
		return NO_STRANGER;
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file.fd < 0)
		return NO_STRANGER;
	snapshot.map = map_pages(file.fd);
	byte = (uint8_t *)snapshot.map + PLACE * page + 1;
	is_right = !store_snapshot_holds(&snapshot, byte);
	is_right &= *(const volatile uint8_t *)byte == BYTE;
	is_right &= store_snapshot_holds(&snapshot, byte);
	snapshot.map = NULL; /* of an archive, which is unpacked into memory */
	is_right &= store_snapshot_holds(&snapshot, byte);
	return is_right ? AS_IT_IS : AS_IT_IS_NOT;
}

static void test_what_is_in_memory(void **unused)
{
	const size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/hpct-snapshot-XXXXXX";
	int file = mkstemp(path), status = 0;
	void *content = malloc(bytes);
	bool is_on_disk;

	(void)unused;
	assert_true(file >= 0 && content);
	memset(content, BYTE, bytes);
	assert_int_equal(write(file, content, bytes), bytes);
	free(content);
	assert_int_equal(fchmod(file, 0444), 0);
	/* The kernel may take a page away, or bring one in, at any moment: not three times. */
	for (unsigned tries = 0; tries < 3; tries++) {
		is_on_disk = leave_to_disk(file);
		if (is_on_disk && !fork())
			_exit(look_as_stranger(path));
		if (is_on_disk)
			wait(&status);
		if (!is_on_disk || WEXITSTATUS(status) != AS_IT_IS_NOT)
			break;
	}
	close(file);
	unlink(path);
	if (!is_on_disk || WEXITSTATUS(status) == NO_STRANGER)
		skip(); /* there is no disk below /tmp, or nobody else */
	assert_int_equal(status, AS_IT_IS);
}

/* ---- a row ---- */

static void record(const char *path)
{
	struct store_writer *writer;
	uint64_t chance = 1;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	store_writer_stream(writer, &(struct store_stream){.rank = -1, .end_ns = STORE_OPEN_NS});
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct store_record sample = {.amount = PERIOD_NS,
			.context = STORE_CONTEXT_PROGRAM_ROOT,
			.flags = STORE_RECORD_EXTENT};

		chance = chance * 6364136223846793005u + 1442695040888963407u;
		sample.begin_ns = sample.end_ns = 1 + i * PERIOD_NS + (chance >> 45);
		store_writer_append(writer, 0, STORE_SAMPLES, &sample, 1);
	}
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	store_writer_abort(writer); /* as it was written: each chunk has pages of its own, and a head there */
}

static bool wants_any(void *unused, const struct store_sum_row *line)
{
	(void)unused;
	(void)line;
	return true;
}

/* Without asking for it: who owns the file may know. */
static bool has_end(const struct store_line_part *part)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
			last = (uintptr_t)part->at.bytes.bytes + part->at.bytes.size - 1;
	unsigned char is_there = 1;

	mincore((void *)(last & ~(page - 1)), 1, &is_there);
	return is_there & 1;
}

/* False: the last part stays in memory, as the first ones may. */
static bool leave_parts_to_disk(const struct store_reader *reader, const char *path,
	const struct store_line_part *parts, uint32_t count)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool is_left;

	madvise((void *)(uintptr_t)reader->snapshot.map, reader->snapshot.map_bytes, MADV_DONTNEED);
	is_left = file >= 0 && !fsync(file) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	close(file);
	return is_left && !has_end(&parts[count - 1]);
}

/* Do the ends of all parts come, without anybody who reads them? */
static bool do_come(const struct store_line_part *parts, uint32_t count)
{
	uint32_t moments = 0;

	for (uint32_t i = 0; i < count; i++)
		for (; !has_end(&parts[i]); moments++) {
			if (moments == MOMENTS)
				return false;
			usleep(MOMENT_US);
		}
	return true;
}

static void test_a_row_is_asked_for_at_once(void **unused)
{
	struct store_line_query query = {
		.begin_ns = 1, .end_ns = SAMPLES * UINT64_C(1000000), .wants = wants_any};
	char path[64] = "/tmp/hpct-row-XXXXXX";
	int file = mkstemp(path);
	struct store_line_part *parts, *again;
	uint64_t clear_ns;
	uint32_t count;
	bool is_on_disk;

	(void)unused;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	record(path);
	assert_int_equal(store_reader_open(&query.reader, path, NULL), 0);
	store_snapshot_expect_scattered(&query.reader->snapshot, true);
	assert_int_equal(store_line_parts(&query, &parts, &count, &clear_ns, NULL), 0);
	assert_true(count > 4);
	is_on_disk = leave_parts_to_disk(query.reader, path, parts, count);
	assert_int_equal(store_line_parts(&query, &again, &count, &clear_ns, NULL), 0);
	if (is_on_disk)
		assert_true(do_come(again, count));
	free(parts);
	free(again);
	store_reader_close(query.reader);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	if (!is_on_disk)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_in_memory),
		cmocka_unit_test(test_a_row_is_asked_for_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
