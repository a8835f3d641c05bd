/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_small_run.h - runs of a few records in a directory of their own, for the tests of the
 * timeline room; and the numbers that they draw, from a seed that is printed.
 */
#ifndef TESTS_TIMELINE_SMALL_RUN_H
#define TESTS_TIMELINE_SMALL_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/base/arena.h"
#include "store/base/bytes.h"
#include "store/write/rollup_prune.h"
#include "store/write/writer.h"
#include "tests/unit/seed.h"
#include "timeline/run/run.h"

struct small_run {
	char path[64];
	struct store_writer *writer;
	struct run *run;
};

static uint64_t small_state;

static inline uint64_t small_draw(void)
{
	return seed_next(&small_state);
}

static inline uint64_t small_below(uint64_t limit)
{
	return (small_draw() >> 11) % limit;
}

/* The test's own seed, see seed.h. */
static inline void small_seed(const char *test)
{
	uint64_t fixed = 0;

	for (const char *letter = test; *letter; letter++)
		fixed = fixed * 31 + (unsigned char)*letter;
	small_state = seed_take(test, fixed) | 1;
}

static inline struct store_writer *small_store(const struct small_run *small, const char *name)
{
	struct store_writer *writer;
	struct error error = {0};
	char path[160];

	snprintf(path, sizeof path, "%.63s/%.80s.mdb", small->path, name);
	if (store_writer_create(&writer, path, &error))
		fail_msg("%s", error.text);
	return writer;
}

static inline void small_begin(struct small_run *small)
{
	*small = (struct small_run){.path = "/tmp/hpct-test-XXXXXX"};
	store_rollup_prune_none = true; /* or small stores had hardly any that can be wrong */
	assert_non_null(mkdtemp(small->path));
	small->writer = small_store(small, "node-1");
}

static inline void small_commit(struct small_run *small)
{
	struct error error = {0};

	if (store_writer_commit(small->writer, &error))
		fail_msg("%s", error.text);
}

static inline void small_close_writer(struct store_writer *writer)
{
	struct error error = {0};

	if (store_writer_close(writer, &error))
		fail_msg("%s", error.text);
}

static inline void small_open(struct small_run *small)
{
	struct error error = {0};

	if (run_open(&small->run, small->path, NULL, &error))
		fail_msg("%s", error.text);
}

/* Closes the writer, opens the run. */
static inline void small_ready(struct small_run *small)
{
	small_close_writer(small->writer);
	small->writer = NULL;
	small_open(small);
}

static inline void small_remove(const char *path)
{
	DIR *files = opendir(path);
	struct dirent *entry;
	char file[512];

	while (files && (entry = readdir(files))) {
		snprintf(file, sizeof file, "%.200s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(file);
	}
	if (files)
		closedir(files);
	rmdir(path);
}

static inline void small_end(struct small_run *small)
{
	run_close(small->run);
	if (small->writer)
		store_writer_abort(small->writer);
	small_remove(small->path);
}

/* Puts as many bytes in the place of these, wherever in the file they lie: free pages hold older copies. */
static inline void small_overwrite(const char *path, struct store_slice old, const struct store_bytes *bytes)
{
	FILE *file = fopen(path, "r+b");
	struct stat status;
	uint8_t *all, *at;
	size_t size, count = 0;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	size = (size_t)status.st_size;
	all = malloc(size);
	assert_true(all && fread(all, 1, size, file) == size);
	for (at = all; (at = memmem(at, size - (size_t)(at - all), old.bytes, old.size)); count++)
		memcpy(at, bytes->data, bytes->size);
	rewind(file);
	assert_true(count && fwrite(all, 1, size, file) == size);
	fclose(file);
	free(all);
}

static inline uint32_t small_text(struct store_writer *writer, const char *text)
{
	return store_writer_text(writer, text, strlen(text));
}

/* A context whose frames are plain names: "main;solve". */
static inline uint32_t small_path(struct store_writer *writer, const char *path)
{
	uint32_t module = store_writer_text_module(writer), context = STORE_CONTEXT_PROGRAM_ROOT;

	while (*path) {
		size_t size = strcspn(path, ";");

		context =
			store_writer_context(writer, context, module, store_writer_text(writer, path, size));
		path += size + (path[size] == ';');
	}
	return context;
}

static inline uint32_t small_cpu(
	struct store_writer *writer, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(writer, "node"),
		.rank = -1,
		.pid = 100,
		.thread = thread,
		.tid = 100 + thread,
		.begin_ns = begin_ns,
		.end_ns = end_ns};

	return store_writer_stream(writer, &stream);
}

static inline uint32_t small_gpu(
	struct store_writer *writer, uint32_t queue, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_stream stream = {.kind = STORE_STREAM_GPU,
		.host = small_text(writer, "node"),
		.rank = -1,
		.pid = 100,
		.queue = queue,
		.begin_ns = begin_ns,
		.end_ns = end_ns};

	return store_writer_stream(writer, &stream);
}

static inline void small_sample(struct store_writer *writer, uint32_t stream, uint64_t time_ns,
	uint32_t context, uint32_t metric, uint64_t weight)
{
	struct store_record record = {.begin_ns = time_ns,
		.end_ns = time_ns,
		.amount = weight,
		.context = context,
		.what = metric,
		.flags = STORE_RECORD_EXTENT};

	store_writer_append(writer, stream, STORE_SAMPLES, &record, 1);
}

static inline void small_span(struct store_writer *writer, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, uint32_t op, uint32_t context, const char *attributes)
{
	struct store_record record = {.begin_ns = begin_ns,
		.end_ns = end_ns,
		.context = context,
		.what = op,
		.attributes = small_text(writer, attributes)};

	if (end_ns == STORE_OPEN_NS)
		store_writer_span_open(writer, stream, begin_ns << 8 | op, &record);
	else
		store_writer_append(writer, stream, STORE_SPANS, &record, 1);
}

#endif
