/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sync.c - which commits wait for the disk: LMDB's fdatasync is ours here, and counts. The first of an
 * empty store does not, nor one that store_writer_close() follows at once; whatever comes after one of them
 * does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/base/filesystem.h"
#include "store/write/writer.h"

static unsigned waits;

int fdatasync(int fd)
{
	waits++;
	return (int)syscall(SYS_fdatasync, fd);
}

static void commit(struct store_writer *writer, unsigned expected)
{
	struct error error;

	store_writer_meta(writer, "said", "something");
	waits = 0;
	assert_int_equal(store_writer_commit(writer, &error), 0);
	assert_int_equal(waits > 0, expected);
}

static void test_waits(void **unused)
{
	char directory[] = "/tmp/hpct-sync.XXXXXX", path[sizeof(directory) + sizeof("/a.mdb-lock")];
	struct store_writer *writer;
	struct error error;
	bool is_remote = true;

	(void)unused;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/a.mdb", directory);
	waits = 0;
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	assert_int_equal(waits, 0);
	commit(writer, true);
	store_writer_hurry(writer);
	commit(writer, !store_filesystem(directory, &is_remote) || is_remote);
	commit(writer, true);
	store_writer_hurry(writer);
	commit(writer, is_remote);
	waits = 0;
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_true(waits > 0);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
