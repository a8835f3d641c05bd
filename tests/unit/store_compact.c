/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_compact.c - what a writer leaves when it ends in order: a file not larger than 1.15 x what is in it
 * (the bytes of all keys and values, once they are more than the pages that every store has), while readers
 * follow or are about to open it, in a run that was moved or removed, and where nothing can be put beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/file/file.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/write/compact.h"
#include "store/write/writer.h"

#define PERIOD_NS 1000000u
#define COMMITS 200
#define COMMIT_RECORDS 2000u
#define RECORDS (COMMITS * COMMIT_RECORDS)
#define SMALL_STREAMS 12u
#define SMALL_RECORDS 60u
#define SHORT_STREAMS 500u

static char run[64], path[96], lock_path[104], moved[80], moved_path[112];

static int set_up(void **unused)
{
	(void)unused;
	snprintf(run, sizeof run, "%s/hpct-rewrite-%d", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
		(int)getpid());
	snprintf(path, sizeof path, "%s/host.mdb", run);
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	snprintf(moved, sizeof moved, "%s.moved", run);
	snprintf(moved_path, sizeof moved_path, "%s/host.mdb", moved);
	return mkdir(run, 0700);
}

static int tear_down(void **unused)
{
	(void)unused;
	unlink(path);
	unlink(lock_path);
	return rmdir(run); /* nothing else is there */
}

static struct store_writer *create(void)
{
	struct store_stream stream = {.rank = -1, .end_ns = STORE_OPEN_NS};
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	store_writer_stream(writer, &stream);
	return writer;
}

/* As a collector does: many commits, each of which puts the newest chunks again. */
static void record(struct store_writer *writer, unsigned commits)
{
	uint64_t chance = 1;

	for (unsigned commit = 0; commit < commits; commit++) {
		for (unsigned i = 0; i < COMMIT_RECORDS; i++) {
			struct store_record sample = {.amount = PERIOD_NS, .flags = STORE_RECORD_EXTENT};

			chance = chance * 6364136223846793005u + 1442695040888963407u;
			sample.begin_ns =
				(uint64_t)(commit * COMMIT_RECORDS + i) * PERIOD_NS + (chance >> 48);
			sample.end_ns = sample.begin_ns;
			sample.context = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT,
				store_writer_text_module(writer), 1 + (chance >> 33) % 300);
			store_writer_append(writer, 0, STORE_SAMPLES, &sample, 1);
		}
		assert_int_equal(store_writer_commit(writer, NULL), 0);
	}
}

static uint64_t count_samples(struct store_reader *reader)
{
	struct store_cursor *cursor;
	struct store_chunk chunk;
	uint64_t count = 0;

	assert_int_equal(store_cursor_open(&cursor, reader, 0, STORE_SAMPLES, 0, UINT64_MAX, NULL), 0);
	while (store_cursor_next(cursor, &chunk, NULL) == 1)
		count += chunk.count;
	store_cursor_close(cursor);
	return count;
}

/* What all keys and values hold. */
static uint64_t payload_bytes(const char *of)
{
	struct store_snapshot snapshot = {0};
	struct store_tree_cursor cursor;
	uint64_t bytes = 0;

	assert_int_equal(store_file_open(&snapshot.file, of, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	for (unsigned tree = 0; tree < STORE_TREE_COUNT; tree++) {
		int rc;

		store_tree_cursor_init(&cursor, &snapshot.pages, &snapshot.trees[tree]);
		for (rc = store_tree_seek(&cursor, "", 0, NULL); rc == 1; rc = store_tree_next(&cursor, NULL))
			bytes += cursor.key.size + cursor.value.size;
		assert_int_equal(rc, 0);
	}
	struct store_file *file = snapshot.file;

	store_snapshot_end(&snapshot);
	store_file_close(file);
	return bytes;
}

static struct stat facts_of(const char *of)
{
	struct stat facts;

	assert_int_equal(stat(of, &facts), 0);
	return facts;
}

static void expect_whole(const char *of, uint64_t records)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, of, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	assert_string_equal(store_reader_meta(reader, "state"), "complete");
	assert_true(count_samples(reader) == records);
	store_reader_close(reader);
}

static void expect_nothing_beside(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;

	assert_non_null(entries);
	while ((entry = readdir(entries)))
		if (entry->d_name[0] == '.' && strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			fail_msg("'%s' is left", entry->d_name);
	closedir(entries);
}

static void test_size(void **unused)
{
	struct store_writer *writer = create();
	struct stat before, after;
	uint64_t payload;

	(void)unused;
	record(writer, COMMITS);
	assert_int_equal(chmod(path, 0640), 0);
	before = facts_of(path);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	after = facts_of(path);
	payload = payload_bytes(path);
	print_message("%llu bytes of keys and values, file %llu, before its end %llu\n",
		(unsigned long long)payload, (unsigned long long)after.st_size,
		(unsigned long long)before.st_size);
	assert_true((uint64_t)before.st_size > payload / 100 * 115); /* or this test shows nothing */
	assert_true((uint64_t)after.st_size <= payload / 100 * 115);
	assert_int_equal(after.st_mode & 07777, 0640);
	expect_whole(path, RECORDS);
	expect_nothing_beside(run);
}

/* A large one, all of it facts of so many bytes; is it settled by its end? */
static bool large_settles(size_t fact_bytes, uint64_t *size)
{
	struct store_writer *writer = create();
	char *text = test_malloc(fact_bytes + 1), key[32];
	struct store_reader *reader;
	struct error error;
	bool is_settled;

	memset(text, 'x', fact_bytes);
	text[fact_bytes] = '\0';
	for (size_t i = 0; i <= STORE_COMPACT_ALWAYS_BYTES / fact_bytes; i++) {
		snprintf(key, sizeof key, "fact%zu", i);
		store_writer_meta(writer, key, text);
	}
	test_free(text);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	*size = (uint64_t)facts_of(path).st_size;
	if (store_reader_open(&reader, path, &error))
		fail_msg("%s", error.text);
	is_settled = store_reader_meta(reader, STORE_META_SETTLED) != NULL;
	store_reader_close(reader);
	return is_settled;
}

/* One that is large is rewritten where its pages hold little, though none of them is free. */
static void test_large(void **unused)
{
	uint64_t size;

	(void)unused;
	snprintf(path, sizeof path, "/tmp/hpct-rewrite-%d.mdb", (int)getpid()); /* memory may have no room */
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	assert_true(large_settles(4090, &size)); /* two pages of 4096 bytes each */
	assert_true(size <= STORE_COMPACT_ALWAYS_BYTES / 100 * 115);
	assert_int_equal(unlink(path), 0);
	assert_false(large_settles(60000, &size)); /* 15 pages, of which the last is half full */
	assert_true(size <= STORE_COMPACT_ALWAYS_BYTES / 100 * 115);
}

/* Little is in it: its pages are small ones, or each tree's half-empty last one would be most of the file. */
static void test_small(void **unused)
{
	struct store_writer *writer = create();
	uint64_t size;

	(void)unused;
	assert_int_equal(store_writer_close(writer, NULL), 0);
	size = (uint64_t)facts_of(path).st_size;
	print_message("nothing in it: %llu\n", (unsigned long long)size);
	assert_true(size <= 8192);
	expect_whole(path, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(lock_path), -1);
	writer = create();
	record(writer, 5);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	size = (uint64_t)facts_of(path).st_size;
	print_message("%u samples: %llu, of which %llu are keys and values\n", 5 * COMMIT_RECORDS,
		(unsigned long long)size, (unsigned long long)payload_bytes(path));
	assert_true(size <= payload_bytes(path) / 100 * 115 + 8192);
	expect_whole(path, 5 * COMMIT_RECORDS);
}

/* Small values of many threads: what every store has, its pages for names and the trees' roots, counts when
 * its pages' size is chosen. */
static void test_many_small(void **unused)
{
	struct store_writer *writer = create();
	uint64_t chance = 1, size;

	(void)unused;
	for (uint32_t stream = 0; stream < SMALL_STREAMS; stream++) {
		if (stream)
			store_writer_stream(
				writer, &(struct store_stream){
						.rank = -1, .thread = stream, .end_ns = STORE_OPEN_NS});
		for (unsigned i = 0; i < SMALL_RECORDS; i++) {
			struct store_record sample = {.amount = PERIOD_NS, .flags = STORE_RECORD_EXTENT};

			chance = chance * 6364136223846793005u + 1442695040888963407u;
			sample.begin_ns = sample.end_ns = i * PERIOD_NS + (chance >> 48);
			sample.context = STORE_CONTEXT_PROGRAM_ROOT;
			store_writer_append(writer, stream, STORE_SAMPLES, &sample, 1);
		}
	}
	assert_int_equal(store_writer_close(writer, NULL), 0);
	size = (uint64_t)facts_of(path).st_size;
	print_message("%u streams: %llu, of which %llu are keys and values\n", SMALL_STREAMS,
		(unsigned long long)size, (unsigned long long)payload_bytes(path));
	assert_true(size <= 14336);	   /* of pages of 1024 bytes it is 15360 */
	expect_whole(path, SMALL_RECORDS); /* of the first stream */
}

/* As many short processes leave it: a few samples and spans each, in chunks and rollups of some ten bytes. */
static void test_many_short(void **unused)
{
	struct store_writer *writer = create();
	uint64_t chance = 1, size;

	(void)unused;
	for (uint32_t stream = 0; stream < SHORT_STREAMS; stream++) {
		struct store_record record = {.amount = PERIOD_NS};

		if (stream)
			store_writer_stream(writer, &(struct store_stream){.rank = -1,
							    .pid = 1000 + stream,
							    .begin_ns = stream * UINT64_C(3000000),
							    .end_ns = (stream + 1) * UINT64_C(3000000)});
		for (unsigned i = 0; i < 3; i++) {
			chance = chance * 6364136223846793005u + 1442695040888963407u;
			record.begin_ns = record.end_ns = stream * UINT64_C(3000000) + (chance >> 43);
			record.context = STORE_CONTEXT_PROGRAM_ROOT;
			store_writer_append(writer, stream, STORE_SAMPLES, &record, 1);
			record.end_ns += chance >> 50;
			record.what = STORE_OP_BLOCKED;
			store_writer_append(writer, stream, STORE_SPANS, &record, 1);
			record.what = 0;
		}
	}
	assert_int_equal(store_writer_close(writer, NULL), 0);
	size = (uint64_t)facts_of(path).st_size;
	print_message("%u short streams: %llu, of which %llu are keys and values\n", SHORT_STREAMS,
		(unsigned long long)size, (unsigned long long)payload_bytes(path));
	assert_true(size <= payload_bytes(path) / 100 * 115);
	expect_whole(path, 3);
}

/* LMDB wants two keys on a page: for long ones it is a larger one. */
static void test_long_key(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader;
	char key[512];

	(void)unused;
	for (size_t size = 100; size < sizeof key; size += 41) {
		memset(key, 'k', size);
		key[size] = '\0';
		store_writer_meta(writer, key, key);
	}
	record(writer, 1);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(facts_of(path).st_size % 4096, 0);
	expect_whole(path, COMMIT_RECORDS);
	assert_int_equal(store_reader_open(&reader, path, NULL), 0);
	assert_non_null(store_reader_meta(reader, STORE_META_SETTLED));
	for (size_t size = 100; size < sizeof key; size += 41) {
		memset(key, 'k', size);
		key[size] = '\0';
		assert_string_equal(store_reader_meta(reader, key), key);
	}
	store_reader_close(reader);
}

/* ---- rollups that are not worth their room ---- */

/* Bytes of a tree, and how many values they are. */
static uint64_t tree_bytes(enum store_tree_id tree, unsigned *count)
{
	struct store_snapshot snapshot = {0};
	struct store_tree_cursor cursor;
	struct store_file *file;
	uint64_t bytes = 0;

	*count = 0;
	assert_int_equal(store_file_open(&snapshot.file, path, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	store_tree_cursor_init(&cursor, &snapshot.pages, &snapshot.trees[tree]);
	for (int rc = store_tree_seek(&cursor, "", 0, NULL); rc == 1; rc = store_tree_next(&cursor, NULL)) {
		bytes += cursor.value.size;
		++*count;
	}
	file = snapshot.file;
	store_snapshot_end(&snapshot);
	store_file_close(file);
	return bytes;
}

/* Every call path is new, or one of a few; weights and times are like nothing before. */
static void record_paths(struct store_writer *writer, bool is_young)
{
	uint64_t chance = 1;

	for (unsigned i = 0; i < 60000; i++) {
		struct store_record sample = {.flags = STORE_RECORD_EXTENT};

		chance = chance * 6364136223846793005u + 1442695040888963407u;
		sample.begin_ns = sample.end_ns = (uint64_t)i * PERIOD_NS + (chance >> 45);
		sample.amount = PERIOD_NS + (chance >> 24 & 0xffff);
		sample.context = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT,
			store_writer_text_module(writer), is_young ? i : i % 30);
		store_writer_append(writer, 0, STORE_SAMPLES, &sample, 1);
		if (i % 2000 == 0)
			assert_int_equal(store_writer_commit(writer, NULL), 0);
	}
}

static void test_rollups(void **unused)
{
	enum { FEW, YOUNG, FLIGHT };

	(void)unused;
	for (int kind = FEW; kind <= FLIGHT; kind++) {
		struct store_writer *writer = create();
		unsigned before, after, chunks;
		uint64_t bytes;

		record_paths(writer, kind != FEW);
		if (kind == FLIGHT) {
			store_writer_keep(writer, 60000 * (uint64_t)PERIOD_NS, 20000 * (uint64_t)PERIOD_NS);
			assert_int_equal(store_writer_commit(writer, NULL), 0);
		}
		tree_bytes(STORE_TREE_ROLL, &before);
		assert_int_equal(store_writer_close(writer, NULL), 0);
		bytes = tree_bytes(STORE_TREE_ROLL, &after);
		print_message("%u rollups, settled %u, %llu bytes, chunks %llu\n", before, after,
			(unsigned long long)bytes, (unsigned long long)tree_bytes(STORE_TREE_CHUNK, &chunks));
		assert_true(before > 0);
		assert_true(kind == YOUNG ? after == 0 : after > 0);
		if (kind == FEW)
			assert_true(bytes * 5 <= tree_bytes(STORE_TREE_CHUNK, &chunks));
		if (kind != FLIGHT)
			expect_whole(path, 60000);
		if (kind < FLIGHT)
			assert_true(unlink(path) == 0 && unlink(lock_path) != 0);
	}
}

/* A reader in another process holds the lock file of what was there, whose transactions the new file never
 * had. */
static void follow(int begun, int ended)
{
	struct store_reader *reader;
	bool changed;
	char word;

	if (store_reader_open(&reader, path, NULL) || write(begun, "b", 1) != 1 || read(ended, &word, 1) != 1)
		_exit(1);
	if (strcmp(store_reader_meta(reader, "state"), "recording") != 0)
		_exit(2);
	if (store_reader_renew(reader, &changed, NULL) || !changed)
		_exit(3);
	if (strcmp(store_reader_meta(reader, "state"), "complete") != 0 || count_samples(reader) != RECORDS)
		_exit(4);
	if (store_reader_check(reader, NULL))
		_exit(5);
	_exit(store_reader_renew(reader, &changed, NULL) || changed ? 6 : 0);
}

static void test_followed(void **unused)
{
	int begun[2], ended[2], status;
	char word;
	pid_t child;

	(void)unused;
	for (unsigned extra = 0; extra < 2; extra++) { /* LMDB looks for a moment by whether it is odd */
		struct store_writer *writer = create();
		struct store_reader *own;
		bool changed;

		record(writer, COMMITS);
		for (unsigned i = 0; i < extra; i++) {
			store_writer_meta_number(writer, "beat", i);
			assert_int_equal(store_writer_commit(writer, NULL), 0);
		}
		assert_int_equal(pipe(begun), 0);
		assert_int_equal(pipe(ended), 0);
		assert_int_equal(store_reader_open(&own, path, NULL), 0);
		child = fork();
		if (child == 0)
			follow(begun[1], ended[0]);
		assert_int_equal(read(begun[0], &word, 1), 1);
		assert_int_equal(store_writer_close(writer, NULL), 0);
		expect_whole(path, RECORDS);
		assert_int_equal(write(ended[1], "e", 1), 1);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(store_reader_renew(own, &changed, NULL), 0);
		assert_true(changed && count_samples(own) == RECORDS);
		store_reader_close(own);
		expect_whole(path, RECORDS);
		for (unsigned i = 0; i < 2; i++) {
			close(begun[i]);
			close(ended[i]);
		}
		assert_int_equal(unlink(path), 0);
		assert_int_equal(unlink(lock_path), -1); /* it is settled: nobody needs one */
		assert_int_equal(errno, ENOENT);
	}
}

/* Of the child that is in the middle of opening the file: it says so, and waits until it is replaced. */
static int opening = -1, replaced = -1;

/* In place of libc's: asked by readers between opening the file and having LMDB open it. */
int fstatfs(int fd, struct statfs *facts)
{
	char word;

	if (opening >= 0 && (write(opening, "o", 1) != 1 || read(replaced, &word, 1) != 1))
		_exit(1);
	opening = -1;
	return (int)syscall(SYS_fstatfs, fd, facts);
}

static void open_meanwhile(int begun, int ended)
{
	struct store_reader *reader;

	opening = begun;
	replaced = ended;
	if (store_reader_open(&reader, path, NULL))
		_exit(2);
	if (store_reader_check(reader, NULL) || count_samples(reader) != RECORDS)
		_exit(3);
	_exit(opening >= 0 ? 4 : 0);
}

/* LMDB gets another file than the reader has looked at: both are opened once more. */
static void test_opened_meanwhile(void **unused)
{
	struct store_writer *writer = create();
	int begun[2], ended[2], status;
	char word;
	pid_t child;

	(void)unused;
	record(writer, COMMITS);
	assert_int_equal(pipe(begun), 0);
	assert_int_equal(pipe(ended), 0);
	child = fork();
	if (child == 0)
		open_meanwhile(begun[1], ended[0]);
	close(begun[1]);
	assert_int_equal(read(begun[0], &word, 1), 1);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(write(ended[1], "e", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(begun[0]);
	close(ended[0]);
	close(ended[1]);
}

static void test_moved(void **unused)
{
	struct store_writer *writer = create();
	uint64_t payload;

	(void)unused;
	record(writer, COMMITS);
	assert_int_equal(rename(run, moved), 0);
	assert_int_equal(mkdir(run, 0700), 0); /* another run of that name */
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	payload = payload_bytes(moved_path);
	assert_true((uint64_t)facts_of(moved_path).st_size <= payload / 100 * 115);
	expect_whole(moved_path, RECORDS);
	expect_nothing_beside(moved);
	assert_int_equal(rmdir(run), 0);
	assert_int_equal(rename(moved, run), 0);
}

static void test_removed(void **unused)
{
	struct store_writer *writer = create();

	(void)unused;
	record(writer, 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	expect_nothing_beside(run);
	/* Another's file of that name stays what it is. */
	unlink(lock_path);
	writer = create();
	record(writer, 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), 0);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(facts_of(path).st_size, 0);
	expect_nothing_beside(run);
}

/* What cannot take the place of the file does no harm. */
static void test_in_the_way(void **unused)
{
	struct store_writer *writer = create();
	char hidden[112];
	struct stat before;

	(void)unused;
	record(writer, COMMITS);
	snprintf(hidden, sizeof hidden, "%s/.host.mdb", run);
	assert_int_equal(mkdir(hidden, 0700), 0);
	before = facts_of(path);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_true(facts_of(path).st_ino == before.st_ino);
	expect_whole(path, RECORDS);
	assert_int_equal(rmdir(hidden), 0);
	expect_nothing_beside(run);
}

static bool needs_names;

/* In place of libc's. */
int openat(int directory, const char *name, int flags, ...)
{
	if (needs_names && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, directory, name, flags, 0600);
}

/* A file system that knows no files without a name; and what a writer that was killed has left there. */
static void test_named(void **unused)
{
	struct store_writer *writer = create();
	char hidden[112];
	struct stat before;

	(void)unused;
	record(writer, COMMITS);
	snprintf(hidden, sizeof hidden, "%s/.host.mdb", run);
	assert_int_equal(close(open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), 0);
	before = facts_of(path);
	needs_names = true;
	assert_int_equal(store_writer_close(writer, NULL), 0);
	needs_names = false;
	assert_true(facts_of(path).st_ino != before.st_ino);
	expect_whole(path, RECORDS);
	expect_nothing_beside(run);
}

static bool is_full;

/* In place of libc's. */
int fstatvfs(int fd, struct statvfs *facts)
{
	(void)fd;
	*facts = (struct statvfs){.f_frsize = 4096, .f_bavail = is_full ? 100 : 1u << 20};
	return 0;
}

/* Others write to the disk, too: it is not filled for a moment. */
static void test_full(void **unused)
{
	struct store_writer *writer = create();
	struct stat before;

	(void)unused;
	record(writer, COMMITS);
	before = facts_of(path);
	is_full = true;
	assert_int_equal(store_writer_close(writer, NULL), 0);
	is_full = false;
	assert_true(facts_of(path).st_ino == before.st_ino);
	expect_whole(path, RECORDS);
	expect_nothing_beside(run);
}

static bool is_opened_to_all;

/* In place of libc's: `chmod -R go+rX RUN` comes at the last moment. */
int renameat(int from, const char *name, int to, const char *as)
{
	if (is_opened_to_all)
		assert_int_equal(chmod(path, 0644), 0);
	return (int)syscall(SYS_renameat2, from, name, to, as, 0);
}

static void test_opened_to_all(void **unused)
{
	struct store_writer *writer = create();
	struct stat before;

	(void)unused;
	record(writer, COMMITS);
	before = facts_of(path);
	is_opened_to_all = true;
	assert_int_equal(store_writer_close(writer, NULL), 0);
	is_opened_to_all = false;
	assert_true(facts_of(path).st_ino != before.st_ino);
	assert_int_equal(facts_of(path).st_mode & 07777, 0644);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_size),
		TEST(test_large),
		TEST(test_small),
		TEST(test_many_small),
		TEST(test_many_short),
		TEST(test_long_key),
		TEST(test_rollups),
		TEST(test_followed),
		TEST(test_opened_meanwhile),
		TEST(test_moved),
		TEST(test_removed),
		TEST(test_in_the_way),
		TEST(test_named),
		TEST(test_full),
		TEST(test_opened_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
