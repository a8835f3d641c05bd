/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_memory.c - the n-th allocation fails, for every n: the writer says so at its next commit, a reader at
 * once, and the file holds what was committed before. This program brings its own malloc in front of libc's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/ingest/ingest.h"
#include "store/read/reader.h"
#include "store/states/all_streams.h"
#include "store/states/device_busy.h"
#include "store/write/writer.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
	puts("skipped: the sanitizer has a malloc of its own");
	return 0;
}
#else

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static long allocations_left = -1; /* negative: all succeed */
static bool is_once;		   /* what fails does so once; else memory is out from there on */
static unsigned long failures;

static int must_fail(void)
{
	if (allocations_left < 0)
		return 0;
	if (allocations_left-- > 0)
		return 0;
	allocations_left = is_once ? -1 : 0;
	failures++;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return must_fail() ? NULL : __libc_realloc(old, size);
}

static char path[64], lock_path[72];

/* What a run is made of: streams, and the records of each round, which is committed. */
struct shape {
	uint32_t streams;
	unsigned rounds;
	uint64_t (*append)(struct store_writer *writer, unsigned round); /* how many */
};

#define NAMED_EACH 300u

/* Of one stream, each with a name of its own, and one that stays open. */
static uint64_t named_append(struct store_writer *writer, unsigned round)
{
	struct store_record records[NAMED_EACH];
	uint32_t module = store_writer_text_module(writer);

	for (unsigned i = 0; i < NAMED_EACH; i++) {
		char name[32];

		snprintf(name, sizeof name, "f%u", round * NAMED_EACH + i);
		records[i] = (struct store_record){.begin_ns = (uint64_t)(round * NAMED_EACH + i) << 24};
		records[i].end_ns = records[i].begin_ns + i * 1000;
		records[i].context = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, module,
			store_writer_text(writer, name, strlen(name)));
	}
	store_writer_append(writer, 0, STORE_SPANS, records, NAMED_EACH);
	store_writer_span_open(writer, 0, round, &records[0]);
	return NAMED_EACH;
}

static const struct shape named = {1, 4, named_append};

#define ALL_STREAMS 40u
#define ALL_EACH 1000u
#define ALL_ROUNDS 5u

/* So many streams that what waits is put by. In the rounds between all but one rest, until they are parked.
 */
static uint64_t all_append(struct store_writer *writer, unsigned round)
{
	static struct store_record records[ALL_EACH];
	uint32_t streams = round == 0 || round == ALL_ROUNDS - 1 ? ALL_STREAMS : 1;

	for (uint32_t i = 0; i < ALL_EACH; i++)
		records[i].begin_ns = records[i].end_ns = (uint64_t)(round * ALL_EACH + i) << 10;
	for (uint32_t stream = 0; stream < streams; stream++)
		store_writer_append(writer, stream, STORE_SAMPLES, records, ALL_EACH);
	return streams * ALL_EACH;
}

static const struct shape many = {ALL_STREAMS, ALL_ROUNDS, all_append};

/* 0 when every step succeeded, else the code of the first that failed. The records that are safe in
 * *committed. */
static int write_run(const struct shape *shape, uint64_t *committed)
{
	struct store_writer *writer;
	struct error error = {0};
	int rc = store_writer_create(&writer, path, &error);

	*committed = 0;
	if (rc)
		return rc;
	store_writer_metric(writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < shape->streams; i++)
		store_writer_stream(writer, &(struct store_stream){.rank = -1});
	for (unsigned round = 0; round < shape->rounds; round++) {
		uint64_t added = shape->append(writer, round);

		rc = store_writer_commit(writer, &error);
		if (rc) {
			store_writer_abort(writer);
			return rc;
		}
		*committed += added;
	}
	return store_writer_close(writer, &error);
}

/* How many records of all streams there are; all is as it should be. */
static uint64_t read_run(void)
{
	const struct store_stream *streams;
	struct store_reader *reader;
	struct error error;
	uint32_t count;
	uint64_t records = 0;

	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	streams = store_reader_streams(reader, &count);
	for (uint32_t i = 0; i < count; i++)
		records += streams[i].count[STORE_SPANS] + streams[i].count[STORE_SAMPLES];
	store_reader_close(reader);
	return records;
}

/* Writes a run whose allocation number n fails: nothing that was committed is lost. As write_run. */
static int write_without(const struct shape *shape, long n)
{
	uint64_t committed;
	int rc;

	unlink(path);
	unlink(lock_path);
	allocations_left = n;
	rc = write_run(shape, &committed);
	allocations_left = -1;
	assert_true(rc == 0 || rc == -ERROR_IO);
	if (access(path, F_OK) == 0)
		assert_true(read_run() >= committed);
	else
		assert_int_equal(committed, 0);
	return rc;
}

static void test_writer(void **unused)
{
	(void)unused;
	for (long n = 0; write_without(&named, n); n++)
		;
	assert_true(failures > 20);
}

/* Whoever goes on without the memory has lost nothing. */
static void test_crowd_is_put_by(void **unused)
{
	long n = 0;

	(void)unused;
	is_once = true;
	do {
		failures = 0;
		write_without(&many, n++);
	} while (failures);
	is_once = false;
	assert_true(n > 100);
}

static void test_reader(void **unused)
{
	struct store_reader *reader;
	struct error error;
	uint64_t committed;
	int rc = -1;

	(void)unused;
	unlink(path);
	assert_int_equal(write_run(&named, &committed), 0);
	for (long n = 0; rc; n++) {
		allocations_left = n;
		rc = store_reader_open(&reader, path, &error);
		if (!rc) {
			rc = store_reader_check(reader, &error);
			store_reader_close(reader);
		}
		allocations_left = -1;
		assert_true(rc == 0 || rc == -ERROR_IO || rc == -ERROR_RUN);
	}
	unlink(path);
	unlink(lock_path);
}

/* A commit does without the sums of all streams' lines. */
static void test_crowd(void **unused)
{
	const struct store_all_streams_head head = {
		.streams = STORE_ALL_STREAMS_STREAMS, .begin_ns = 0, .end_ns = UINT64_C(1) << 30};
	struct store_all_streams all = {0};

	(void)unused;
	for (uint32_t i = 0; i < 64; i++)
		store_all_streams_add(&all, &(struct state_piece){.begin_ns = (uint64_t)i << 24,
						    .end_ns = (uint64_t)(i + 1) << 24,
						    .context = i,
						    .state = EXTENT_WORK});
	assert_false(all.is_bad);
	allocations_left = 0;
	assert_int_equal(store_all_streams_put(&all, &head, NULL, 0), 0);
	allocations_left = -1;
	assert_true(all.is_bad);
	store_all_streams_fini(&all);
}

/* Two queues, one far behind the other; the buckets of the last round: some bytes of them. */
static size_t unite(void)
{
	const struct store_stream properties = {.kind = STORE_STREAM_GPU, .rank = -1};
	struct store_devices_busy devices = {0};
	struct store_device_busy *busy[2];
	uint32_t queue[2];
	size_t size = 0;

	for (uint32_t i = 0; i < 2; i++) {
		busy[i] = store_device_busy_join(&devices, i, &properties, &queue[i]);
		if (!busy[i])
			goto fini;
	}
	for (uint64_t t = 0; t < 5000; t++)
		for (uint32_t i = 0; i < 2; i++)
			store_device_busy_add(busy[i], queue[i], t * 1000 + i * 10, t * 1000 + 500);
	store_device_busy_know(busy[0], queue[0], 3000000, false);
	store_device_busy_know(busy[1], queue[1], 5000000, true);
	store_devices_busy_merge(&devices, false);
	store_device_busy_know(busy[0], queue[0], 5000000, true);
	store_devices_busy_merge(&devices, true);
	size = busy[0]->is_over ? 0 : busy[0]->made.size;
fini:
	store_devices_busy_fini(&devices);
	return size;
}

static void test_united(void **unused)
{
	long n = 0;
	size_t size;

	(void)unused;
	do {
		failures = 0;
		allocations_left = n++;
		size = unite();
		allocations_left = -1;
	} while (failures);
	assert_true(n > 8);
	assert_int_not_equal(size, 0);
}

/* So many streams that what waits is put by, and one whose chunk becomes full. */
static bool ingest_all(void)
{
	enum { STREAMS = 64, TURNS = 7, EACH = 100, FULL = STORE_CHUNK_RECORDS_MAX + 1 };
	static struct store_record records[FULL];
	struct store_ingest ingest = {0};
	bool is_good = true;
	uint64_t shifts = 0;

	for (uint64_t i = 0; i < FULL; i++)
		records[i] =
			(struct store_record){.begin_ns = i, .end_ns = i, .context = (uint32_t)(i % 1000)};
	for (uint32_t i = 0; i < STREAMS * TURNS && is_good; i++)
		is_good = store_ingest_append(
			&ingest, i % STREAMS, STORE_SAMPLES, records + i / STREAMS * EACH, EACH, &shifts);
	if (is_good)
		is_good = store_ingest_append(&ingest, STREAMS, STORE_SAMPLES, records, FULL, &shifts);
	is_good &= !ingest.failed;
	if (is_good) {
		assert_true(store_chunk_parked_pool_bytes(&ingest.pool) > 0);
		assert_int_equal(ingest.closed_count, 1);
		assert_true(ingest.closed[0].size > 0);
	}
	store_ingest_fini(&ingest);
	return is_good;
}

static void test_ingest(void **unused)
{
	bool is_good;
	long n = 0;

	(void)unused;
	do {
		failures = 0;
		allocations_left = n++;
		is_good = ingest_all();
		allocations_left = -1;
		assert_true(is_good || failures);
	} while (failures);
	assert_true(n > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_crowd_is_put_by),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_ingest),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_united),
	};

	snprintf(path, sizeof path, "/tmp/hpct-memory-%d.mdb", (int)getpid());
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
