/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_reader.c - a reader meets every kind of file: growing under it, left by a killed writer, on a full
 * disk, cut short, changed, from the future, or no store at all. Children do what may crash, so that a crash
 * is a failed test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/base/bytes.h"
#include "store/file/file.h"
#include "store/read/reader.h"
#include "store/write/writer.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "tests/unit/store_filesystem.h"

#define MUTATIONS 3000
#define PERIOD_NS 1000000u
#define ROUNDS 40
#define SLEEPER_BYTES_MAX (16u << 20)

static struct store_writer *create(void)
{
	struct store_stream stream = {.rank = -1, .end_ns = STORE_OPEN_NS};
	struct store_writer *writer;
	struct error error;

	if (store_writer_create(&writer, path, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	store_writer_metric(writer, "CPUTIME", "ns", false);
	store_writer_stream(writer, &stream);
	return writer;
}

/* Samples [from, to) of stream 0, one each ms, with contexts and names that grow. */
static void append(struct store_writer *writer, uint64_t from, uint64_t to)
{
	uint32_t module = store_writer_text_module(writer);

	for (uint64_t i = from; i < to; i++) {
		char name[32];
		struct store_record record = {
			.begin_ns = i * PERIOD_NS + i % 7, .amount = PERIOD_NS, .flags = STORE_RECORD_EXTENT};

		record.end_ns = record.begin_ns;
		snprintf(name, sizeof name, "function %u", (unsigned)(i % 500));
		record.context = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, module,
			store_writer_text(writer, name, strlen(name)));
		store_writer_symbol(writer, module, i % 500,
			&(struct store_scope){.name = store_writer_text(writer, name, strlen(name))}, 1);
		store_writer_append(writer, 0, STORE_SAMPLES, &record, 1);
	}
}

/* Counts what is there, and that it is 0, 1, 2, ... Buckets of different sizes overlap, so the walk is not
 * quite in order: each number must come once. */
static uint64_t count_samples(struct store_reader *reader)
{
	struct store_cursor *cursor;
	struct store_batch batch;
	struct store_chunk chunk;
	struct error error;
	uint32_t streams;
	uint64_t count = 0, sum = 0;

	store_batch_init(&batch);
	if (!store_reader_streams(reader, &streams) || !streams)
		return 0;
	assert_int_equal(store_cursor_open(&cursor, reader, 0, STORE_SAMPLES, 0, UINT64_MAX, &error), 0);
	while (store_cursor_next(cursor, &chunk, &error) == 1) {
		assert_int_equal(store_chunk_decode(&chunk, STORE_BEGIN, &batch, &error), 0);
		for (size_t i = 0; i < batch.count; i++, count++) {
			uint64_t number = batch.begin_ns[i] / PERIOD_NS;

			assert_true(batch.begin_ns[i] == number * PERIOD_NS + number % 7);
			sum += number;
		}
	}
	assert_true(count == 0 || sum == count * (count - 1) / 2);
	store_cursor_close(cursor);
	store_batch_fini(&batch);
	return count;
}

static struct store_reader *open_sound(void)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	return reader;
}

static void test_follow(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader = open_sound();
	struct error error;
	uint64_t written = 0;
	bool changed;

	(void)unused;
	assert_string_equal(store_reader_meta(reader, "state"), "recording");
	for (unsigned step = 0; step < 60; step++) {
		uint64_t more = step % 10 ? 37 : 20000;
		struct store_record open = {.begin_ns = written, .what = STORE_OP_MPI};

		append(writer, written, written + more);
		store_writer_span_open(writer, 0, 1, &open);
		assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
		assert_false(changed);
		assert_int_equal(store_writer_commit(writer, &error), 0);
		assert_int_equal(count_samples(reader), written);
		written += more;
		assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
		assert_true(changed);
		assert_int_equal(count_samples(reader), written);
		assert_int_equal(store_reader_check(reader, &error), 0);
	}
	store_writer_span_close(writer, 0, 1, NULL);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(store_reader_renew(reader, &changed, &error), 0);
	assert_string_equal(store_reader_meta(reader, "state"), "complete");
	store_reader_close(reader);
}

/* A stream that rests for many commits goes on in the chunk it had: slow streams must not become crumbs. */
static void test_parked(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader;
	struct store_cursor *cursor;
	struct store_chunk chunk;
	unsigned chunks = 0;

	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		append(writer, i, i + 1);
		for (unsigned idle = 0; idle < 4; idle++) {
			store_writer_meta_number(writer, "beat", i * 4 + idle);
			assert_int_equal(store_writer_commit(writer, NULL), 0);
		}
	}
	store_writer_abort(writer);
	reader = open_sound();
	assert_int_equal(count_samples(reader), 200);
	assert_int_equal(store_cursor_open(&cursor, reader, 0, STORE_SAMPLES, 0, UINT64_MAX, NULL), 0);
	while (store_cursor_next(cursor, &chunk, NULL) == 1)
		chunks++;
	assert_in_range(chunks, 1, 4);
	store_cursor_close(cursor);
	store_reader_close(reader);
}

/* In a child, killed while it writes; open spans stay open, what was committed stays. */
static void test_killed_writer(void **unused)
{
	int ready[2], status;
	uint64_t committed = 0, count;
	const struct store_record *spans;
	struct store_reader *reader;
	size_t span_count;
	pid_t child;

	(void)unused;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct store_writer *writer = create();
		struct store_record open = {.begin_ns = 5, .what = STORE_OP_IO};

		store_writer_span_open(writer, 0, 9, &open);
		for (uint64_t i = 0;; i += 500) {
			append(writer, i, i + 500);
			if (store_writer_commit(writer, NULL))
				_exit(1);
			committed = i + 500;
			if (write(ready[1], &committed, sizeof committed) != sizeof committed)
				_exit(1);
		}
	}
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(read(ready[0], &committed, sizeof committed), sizeof committed);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	close(ready[1]);
	while (read(ready[0], &count, sizeof count) == sizeof count)
		committed = count;
	close(ready[0]);
	reader = open_sound();
	count = count_samples(reader);
	assert_true(count == committed || count == committed + 500);
	assert_int_equal(store_reader_open_spans(reader, 0, &spans, &span_count, NULL), 0);
	assert_int_equal(span_count, 1);
	assert_true(spans[0].end_ns == STORE_OPEN_NS && spans[0].begin_ns == 5);
	assert_string_equal(store_reader_meta(reader, "state"), "recording");
	store_reader_close(reader);
}

static void in_child(void (*work)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("the child ended with status 0x%x", (unsigned)status);
}

#define NEED(condition)                                                         \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

/* A file may not grow beyond a limit, which is what a full disk looks like; then there is room again. */
static void fill_disk(void)
{
	struct rlimit limit = {4 << 20, RLIM_INFINITY};
	struct store_writer *writer = create();
	struct error error = {0};
	uint64_t i = 0;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (; i < 10000000 && !rc; i += 100000) {
		append(writer, i, i + 100000);
		rc = store_writer_commit(writer, &error);
	}
	NEED(rc == -ERROR_IO && strstr(error.text, "make room"));
	NEED(store_writer_commit(writer, &error) == -ERROR_IO);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	NEED(store_writer_commit(writer, &error) == 0);
	append(writer, i, i + 5);
	NEED(store_writer_close(writer, &error) == 0);
}

static void test_full_disk(void **unused)
{
	struct store_reader *reader;
	uint64_t count;

	(void)unused;
	in_child(fill_disk);
	reader = open_sound();
	count = count_samples(reader);
	assert_true(count >= 200000 && count % 100000 == 5);
	store_reader_close(reader);
}

static void stay_full(void)
{
	struct rlimit limit = {2 << 20, RLIM_INFINITY};
	struct store_writer *writer = create();

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (uint64_t i = 0; i < 3000000; i += 100000) {
		append(writer, i, i + 100000);
		if (store_writer_commit(writer, NULL))
			break;
	}
	NEED(store_writer_close(writer, NULL) == -ERROR_IO);
}

static void test_disk_stays_full(void **unused)
{
	struct store_reader *reader;

	(void)unused;
	in_child(stay_full);
	reader = open_sound();
	assert_true(count_samples(reader) >= 100000);
	store_reader_close(reader);
}

/* `ulimit -v` forbids the large map: a small one grows by replaying the commit. */
static void grow_map(void)
{
	struct rlimit limit = {(rlim_t)1 << 28, (rlim_t)1 << 28};
	struct store_writer *writer;
	struct error error = {0};

	setrlimit(RLIMIT_AS, &limit);
	writer = create();
	for (uint64_t i = 0; i < 24; i++) {
		struct store_record records[4096];

		for (unsigned r = 0; r < 4096; r++)
			records[r] = (struct store_record){
				.begin_ns = draw() >> 1, .amount = draw(), .link = draw(), .bytes = draw()};
		store_writer_append(writer, 0, STORE_SPANS, records, 4096);
		store_writer_meta_number(writer, "i", i);
		NEED(store_writer_commit(writer, &error) == 0);
	}
	NEED(store_writer_close(writer, &error) == 0);
}

static void test_small_address_space(void **unused)
{
	struct store_reader *reader;
	uint32_t count;

	(void)unused;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* the sanitizer's shadow takes more address space than there would be */
#endif
	in_child(grow_map);
	reader = open_sound();
	assert_int_equal(store_reader_streams(reader, &count)[0].count[STORE_SPANS], 24 * 4096);
	store_reader_close(reader);
}

/* ---- files that are not what they should be ---- */

static void write_file(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		abort();
}

static uint8_t *read_file(size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat facts;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &facts), 0);
	*size = (size_t)facts.st_size;
	bytes = malloc(*size);
	assert_int_equal(read(fd, bytes, *size), (ssize_t)*size);
	close(fd);
	return bytes;
}

static void expect_refusal(const char *word)
{
	struct store_reader *reader;
	struct error error = {0};

	assert_int_equal(store_reader_open(&reader, path, &error), -ERROR_RUN);
	if (!strstr(error.text, word))
		fail_msg("'%s' does not say '%s'", error.text, word);
}

static void test_not_a_store(void **unused)
{
	static uint8_t noise[20000];

	(void)unused;
	expect_refusal("No such file");
	write_file("", 0);
	expect_refusal("not a store");
	write_file("hello\n", 6);
	expect_refusal("not a store");
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (uint8_t)draw();
	write_file(noise, sizeof noise);
	expect_refusal("not a store");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refusal("not a file");
	rmdir(path);
}

static void test_existing(void **unused)
{
	struct store_writer *writer;
	struct error error;

	(void)unused;
	write_file("precious", 8);
	assert_int_equal(store_writer_create(&writer, path, &error), -ERROR_IO);
	assert_non_null(strstr(error.text, "already there"));
}

/* Opens and reads all; the answer may be anything but a crash or nonsense. */
static void read_all(void)
{
	struct store_reader *reader;
	struct error error = {0};
	struct store_record record;
	int rc = store_reader_open(&reader, path, &error);

	if (rc) {
		NEED((rc == -ERROR_RUN || rc == -ERROR_IO) && error.text[0]);
		return;
	}
	rc = store_reader_check(reader, &error);
	NEED(rc == 0 || (rc == -ERROR_RUN && error.text[0]));
	for (uint64_t time = 0; time < 3000; time += 500)
		NEED(store_reader_sample_before(reader, 0, time * PERIOD_NS, &record, &error) >= -ERROR_IO);
	store_reader_close(reader);
}

static uint64_t file_bytes(void)
{
	struct stat facts;

	assert_int_equal(stat(path, &facts), 0);
	return (uint64_t)facts.st_size;
}

/* Commits of little, many, as a recording of minutes makes them. */
static void record_on(struct store_writer *writer, uint64_t *next, unsigned commits)
{
	for (unsigned i = 0; i < commits; i++, *next += 10) {
		append(writer, *next, *next + 10);
		assert_int_equal(store_writer_commit(writer, NULL), 0);
	}
}

/* A reader that sleeps loses its moment before the file has grown much for it, is told so by whatever it asks
 * next, and goes on once it has renewed. One that looks again now and then loses nothing. */
static void test_sleeping_reader(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *sleeper, *other = open_sound();
	struct store_record record;
	struct store_cursor *cursor;
	struct store_chunk chunk;
	struct store_batch batch;
	struct error error = {0};
	uint64_t next = 0;
	bool changed;

	(void)unused;
	store_batch_init(&batch);
	store_writer_patience(writer, 0);
	record_on(writer, &next, 10);
	sleeper = open_sound();
	assert_int_equal(store_cursor_open(&cursor, sleeper, 0, STORE_SAMPLES, 0, UINT64_MAX, &error), 0);
	assert_int_equal(store_cursor_next(cursor, &chunk, &error), 1);
	assert_int_equal(store_chunk_decode(&chunk, STORE_ALL, &batch, &error), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		record_on(writer, &next, 32);
		assert_int_equal(store_reader_renew(other, &changed, &error), 0);
		assert_int_equal(count_samples(other), next);
	}
	if (file_bytes() > SLEEPER_BYTES_MAX)
		fail_msg("%" PRIu64 " bytes for a reader that sleeps", file_bytes());
	assert_int_equal(store_chunk_decode(&chunk, STORE_ALL, &batch, &error), -ERROR_IO);
	assert_non_null(strstr(error.text, "given up"));
	assert_int_equal(store_cursor_next(cursor, &chunk, &error), -ERROR_IO);
	store_cursor_close(cursor);
	assert_int_equal(store_reader_sample_before(sleeper, 0, 1000, &record, &error), -ERROR_IO);
	assert_int_equal(store_reader_check(sleeper, &error), -ERROR_IO);
	assert_int_equal(store_reader_renew(sleeper, &changed, &error), 0);
	assert_true(changed);
	assert_int_equal(count_samples(sleeper), next);
	store_reader_close(sleeper);
	store_reader_close(other);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	sleeper = open_sound();
	assert_int_equal(count_samples(sleeper), next);
	store_reader_close(sleeper);
	store_batch_fini(&batch);
}

/* The same where it does no harm: a moment is kept that costs little, however old it is. */
static void test_modest_reader(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader;
	uint64_t next = 0;

	(void)unused;
	store_writer_patience(writer, 0);
	record_on(writer, &next, 10);
	reader = open_sound();
	for (unsigned i = 0; i < 130; i++) /* hardly a page each */
		assert_int_equal(store_writer_commit(writer, NULL), 0);
	assert_int_equal(count_samples(reader), next);
	store_reader_close(reader);
	store_writer_abort(writer);
}

/* A child of a process that has the store open opens it for itself. */
static void test_fork(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader = open_sound(), *second = open_sound();
	bool changed;

	(void)unused;
	for (unsigned i = 0; i < 5; i++) {
		append(writer, i * 1000, i * 1000 + 1000);
		assert_int_equal(store_writer_commit(writer, NULL), 0);
		in_child(read_all);
		assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
		assert_int_equal(count_samples(reader), i * 1000 + 1000);
	}
	assert_int_equal(count_samples(second), 0); /* its snapshot has stood still */
	store_reader_close(reader);
	assert_int_equal(store_reader_renew(second, &changed, NULL), 0);
	assert_int_equal(count_samples(second), 5000);
	store_reader_close(second);
	store_writer_abort(writer);
}

/* More readers are killed than may read at once, while the writer commits nothing: that leaves room for
 * others. */
static void test_killed_readers(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader;
	int status;

	(void)unused;
	append(writer, 0, 1000);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	for (unsigned i = 0; i < 600; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			NEED(store_reader_open(&reader, path, NULL) == 0);
			raise(SIGKILL);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
	reader = open_sound();
	assert_int_equal(count_samples(reader), 1000);
	store_reader_close(reader);
	store_writer_abort(writer);
}

static void test_newer_version(void **unused)
{
	struct store_writer *writer = create();
	struct error error;

	(void)unused;
	store_writer_meta(writer, STORE_FORMAT_KEY, "6.9");
	assert_int_equal(store_writer_commit(writer, &error), 0);
	store_reader_close(open_sound());
	store_writer_meta(writer, STORE_FORMAT_KEY, "8.0");
	assert_int_equal(store_writer_close(writer, &error), 0);
	expect_refusal("newer hpct");
}

static void make_victim(void)
{
	struct store_writer *writer = create();
	struct store_record open = {.begin_ns = 5, .what = STORE_OP_IO};

	append(writer, 0, 2500);
	store_writer_span_open(writer, 0, 9, &open);
	store_writer_commit(writer, NULL);
	append(writer, 2500, 3000);
	assert_int_equal(store_writer_close(writer, NULL), 0);
}

static void test_truncated(void **unused)
{
	uint8_t *bytes;
	size_t size;

	(void)unused;
	make_victim();
	bytes = read_file(&size);
	for (size_t cut = 0; cut < size; cut += 1 + draw() % 4096) {
		write_file(bytes, cut);
		in_child(read_all);
	}
	write_file(bytes, size / 4);
	expect_refusal("");
	free(bytes);
}

static uint8_t *victim;
static size_t victim_size;
static uint64_t first_mutation, end_mutation;

/* Many mutations in one child; its number names the seed of a crash. */
static void read_mutations(void)
{
	uint8_t *copy = malloc(victim_size);

	for (uint64_t seed = first_mutation; seed < first_mutation + 100 && seed < end_mutation; seed++) {
		chance = seed;
		memcpy(copy, victim, victim_size);
		for (uint64_t flips = 1 + draw() % 6; flips--;) {
			size_t at = draw() % 3 ? draw() % victim_size
					       : draw() % (victim_size / 4096) * 4096 + draw() % 64;

			copy[at] = draw() % 2 ? (uint8_t)draw() : (uint8_t)(copy[at] ^ 1u << draw() % 8);
		}
		write_file(copy, victim_size);
		read_all();
	}
}

static void test_mutated(void **unused)
{
	(void)unused;
	make_victim();
	victim = read_file(&victim_size);
	for (first_mutation = seed_rounds(__func__, MUTATIONS - 1, &end_mutation);
		first_mutation < end_mutation; first_mutation += 100) {
		if (first_mutation % 1000 < 100)
			print_message("mutation seeds from %" PRIu64 "\n", first_mutation);
		in_child(read_mutations);
	}
	free(victim);
}

/* A finished store where nothing may be written, not even a lock file. */
static void read_as_stranger(void)
{
	struct store_reader *reader;
	struct error error = {0};

	if (geteuid() == 0)
		NEED(setuid(65534) == 0);
	if (store_reader_open(&reader, path, &error)) {
		fprintf(stderr, "%s\n", error.text);
		_exit(1);
	}
	NEED(store_reader_check(reader, &error) == 0);
	store_reader_close(reader);
}

static void test_read_only_directory(void **unused)
{
	char directory[] = "/tmp/hpct-reader-XXXXXX";

	(void)unused;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/store.mdb", directory);
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	make_victim();
	unlink(lock_path);
	chmod(path, 0444);
	chmod(directory, 0555);
	in_child(read_as_stranger);
	chmod(directory, 0700);
	unlink(path);
	unlink(lock_path);
	rmdir(directory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_follow),
		TEST(test_parked),
		TEST(test_killed_writer),
		TEST(test_full_disk),
		TEST(test_disk_stays_full),
		TEST(test_small_address_space),
		TEST(test_not_a_store),
		TEST(test_existing),
		TEST(test_sleeping_reader),
		TEST(test_modest_reader),
		TEST(test_fork),
		TEST(test_killed_readers),
		TEST(test_newer_version),
		TEST(test_truncated),
		TEST(test_mutated),
		TEST(test_read_only_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
