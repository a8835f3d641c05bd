/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_archive.c - archives and copies of a store: the same values, by name and number; whatever is damaged
 * in an archive is found or does not matter; a copy that is replaced is followed; a place without coherence
 * is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/base/filesystem.h"
#include "store/file/archive_pages.h"
#include "store/read/reader.h"
#include "store/write/archive.h"
#include "store/write/writer.h"

static char directory[] = "/tmp/hpct-archive.XXXXXX";
static char store[64], packed[64], copied[64];
static uint64_t state = 1; /* of a generator: what it fills is no more than incompressible */

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static void append(struct store_writer *writer, uint64_t begin, unsigned count)
{
	struct store_stream *stream = store_writer_stream_edit(writer, 0);

	for (unsigned i = 0; i < count; i++) {
		struct store_record record = {.begin_ns = (begin + i) * 1000000 + draw() % 900000,
			.amount = 1000000,
			.context = STORE_CONTEXT_PROGRAM_ROOT + (uint32_t)(draw() % 50),
			.flags = STORE_RECORD_EXTENT};

		record.end_ns = record.begin_ns;
		store_writer_append(writer, 0, STORE_SAMPLES, &record, 1);
		stream->end_ns = record.begin_ns + 1;
	}
}

static struct store_writer *make(unsigned records)
{
	struct store_stream stream = {.end_ns = STORE_OPEN_NS};
	struct store_writer *writer;
	struct error error;
	uint32_t text;

	unlink(store);
	assert_int_equal(store_writer_create(&writer, store, &error), 0);
	store_writer_meta_number(writer, "origin_ns", 77);
	store_writer_meta(writer, STORE_META_COPIED, "elsewhere");
	store_writer_metric(writer, "CPUTIME", "ns", false);
	text = store_writer_text_module(writer);
	for (unsigned i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof name, "function%u", i);
		store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, text,
			store_writer_text(writer, name, strlen(name)));
	}
	store_writer_stream(writer, &stream);
	append(writer, 0, records);
	return writer;
}

static uint64_t samples_in(const char *path)
{
	struct store_reader *reader;
	struct error error;
	uint32_t count;
	uint64_t samples;

	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	samples = store_reader_streams(reader, &count)[0].count[STORE_SAMPLES];
	store_reader_close(reader);
	return samples;
}

static void test_archive(void **unused)
{
	struct store_writer *writer = make(100000);
	struct store_reader *reader;
	struct error error;
	struct stat before, after;
	bool changed;

	(void)unused;
	/* a moment of a store that goes on */
	assert_int_equal(store_writer_commit(writer, &error), 0);
	assert_int_equal(store_archive(store, packed, &error), 0);
	append(writer, 100000, 10);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(samples_in(packed), 100000);
	assert_int_equal(store_archive(store, packed, &error), -ERROR_IO); /* it is there */
	assert_int_equal(samples_in(packed), 100000);
	unlink(packed);
	assert_int_equal(store_archive(store, packed, &error), 0);
	assert_int_equal(samples_in(packed), 100010);
	assert_int_equal(stat(store, &before), 0);
	assert_int_equal(stat(packed, &after), 0);
	assert_true(after.st_size < before.st_size);

	assert_int_equal(store_reader_open(&reader, packed, &error), 0);
	assert_true(store_reader_is_archive(reader));
	assert_int_equal(store_reader_bytes(reader), after.st_size);
	assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
	assert_false(changed);
	store_reader_close(reader);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* 0: sound. */
static int read_result(const char *path)
{
	struct store_reader *reader;
	struct error error = {0};
	int rc = store_reader_open(&reader, path, &error);

	if (!rc) {
		rc = store_reader_check(reader, &error);
		store_reader_close(reader);
	}
	assert_true(!rc || error.text[0]);
	return rc;
}

static void test_damage(void **unused)
{
	struct error error;
	struct stat facts;
	uint8_t *bytes;
	size_t size;
	FILE *file;

	(void)unused;
	assert_int_equal(store_writer_close(make(30000), &error), 0);
	unlink(packed);
	assert_int_equal(store_archive(store, packed, &error), 0);
	assert_int_equal(stat(packed, &facts), 0);
	size = (size_t)facts.st_size;
	bytes = malloc(size);
	assert_non_null(bytes);
	file = fopen(packed, "r");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, size, file), size);
	fclose(file);
	for (unsigned i = 0; i < 300; i++) {
		size_t at = i < 100 ? i : draw() % size;
		uint8_t bit = (uint8_t)(1 << draw() % 8);

		bytes[at] ^= bit;
		write_file(packed, bytes, size);
		bytes[at] ^= bit;
		if (at >= offsetof(struct store_archive_pages_header, reserved) &&
			at < sizeof(struct store_archive_pages_header))
			assert_int_equal(read_result(packed), 0);
		else if (read_result(packed) != -ERROR_RUN)
			fail_msg("byte %zu, bits %x: not found", at, bit);
	}
	for (unsigned i = 0; i < 100; i++) {
		write_file(packed, bytes, i < 50 ? i : draw() % size);
		assert_int_equal(read_result(packed), -ERROR_RUN);
	}
	write_file(packed, bytes, size);
	assert_int_equal(read_result(packed), 0);
	free(bytes);
}

static void test_copy(void **unused)
{
	struct store_writer *writer = make(1000);
	struct store_reader *reader;
	struct error error;
	uint32_t count;
	bool changed;

	(void)unused;
	assert_int_equal(store_writer_commit(writer, &error), 0);
	assert_int_equal(store_copy(store, copied, &error), 0);
	assert_int_equal(store_reader_open(&reader, copied, &error), 0);
	append(writer, 1000, 500);
	store_writer_text(writer, "later", 5);
	assert_int_equal(store_writer_commit(writer, &error), 0);
	assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
	assert_false(changed);
	assert_int_equal(store_copy(store, copied, &error), 0);
	if (store_reader_renew(reader, &changed, &error))
		fail_msg("%s", error.text);
	assert_true(changed);
	assert_int_equal(store_reader_streams(reader, &count)[0].count[STORE_SAMPLES], 1500);
	assert_int_equal(store_reader_check(reader, &error), 0);
	assert_int_equal(store_writer_close(writer, &error), 0);

	/* Another recording in its place is not followed. */
	writer = make(10);
	store_writer_meta_number(writer, "origin_ns", 78);
	assert_int_equal(store_writer_commit(writer, &error), 0);
	assert_int_equal(store_copy(store, copied, &error), 0);
	assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
	assert_false(changed);
	assert_int_equal(store_reader_streams(reader, &count)[0].count[STORE_SAMPLES], 1500);
	store_reader_close(reader);
	store_writer_abort(writer);
}

static bool is_mute; /* the lock manager */

/* In front of the library's. Where an alarm is set it comes soon. */
int fcntl(int fd, int command, ...)
{
	va_list more;
	void *argument;

	va_start(more, command);
	argument = va_arg(more, void *);
	va_end(more);
	if (is_mute && command == F_SETLK) {
		if (alarm(0))
			alarm(1);
		for (;;)
			pause();
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static void test_place(void **unused)
{
	bool is_remote;

	(void)unused;
	assert_non_null(store_filesystem("/", &is_remote));
	assert_null(store_filesystem("/nowhere/at/all", &is_remote));
	assert_true(store_filesystem_is_coherent(directory));
	assert_false(store_filesystem_is_coherent("/nowhere/at/all"));
	assert_false(store_filesystem_is_coherent("/proc"));
	is_mute = true;
	assert_false(store_filesystem_is_coherent(directory));
	is_mute = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_archive), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_copy), cmocka_unit_test(test_place)};
	char command[64];
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(store, sizeof store, "%s/a.mdb", directory);
	snprintf(packed, sizeof packed, "%s/a.mdz", directory);
	snprintf(copied, sizeof copied, "%s/copy.mdb", directory);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command) ? 1 : failed;
}
