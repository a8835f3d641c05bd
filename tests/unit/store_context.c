/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_context.c - texts, modules, contexts, symbols and streams: the same thing is one id, ids come back
 * from the file as they were, and a path's hash is the same in two stores that number everything differently.
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
#include "store/write/writer.h"

#define TEXTS 20000u
#define STREAMS 3000u

static char path[2][64];

static int set_up(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof path[i], "/tmp/hpct-context-%d-%d.mdb", (int)getpid(), i);
		unlink(path[i]);
	}
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		char lock[80];

		snprintf(lock, sizeof lock, "%s-lock", path[i]);
		unlink(path[i]);
		unlink(lock);
	}
	return 0;
}

static struct store_writer *create(int which)
{
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path[which], NULL), 0);
	return writer;
}

static struct store_reader *open_sound(int which)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, path[which], &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* Text i: any bytes, lengths from 1 to a few pages. */
static size_t text_bytes(uint32_t i, char *bytes)
{
	size_t size = i % 997 == 0 ? 3000 + i % 9000 : 4 + i % 60;

	for (size_t b = 0; b < size; b++)
		bytes[b] = (char)(i >> b % 4 * 8);
	return size;
}

static void test_texts(void **unused)
{
	static char bytes[16384];
	struct store_writer *writer = create(0);
	struct store_reader *reader = open_sound(0);
	uint32_t ids[TEXTS];
	size_t size;
	bool changed;

	(void)unused;
	assert_int_equal(store_writer_text(writer, "", 0), 0);
	for (uint32_t i = 0; i < TEXTS; i++) {
		ids[i] = store_writer_text(writer, bytes, text_bytes(i + 1, bytes));
		if (i % 1500 == 0)
			assert_int_equal(store_writer_commit(writer, NULL), 0);
	}
	for (uint32_t i = 0; i < TEXTS; i += 13)
		assert_int_equal(store_writer_text(writer, bytes, text_bytes(i + 1, bytes)), ids[i]);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	for (uint32_t i = 0; i < TEXTS; i++) {
		size_t wanted = text_bytes(i + 1, bytes);
		const char *got = store_reader_text(reader, ids[i], &size);

		assert_int_equal(size, wanted);
		assert_memory_equal(got, bytes, size);
		assert_int_equal(got[size], 0);
	}
	assert_string_equal(store_reader_text(reader, UINT32_MAX, &size), "");
	assert_int_equal(size, 0);
	store_reader_close(reader);
}

/* One path in both stores: root, two frames of a file, one that is a name. `extra` moves all ids. */
static struct store_hash add_path(struct store_writer *writer, unsigned extra, bool has_build_id)
{
	struct store_module module = {.kind = STORE_MODULE_ELF};
	uint32_t context = STORE_CONTEXT_THREAD_ROOT, names;

	for (unsigned i = 0; i < extra; i++) {
		char name[16];

		snprintf(name, sizeof name, "extra %u", i);
		module.path = store_writer_text(writer, name, strlen(name));
		store_writer_context(
			writer, STORE_CONTEXT_PROGRAM_ROOT, store_writer_module(writer, &module), i);
	}
	module.path = store_writer_text(writer, has_build_id && extra ? "/b" : "/a", 2);
	module.build_id_bytes = has_build_id ? 20 : 0;
	memset(module.build_id, has_build_id ? 7 : 0, 20);
	context = store_writer_context(writer, context, store_writer_module(writer, &module), 0x1234);
	context = store_writer_context(writer, context, store_writer_module(writer, &module), 0x99);
	names = store_writer_text_module(writer);
	context = store_writer_context(writer, context, names, store_writer_text(writer, "leaf()", 6));
	context = store_writer_context(writer, context, STORE_MODULE_RESERVED, STORE_FRAME_GPU_KERNEL);
	return store_writer_context_at(writer, context).hash;
}

static bool same(struct store_hash a, struct store_hash b)
{
	return a.high == b.high && a.low == b.low;
}

static void test_hashes(void **unused)
{
	struct store_writer *a = create(0), *b = create(1);
	struct store_hash hash[2][2];
	struct store_reader *reader;
	const struct store_context *nodes;
	uint32_t count;

	(void)unused;
	for (int with = 0; with < 2; with++) {
		hash[0][with] = add_path(a, 0, with);
		hash[1][with] = add_path(b, 100, with);
		assert_true(same(hash[0][with], hash[1][with]));
	}
	assert_false(same(hash[0][0], hash[0][1]));
	count = store_writer_context_count(b);
	assert_int_equal(store_writer_close(a, NULL), 0);
	reader = NULL;
	assert_int_equal(store_writer_commit(b, NULL), 0);
	reader = open_sound(1);
	nodes = store_reader_contexts(reader, &count);
	for (uint32_t i = 0; i < count; i++) {
		struct store_context wanted = store_writer_context_at(b, i);

		assert_int_equal(nodes[i].parent, wanted.parent);
		assert_int_equal(nodes[i].module, wanted.module);
		assert_true(nodes[i].offset == wanted.offset && same(nodes[i].hash, wanted.hash));
		for (uint32_t j = 0; j < i && count < 300; j++)
			assert_false(same(nodes[i].hash, nodes[j].hash));
	}
	assert_int_equal(count, store_writer_context_count(b));
	store_reader_close(reader);
	store_writer_abort(b);
}

static void test_modules(void **unused)
{
	struct store_writer *writer = create(0);
	struct store_module module = {.kind = STORE_MODULE_ELF, .build_id_bytes = 32, .load_ns = 5};
	struct store_reader *reader;
	const struct store_module *modules;
	uint32_t ids[300], count;
	bool changed;

	(void)unused;
	for (uint32_t i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof name, "/usr/lib/lib%u.so", i);
		memcpy(module.build_id, &i, sizeof i);
		module.path = store_writer_text(writer, name, strlen(name));
		ids[i] = store_writer_module(writer, &module);
		assert_int_equal(store_writer_module(writer, &module), ids[i]);
	}
	assert_int_equal(ids[0], 1);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	reader = open_sound(0);
	for (uint32_t i = 0; i < 300; i += 3)
		store_writer_module_unloaded(
			writer, ids[i], UINT64_MAX - i); /* longer entries: blocks move */
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	modules = store_reader_modules(reader, &count);
	assert_int_equal(count, 301);
	for (uint32_t i = 0; i < 300; i++)
		assert_true(modules[ids[i]].unload_ns == (i % 3 ? 0 : UINT64_MAX - i) &&
			    modules[ids[i]].load_ns == 5);
	store_reader_close(reader);
}

static void test_symbols(void **unused)
{
	struct store_writer *writer = create(0);
	struct store_scope scopes[STORE_SCOPE_MAX] = {0}, got[STORE_SCOPE_MAX];
	struct store_reader *reader;

	(void)unused;
	for (unsigned i = 0; i < STORE_SCOPE_MAX; i++)
		scopes[i] = (struct store_scope){.kind = i ? STORE_SCOPE_INLINE : STORE_SCOPE_FUNCTION,
			.name = store_writer_text(writer, "f", 1),
			.line = i,
			.decl_line = UINT32_MAX,
			.start = UINT64_MAX};
	store_writer_text_module(writer);
	store_writer_symbol(writer, 1, 77, scopes, STORE_SCOPE_MAX);
	store_writer_symbol(writer, 1, UINT64_MAX, scopes, 1);
	store_writer_symbol(writer, 1, UINT64_MAX, scopes + 1, 2);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	reader = open_sound(0);
	assert_int_equal(store_reader_symbol(reader, 1, 77, got, NULL), STORE_SCOPE_MAX);
	assert_memory_equal(got, scopes, sizeof scopes);
	assert_int_equal(store_reader_symbol(reader, 1, UINT64_MAX, got, NULL), 2);
	assert_int_equal(got[0].line, 1);
	assert_int_equal(store_reader_symbol(reader, 1, 78, got, NULL), 0);
	store_reader_close(reader);
}

static void test_streams(void **unused)
{
	struct store_writer *writer = create(0);
	struct store_reader *reader;
	const struct store_stream *streams;
	struct store_stream *edited;
	uint32_t count;

	(void)unused;
	for (uint32_t i = 0; i < STREAMS; i++) {
		struct store_stream stream = {.kind = i % 2,
			.rank = (int32_t)i - 1,
			.pid = UINT32_MAX,
			.thread = i,
			.begin_ns = UINT64_MAX - i,
			.end_ns = i % 2 ? STORE_OPEN_NS : 0,
			.count = {9, 9, 9},
			.shifts = {9, 9, 9}};

		assert_int_equal(store_writer_stream(writer, &stream), i);
	}
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	edited = store_writer_stream_edit(writer, 1234);
	edited->tid = 55;
	edited->complete_ns[STORE_SPANS] = UINT64_MAX;
	edited->name = store_writer_text(writer, "late", 4);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	reader = open_sound(0);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, STREAMS);
	for (uint32_t i = 0; i < STREAMS; i++) {
		assert_int_equal(streams[i].rank, (int32_t)i - 1);
		assert_true(streams[i].begin_ns == UINT64_MAX - i);
		assert_true(streams[i].end_ns == (i % 2 ? STORE_OPEN_NS : 0));
		assert_true(!streams[i].count[0] && !streams[i].shifts[0]);
	}
	assert_int_equal(streams[1234].tid, 55);
	assert_true(streams[1234].complete_ns[STORE_SPANS] == UINT64_MAX);
	assert_string_equal(store_reader_text(reader, streams[1234].name, NULL), "late");
	store_reader_close(reader);
}

static void test_words(void **unused)
{
	(void)unused;
	for (uint32_t op = 0; op < STORE_OP_COUNT; op++)
		assert_int_equal(store_op_find(store_op_name(op), strlen(store_op_name(op))), op);
	assert_int_equal(store_op_find("kernels", 7), STORE_OP_COUNT);
	assert_null(store_op_name(STORE_OP_COUNT));
	assert_true(store_op_is_state(STORE_OP_LOST) && store_op_is_state(STORE_OP_THINNED));
	assert_false(store_op_is_state(STORE_OP_KERNEL) || store_op_is_state(STORE_OP_NONE));
	for (uint64_t frame = 0; frame < STORE_FRAME_COUNT; frame++)
		assert_true(
			store_frame_find(store_frame_name(frame), strlen(store_frame_name(frame))) == frame);
	assert_string_equal(store_track_name(STORE_VALUES), "values");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_texts),
		TEST(test_hashes),
		TEST(test_modules),
		TEST(test_symbols),
		TEST(test_streams),
		TEST(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
