/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_blob.c - whole files in a store: what went in comes out, and the last one put counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/read/reader.h"
#include "store/write/writer.h"
#include "tests/unit/seed.h"

#define LARGE (3u << 20)

static char path[64];

static struct store_writer *writer_new(void)
{
	struct store_writer *writer;
	struct error error;

	snprintf(path, sizeof(path), "/tmp/hpct-blob-%d.mdb", (int)getpid());
	unlink(path);
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	return writer;
}

static struct store_reader *reader_of(struct store_writer *writer)
{
	struct store_reader *reader;
	struct error error;

	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_open(&reader, path, &error), 0);
	assert_int_equal(store_reader_check(reader, &error), 0);
	return reader;
}

static void done(struct store_reader *reader)
{
	char lock[80];

	store_reader_close(reader);
	snprintf(lock, sizeof(lock), "%s-lock", path);
	unlink(path);
	unlink(lock);
}

static void expect_blob(struct store_reader *reader, uint64_t key, const void *want, size_t want_size)
{
	struct error error;
	void *bytes;
	size_t size;

	assert_int_equal(store_reader_blob(reader, key, &bytes, &size, &error), 1);
	assert_int_equal(size, want_size);
	assert_memory_equal(bytes, want, size);
	free(bytes);
}

static void test_what_went_in_comes_out(void **state)
{
	struct store_writer *writer = writer_new();
	unsigned char *large = malloc(LARGE);
	struct store_reader *reader;
	struct error error;
	void *bytes;
	size_t size;
	uint64_t key = 0;

	(void)state;
	srand((unsigned)seed_take(__func__, 3));
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (unsigned char)(rand() >> 7);
	store_writer_blob(writer, 1, "first", 5);
	store_writer_blob(writer, UINT64_MAX, large, LARGE);
	assert_int_equal(store_writer_commit(writer, &error), 0);
	store_writer_blob(writer, 1, "again", 5);
	store_writer_blob(writer, 2, "", 0);
	reader = reader_of(writer);
	expect_blob(reader, 1, "again", 5);
	expect_blob(reader, 2, "", 0);
	expect_blob(reader, UINT64_MAX, large, LARGE);
	assert_int_equal(store_reader_blob(reader, 3, &bytes, &size, &error), 0);
	assert_int_equal(store_reader_blob_next(reader, &key, &error), 1);
	assert_int_equal(key++, 1);
	assert_int_equal(store_reader_blob_next(reader, &key, &error), 1);
	assert_int_equal(key++, 2);
	assert_int_equal(store_reader_blob_next(reader, &key, &error), 1);
	assert_true(key == UINT64_MAX);
	done(reader);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_went_in_comes_out)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
