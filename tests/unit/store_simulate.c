/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_simulate.c - every shape of hpct-simulate is a sound store, and the same one each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/read/reader.h"
#include "tests/simulate.h"

#define STORE_FILE "/node01-0f0e0d0c-0b0a-4908-8706-050403020100.mdb"

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x100000001b3ull;
}

static uint64_t sum_record(uint64_t sum, const struct store_record *record)
{
	sum = mix(mix(mix(sum, record->begin_ns), record->end_ns), record->amount);
	sum = mix(mix(mix(sum, record->bytes), record->link), record->context);
	return mix(mix(mix(sum, record->what), record->attributes), record->flags);
}

/* All records of a track, in the cursor's order, as one number. */
static uint64_t sum_track(struct store_reader *reader, uint32_t stream, enum store_track track, uint64_t sum)
{
	struct store_cursor *cursor;
	struct store_batch batch;
	struct store_chunk chunk;
	struct error error;

	store_batch_init(&batch);
	assert_int_equal(store_cursor_open(&cursor, reader, stream, track, 0, UINT64_MAX, &error), 0);
	while (store_cursor_next(cursor, &chunk, &error) == 1) {
		assert_int_equal(store_chunk_decode(&chunk, STORE_ALL, &batch, &error), 0);
		for (size_t i = 0; i < batch.count; i++) {
			struct store_record record = store_batch_record(&batch, i);

			sum = sum_record(sum, &record);
		}
	}
	store_cursor_close(cursor);
	store_batch_fini(&batch);
	return sum;
}

static uint64_t sum_store(struct store_reader *reader)
{
	uint32_t streams, contexts;
	const struct store_context *nodes = store_reader_contexts(reader, &contexts);
	uint64_t sum = 0xcbf29ce484222325ull;

	for (uint32_t i = 0; i < contexts; i++)
		sum = mix(mix(sum, nodes[i].hash.high), nodes[i].hash.low);
	store_reader_streams(reader, &streams);
	for (uint32_t s = 0; s < streams; s++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			sum = sum_track(reader, s, track, sum);
	return sum;
}

/* Made, checked, and what `take` says of it. */
static uint64_t make(const struct simulate_options *asked, uint64_t take(struct store_reader *reader))
{
	char run[] = "/tmp/hpct-simulate-XXXXXX", path[128];
	struct simulate_options options = *asked;
	struct store_reader *reader;
	struct error error = {0};
	uint64_t taken;

	options.run = run;
	assert_non_null(mkdtemp(run));
	rmdir(run);
	if (simulate_run(&options, &error))
		fail_msg("%s", error.text);
	snprintf(path, sizeof path, "%s%s", run, STORE_FILE);
	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail_msg("%s: %s", options.shape, error.text);
	assert_string_equal(store_reader_meta(reader, "state"), "complete");
	taken = take(reader);
	store_reader_close(reader);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	rmdir(run);
	return taken;
}

static void test_shapes(void **unused)
{
	struct simulate_options one = {.streams = 5, .records = 30000, .seed = 1},
				two = {.streams = 5, .records = 30000, .seed = 2};

	(void)unused;
	for (unsigned i = 0; (one.shape = simulate_shape_name(i)); i++) {
		two.shape = one.shape;
		assert_true(make(&one, sum_store) == make(&one, sum_store));
		assert_true(make(&one, sum_store) != make(&two, sum_store));
	}
}

static uint64_t count_records(struct store_reader *reader)
{
	uint64_t records = 0;
	uint32_t count;
	const struct store_stream *streams = store_reader_streams(reader, &count);

	for (uint32_t i = 0; i < count; i++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			records += streams[i].count[track];
	return records;
}

/* About as many records as were asked for, of many streams, too; whatever is odd is in each stream once. */
static void test_sizes(void **unused)
{
	struct simulate_options options = {.streams = 2000, .records = 40000, .seed = 1};

	(void)unused;
	for (unsigned i = 0; (options.shape = simulate_shape_name(i)); i++) {
		uint64_t records =
			strcmp(options.shape, "odd") ? make(&options, count_records) : options.records;

		if (records < options.records / 2 || records > options.records * 2)
			fail_msg("%s: %llu records", options.shape, (unsigned long long)records);
	}
}

static void test_refusals(void **unused)
{
	struct simulate_options options = {
		.run = "/tmp", .shape = "cpu", .streams = 1, .records = 1, .seed = 1};
	struct error error;

	(void)unused;
	assert_int_equal(simulate_run(&options, &error), -ERROR_USAGE); /* it is there */
	options.run = "/nowhere/run.hpct";
	assert_int_equal(simulate_run(&options, &error), -ERROR_IO);
	options.shape = "round";
	assert_int_equal(simulate_run(&options, &error), -ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
