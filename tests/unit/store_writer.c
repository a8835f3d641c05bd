/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_writer.c - records through writer, file and reader against a plain array: any order, any times,
 * any commits between. Seeds are printed; HPCT_SEED repeats one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/read/reader.h"
#include "store/write/writer.h"
#include "tests/unit/seed.h"

#define ROUNDS 40
#define RECORDS_MAX 30000

static uint64_t state;

static uint64_t draw(void)
{
	return seed_next(&state);
}

static uint64_t below(uint64_t limit)
{
	return draw() % limit;
}

/* The truth: what was appended, in order of comparison. */
struct model {
	struct store_record *records;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

/* Ways in which times come. */
enum shape { SHAPE_STEADY, SHAPE_RANDOM, SHAPE_NEAR, SHAPE_EQUAL, SHAPE_BACKWARD, SHAPE_BURSTS, SHAPE_COUNT };

static uint64_t next_time(enum shape shape, uint64_t i)
{
	switch (shape) {
	case SHAPE_STEADY:
		return 1000000000ull + i * 1000000 + below(20000);
	case SHAPE_RANDOM:
		return below(3) ? draw() : (draw() & 1 ? UINT64_MAX - 1 : 0);
	case SHAPE_NEAR:
		return 5000000000ull + i * 1000 - below(400000);
	case SHAPE_EQUAL:
		return 77;
	case SHAPE_BACKWARD:
		return 900000000000ull - i * 3000;
	default:
		return (i / 1000) * 50000000000ull + i % 1000;
	}
}

static uint64_t next_duration(uint64_t begin)
{
	uint64_t most = UINT64_MAX - 1 - begin, duration;

	switch (below(4)) {
	case 0:
		duration = 0;
		break;
	case 1:
		duration = below(50000);
		break;
	case 2:
		duration = draw() >> below(64);
		break;
	default:
		duration = 20000 + below(300);
	}
	return duration < most ? duration : most;
}

static struct store_record next_record(
	enum store_track track, enum shape shape, uint64_t i, uint32_t contexts)
{
	struct store_record record = {.begin_ns = next_time(shape, i)};

	if (record.begin_ns == UINT64_MAX)
		record.begin_ns--;
	record.end_ns = record.begin_ns;
	record.context = (uint32_t)(below(4) ? below(contexts < 20 ? contexts : 20) : below(contexts));
	if (track == STORE_SPANS) {
		record.end_ns += next_duration(record.begin_ns);
		record.what = (uint32_t)below(STORE_OP_COUNT);
		record.bytes = below(3) ? 0 : draw();
		record.link = below(2) ? i : 0;
		record.attributes = (uint32_t)below(4);
	}
	record.amount = below(5) ? 1000000 : below(2) ? draw() : 1ull << 63;
	record.flags = track == STORE_SAMPLES && below(3) ? STORE_RECORD_EXTENT : 0;
	return record;
}

struct world {
	char path[64];
	struct store_writer *writer;
	struct model models[STORE_TRACK_COUNT];
	enum shape shapes[STORE_TRACK_COUNT];
	uint32_t contexts;
	uint32_t others; /* streams beside the two, so many that what waits is put by
			    (store/ingest/chunk_parked.h) */
	uint64_t others_ns;
};

static void world_write(struct world *world)
{
	struct store_stream stream = {.rank = -1, .end_ns = STORE_OPEN_NS};
	struct error error;

	snprintf(world->path, sizeof world->path, "/tmp/hpct-store-%d.mdb", (int)getpid());
	unlink(world->path);
	assert_int_equal(store_writer_create(&world->writer, world->path, &error), 0);
	assert_int_equal(store_writer_stream(world->writer, &stream), 0);
	assert_int_equal(store_writer_stream(world->writer, &stream), 1);
	world->others = below(2) ? 0 : (uint32_t)below(1000);
	for (uint32_t i = 0; i < world->others; i++)
		store_writer_stream(world->writer, &stream);
	store_writer_metric(world->writer, "CPUTIME", "ns", false);
	for (unsigned i = 0; i < 4; i++)
		store_writer_text(world->writer, (char[2]){(char)('a' + i)}, 1);
	for (uint32_t i = 0; i < 3000; i++)
		store_writer_context(world->writer,
			(uint32_t)below(store_writer_context_count(world->writer)), 0, below(1000));
	world->contexts = store_writer_context_count(world->writer);
}

static void others_append(struct world *world)
{
	const struct store_record sample = {.begin_ns = ++world->others_ns, .end_ns = world->others_ns};

	for (uint32_t i = 0; i < world->others; i++)
		store_writer_append(world->writer, 2 + i, STORE_SAMPLES, &sample, 1);
}

static void world_fill(struct world *world, enum store_track track)
{
	struct model *model = &world->models[track];
	size_t count = 1 + below(RECORDS_MAX), done = 0;

	model->records = malloc(count * sizeof *model->records);
	world->shapes[track] = (enum shape)below(SHAPE_COUNT);
	for (size_t i = 0; i < count; i++)
		model->records[i] = next_record(track, world->shapes[track], i, world->contexts);
	model->count = count;
	while (done < count) {
		size_t part = 1 + below(3000);

		part = part < count - done ? part : count - done;
		if (below(4) == 0)
			others_append(world);
		store_writer_append(world->writer, 1, track, model->records + done, part);
		done += part;
		if (below(3) == 0)
			assert_int_equal(store_writer_commit(world->writer, NULL), 0);
	}
	qsort(model->records, count, sizeof *model->records, compare);
}

static bool in_window(const struct store_record *record, uint64_t begin, uint64_t end)
{
	return begin < end && record->begin_ns < end &&
	       (record->end_ns > begin || record->begin_ns >= begin); /* an empty window holds nothing */
}

/* Everything the cursor gives for a window, sorted. */
static struct model collect(struct store_reader *reader, enum store_track track, uint64_t begin, uint64_t end)
{
	struct model got = {0};
	struct store_cursor *cursor;
	struct store_batch batch;
	struct store_chunk chunk;
	struct error error = {0};
	uint64_t last_bucket = 0;
	int rc;

	store_batch_init(&batch);
	assert_int_equal(store_cursor_open(&cursor, reader, 1, track, begin, end, &error), 0);
	while ((rc = store_cursor_next(cursor, &chunk, &error)) == 1) {
		assert_true(chunk.bucket_ns >= last_bucket);
		last_bucket = chunk.bucket_ns;
		if (store_chunk_decode(&chunk, STORE_ALL, &batch, &error))
			fail_msg("%s", error.text);
		got.records = realloc(got.records, (got.count + batch.count + 1) * sizeof *got.records);
		for (size_t i = 0; i < batch.count; i++) {
			struct store_record record = store_batch_record(&batch, i), before;

			before = store_batch_record(&batch, i ? i - 1 : 0);
			assert_true(store_record_compare(&before, &record) <= 0);
			got.records[got.count] = record;
			got.count += in_window(&record, begin, end);
		}
	}
	if (rc)
		fail_msg("%s", error.text);
	store_cursor_close(cursor);
	store_batch_fini(&batch);
	if (got.count)
		qsort(got.records, got.count, sizeof *got.records, compare);
	return got;
}

static void check_window(struct world *world, struct store_reader *reader, enum store_track track,
	uint64_t begin, uint64_t end)
{
	const struct model *model = &world->models[track];
	struct model got = collect(reader, track, begin, end);
	size_t at = 0;

	for (size_t i = 0; i < model->count; i++) {
		if (!in_window(&model->records[i], begin, end))
			continue;
		assert_true(at < got.count);
		assert_memory_equal(&got.records[at], &model->records[i], sizeof *got.records);
		at++;
	}
	assert_int_equal(at, got.count);
	free(got.records);
}

/* Of samples of one moment the one with the greatest path hash, then the heaviest. */
static bool is_last(struct store_reader *reader, const struct store_record *a, const struct store_record *b)
{
	uint32_t count;
	const struct store_context *contexts = store_reader_contexts(reader, &count);
	struct store_hash x = contexts[a->context].hash, y = contexts[b->context].hash;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns > b->begin_ns;
	if (x.high != y.high || x.low != y.low)
		return x.high != y.high ? x.high > y.high : x.low > y.low;
	return a->amount > b->amount;
}

static void check_before(struct world *world, struct store_reader *reader, uint64_t time)
{
	const struct model *model = &world->models[STORE_SAMPLES];
	const struct store_record *wanted = NULL;
	struct store_record got;
	struct error error;
	int rc;

	for (size_t i = 0; i < model->count; i++)
		if (model->records[i].begin_ns < time && model->records[i].flags & STORE_RECORD_EXTENT &&
			(!wanted || is_last(reader, &model->records[i], wanted)))
			wanted = &model->records[i];
	rc = store_reader_sample_before(reader, 1, time, &got, &error);
	assert_int_equal(rc, wanted != NULL);
	if (wanted)
		assert_memory_equal(&got, wanted, sizeof got);
}

static uint64_t some_time(const struct model *model)
{
	if (below(4) == 0)
		return draw() >> below(64);
	return model->records[below(model->count)].begin_ns + below(3) - 1;
}

static void check_world(struct world *world, struct store_reader *reader)
{
	uint32_t count;
	const struct store_stream *streams = store_reader_streams(reader, &count);

	assert_int_equal(count, 2 + world->others);
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		assert_int_equal(streams[1].count[track], world->models[track].count);
		check_window(world, reader, track, 0, UINT64_MAX);
		for (int i = 0; i < 12; i++) {
			uint64_t a = some_time(&world->models[track]), b = some_time(&world->models[track]);

			check_window(world, reader, track, a < b ? a : b, a < b ? b : a);
			check_before(world, reader, a);
		}
	}
	check_before(world, reader, 0);
	check_before(world, reader, UINT64_MAX);
}

static void one_round(uint64_t seed)
{
	struct world world = {0};
	struct store_reader *reader;
	struct error error = {0};

	state = seed;
	world_write(&world);
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		world_fill(&world, track);
	print_message("seed %" PRIu64 ": shapes %d %d %d, records %zu %zu %zu, %u other streams\n", seed,
		world.shapes[0], world.shapes[1], world.shapes[2], world.models[0].count,
		world.models[1].count, world.models[2].count, world.others);
	assert_int_equal(store_writer_close(world.writer, &error), 0);
	if (store_reader_open(&reader, world.path, &error))
		fail_msg("%s", error.text);
	if (store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	check_world(&world, reader);
	store_reader_close(reader);
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		free(world.models[track].records);
	unlink(world.path);
	strcat(world.path, "-lock");
	unlink(world.path);
}

static void test_random_records(void **unused)
{
	uint64_t seed = seed_take(__func__, 7919);

	(void)unused;
	for (unsigned round = 0; round < (seed_is_given() ? 1 : ROUNDS); round++)
		one_round(seed + round * UINT64_C(7919));
}

/* A commit is early for chunks that are full, not for those that it would encode again and again. */
static void test_many_slow_streams_are_not_committed_early(void **unused)
{
	enum { STREAMS = 300, PART = 64, FEW = 20 * PART, MANY = 1500 * PART };
	const char *path = "/tmp/hpct-writer-laden.mdb";
	static struct store_record records[MANY];
	const size_t least = 100000;
	const uint64_t first_ns = UINT64_C(1) << 50;
	struct store_writer *writer;
	struct error error;
	uint32_t at;

	(void)unused;
	for (uint64_t i = 0; i < MANY; i++)
		records[i] = (struct store_record){.begin_ns = first_ns + i * 1000,
			.end_ns = first_ns + i * 1000,
			.amount = i * UINT64_C(0x9e3779b97f4a7c15) >> 40};
	unlink(path);
	assert_int_equal(store_writer_create(&writer, path, &error), 0);
	for (uint32_t i = 0; i < STREAMS; i++) {
		store_writer_stream(writer, &(struct store_stream){.rank = -1});
		store_writer_append(writer, i, STORE_SAMPLES, records, FEW);
	}
	assert_true(store_writer_pending_bytes(writer) > 100 * least);
	assert_false(store_writer_is_laden(writer, least)); /* none is full */
	assert_int_equal(store_writer_commit(writer, &error), 0);
	/* One stream fills chunk after chunk, the others stand still: they cost its commits nothing. */
	for (at = FEW; at < MANY && !store_writer_is_laden(writer, least); at += PART)
		store_writer_append(writer, 0, STORE_SAMPLES, records + at, PART);
	assert_true(at < MANY);
	assert_false(store_writer_is_laden(writer, 2 * least));
	for (uint32_t i = 1; i < STREAMS; i++) /* now they would cost */
		store_writer_append(writer, i, STORE_SAMPLES, records + FEW, PART);
	assert_false(store_writer_is_laden(writer, least));
	for (uint32_t i = 1; i < STREAMS;
		i++) /* nor are they past where a late record has a bucket of its own */
		store_writer_append(writer, i, STORE_SAMPLES,
			&(struct store_record){.begin_ns = 1000, .end_ns = 1000, .amount = 1}, 1);
	assert_false(store_writer_is_laden(writer, least));
	store_writer_abort(writer);
	unlink(path);
	unlink("/tmp/hpct-writer-laden.mdb-lock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_records),
		cmocka_unit_test(test_many_slow_streams_are_not_committed_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
