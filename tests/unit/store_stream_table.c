/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_stream_table.c - the streams and strings of a store that is complete are decoded as they are asked
 * for, in any order, and are what they were; its list says what they are together, and is not there, or is
 * found to be wrong, where it is not so. Streams of a store before 5.0 are read as they were put.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/catalog/stream.h"
#include "store/catalog/stream_block.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/read/reader_internal.h"
#include "store/store.h"
#include "store/write/writer.h"

#define STREAMS 3001u /* the last block is not full */

static char path[64], lock[80];

static int set_up(void **unused)
{
	(void)unused;
	snprintf(path, sizeof path, "/tmp/hpct-stream-table-%d.mdb", (int)getpid());
	snprintf(lock, sizeof lock, "%s-lock", path);
	unlink(path);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	unlink(path);
	unlink(lock);
	return 0;
}

static size_t name_of(uint32_t i, char name[32])
{
	return (size_t)snprintf(name, 32, "%.*sthread %u", (int)(i % 7), "-------", i);
}

static struct store_writer *create(void)
{
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	return writer;
}

/* Stream i, in order of readers by its process; of two hosts, whose names' ids are in the other order. */
static void put_streams(struct store_writer *writer)
{
	uint32_t later = store_writer_text(writer, "z", 1), first = store_writer_text(writer, "a", 1);

	for (uint32_t i = 0; i < STREAMS; i++) {
		char name[32];
		struct store_stream stream = {.host = i < STREAMS / 2 ? first : later,
			.rank = -1,
			.pid = i * 1000,
			.begin_ns = 5000 - i % 100,
			.end_ns = 1000000 + i % 77};
		struct store_record record = {.begin_ns = 6000, .end_ns = 7000};

		stream.name = store_writer_text(writer, name, name_of(i, name));
		assert_int_equal(store_writer_stream(writer, &stream), i);
		if (i % 3 == 0)
			store_writer_append(writer, i, STORE_SPANS, &record, 1);
	}
}

static struct store_reader *open_it(void)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, path, &error))
		fail_msg("%s", error.text);
	return reader;
}

static struct store_reader *open_complete(void)
{
	struct store_writer *writer = create();

	put_streams(writer);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	return open_it();
}

static void check_stream(const struct store_reader *reader, const struct store_stream *s, uint32_t i)
{
	char name[32];
	size_t size = name_of(i, name), got;

	assert_int_equal(s->pid, i * 1000);
	assert_true(s->begin_ns == 5000 - i % 100 && s->end_ns == 1000000 + i % 77);
	assert_int_equal(s->count[STORE_SPANS], i % 3 == 0);
	assert_string_equal(store_reader_text(reader, s->name, &got), name);
	assert_int_equal(got, size);
}

static void test_late(void **unused)
{
	struct store_reader *reader = open_complete();
	const struct store_stream_list *list;
	const struct store_stream *all;
	uint32_t count;
	bool changed;

	(void)unused;
	list = store_reader_stream_list(reader);
	assert_non_null(list);
	assert_int_equal(list->count, STREAMS);
	assert_true(list->begin_ns == 5000 - 99 && list->end_ns == 1000000 + 76);
	assert_int_equal(list->records[STORE_SPANS], (STREAMS + 2) / 3);
	assert_int_equal(store_reader_records(reader, STORE_SPANS), (STREAMS + 2) / 3);
	/* Looked at once, kept, and looked at once more, back and forth. */
	for (uint32_t i = 0, at = 0; i < STREAMS; i++, at = (at + 1009) % STREAMS) {
		check_stream(reader, store_reader_stream_peek(reader, at), at);
		if (at % 5 == 0)
			check_stream(reader, store_reader_stream(reader, at), at);
		check_stream(reader, store_reader_stream_peek(reader, STREAMS - 1 - at), STREAMS - 1 - at);
	}
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	all = store_reader_streams(reader, &count);
	assert_int_equal(count, STREAMS);
	for (uint32_t i = 0; i < STREAMS; i++)
		check_stream(reader, &all[i], i);
	assert_int_equal(store_reader_check(reader, NULL), 0);
	store_reader_close(reader);
}

/* Names looked at once, kept, and looked at once more, of the block at hand and of others. */
static void test_text_peek(void **unused)
{
	struct store_reader *reader = open_complete();
	bool changed;

	(void)unused;
	for (uint32_t i = 0, at = 0; i < 2 * STREAMS; i++, at = i % 2 ? at : (at + 1009) % STREAMS) {
		const struct store_stream *s = store_reader_stream_peek(reader, at);
		char name[32];

		name_of(at, name);
		if (i % 7 == 0)
			assert_string_equal(store_reader_text(reader, s->name, NULL), name);
		assert_string_equal(store_reader_text_peek(reader, s->name), name);
	}
	assert_string_equal(store_reader_text_peek(reader, 0), "");
	assert_string_equal(store_reader_text_peek(reader, UINT32_MAX), "");
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	assert_string_equal(
		store_reader_text_peek(reader, store_reader_stream(reader, 8)->name), "-thread 8");
	store_reader_close(reader);
}

static void expect_renewed(struct store_reader *reader, uint32_t streams, uint32_t decoded)
{
	bool changed;

	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	assert_true(changed);
	assert_int_equal(reader->table->decoded, decoded);
	assert_int_equal(store_reader_stream_count(reader), streams);
	for (uint32_t i = 0; i < STREAMS; i++)
		assert_int_equal(store_reader_stream(reader, i)->pid, i == 100 ? 7 : i * 1000);
}

/* Of a run that is being recorded a renewal decodes what has changed. */
static void test_renewal(void **unused)
{
	const struct store_stream another = {.rank = -1, .pid = 5, .end_ns = STORE_OPEN_NS};
	const uint32_t in_last = STREAMS % STORE_STREAM_DENSE;
	struct store_writer *writer = create();
	struct store_reader *reader;
	uint32_t decoded = STREAMS;

	(void)unused;
	put_streams(writer);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	reader = open_it();
	assert_int_equal(reader->table->decoded, decoded);
	store_writer_stream_edit(writer, 100)->pid = 7;
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	expect_renewed(reader, STREAMS, decoded += STORE_STREAM_DENSE);
	store_writer_meta(writer, "said", "something else");
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	expect_renewed(reader, STREAMS, decoded);
	assert_int_equal(store_writer_stream(writer, &another), STREAMS);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	expect_renewed(reader, STREAMS + 1, decoded + in_last + 1);
	assert_int_equal(store_reader_stream(reader, STREAMS)->pid, 5);
	assert_int_equal(store_reader_check(reader, NULL), 0);
	store_reader_close(reader);
	assert_int_equal(store_writer_close(writer, NULL), 0);
}

static MDB_env *begin_change(MDB_txn **txn)
{
	MDB_env *env;

	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_set_mapsize(env, (size_t)64 << 20), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, txn), 0);
	return env;
}

static void end_change(MDB_env *env, MDB_txn *txn)
{
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static void damage_metrics(void)
{
	MDB_val key = {4, "\0\0\0"}, value = {7, "damaged"};
	MDB_txn *txn;
	MDB_env *env = begin_change(&txn);
	MDB_dbi dbi;

	assert_int_equal(mdb_dbi_open(txn, "metric", 0, &dbi), 0);
	assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	end_change(env, txn);
}

/* ---- stores of format 4.1 ---- */

static void put_fact(MDB_txn *txn, const char *name, const char *text)
{
	MDB_val key = {strlen(name), (void *)name}, value;
	struct store_bytes bytes = {0};
	MDB_dbi dbi;

	store_bytes_begin_sealed(&bytes);
	store_bytes_put(&bytes, text, strlen(text));
	store_bytes_seal(&bytes, name, strlen(name));
	value = (MDB_val){bytes.size, bytes.data};
	assert_int_equal(mdb_dbi_open(txn, "meta", 0, &dbi), 0);
	assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	store_bytes_fini(&bytes);
}

/* As writers before 5.0 put it. */
static void put_old_stream(const struct store_stream *stream, struct store_bytes *out)
{
	const uint64_t fields[] = {stream->kind, stream->host, (uint64_t)((int64_t)stream->rank + 1),
		stream->pid, stream->generation, stream->thread, stream->device, stream->context,
		stream->queue, stream->tid, stream->name, stream->device_name, stream->begin_ns,
		stream->end_ns + 1, stream->lost, stream->partial, STORE_TRACK_COUNT};
	struct store_bytes entry = {0};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		store_bytes_put_varint(&entry, fields[i]);
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		store_bytes_put_varint(&entry, stream->count[track]);
		store_bytes_put_varint(&entry, stream->complete_ns[track]);
		store_bytes_put_varint(&entry, stream->shifts[track]);
	}
	store_bytes_put_varint(&entry, stream->thinned_ns);
	store_bytes_put_varint(out, entry.size);
	store_bytes_put(out, entry.data, entry.size);
	store_bytes_fini(&entry);
}

static void put_old_block(MDB_txn *txn, MDB_dbi dbi, const struct store_stream *streams, uint32_t first)
{
	uint8_t id[STORE_KEY_ID_BYTES];
	MDB_val key = {sizeof id, id}, value;
	struct store_bytes bytes = {0};

	store_key_id_put(id, first);
	store_bytes_begin_sealed(&bytes);
	for (uint32_t i = first; i < STREAMS && i < first + STORE_STREAM_BLOCK; i++)
		put_old_stream(&streams[i], &bytes);
	store_bytes_seal(&bytes, id, sizeof id);
	value = (MDB_val){bytes.size, bytes.data};
	assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	store_bytes_fini(&bytes);
}

/* The streams of the store, which has not settled, as a writer of 4.1 would have left them. */
static void make_old(void)
{
	struct store_reader *reader = open_it();
	uint32_t count;
	const struct store_stream *streams = store_reader_streams(reader, &count);
	struct store_stream *copy = malloc(count * sizeof *copy);
	MDB_txn *txn;
	MDB_env *env;
	MDB_dbi dbi;

	assert_non_null(copy);
	memcpy(copy, streams, count * sizeof *copy);
	store_reader_close(reader);
	env = begin_change(&txn);
	put_fact(txn, "format", "4.1");
	assert_int_equal(mdb_dbi_open(txn, "stream", 0, &dbi), 0);
	assert_int_equal(mdb_drop(txn, dbi, 0), 0);
	for (uint32_t first = 0; first < count; first += STORE_STREAM_BLOCK)
		put_old_block(txn, dbi, copy, first);
	end_change(env, txn);
	free(copy);
}

static void test_old_format(void **unused)
{
	struct store_writer *writer = create();
	struct store_reader *reader;

	(void)unused;
	put_streams(writer);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	store_writer_abort(writer);
	make_old();
	reader = open_it();
	assert_int_equal(store_reader_stream_count(reader), STREAMS);
	assert_int_equal(reader->table->block, STORE_STREAM_BLOCK);
	for (uint32_t i = 0; i < STREAMS; i++)
		check_stream(reader, store_reader_stream(reader, i), i);
	assert_int_equal(store_reader_check(reader, NULL), 0);
	store_reader_close(reader);
}

static struct store_writer *create_copy(void)
{
	struct store_writer *writer = create();

	store_writer_meta(writer, "origin_ns", "77");
	store_writer_meta(writer, STORE_META_COPIED, "/elsewhere");
	return writer;
}

/* A copy of a store that lies elsewhere, put anew. */
static void put_copy(bool is_damaged)
{
	struct store_writer *writer;

	set_up(NULL);
	writer = create_copy();
	put_streams(writer);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	if (is_damaged)
		damage_metrics();
}

/* The newest copy takes the old one's place, and cannot be read: nothing of the old one is looked at. */
static void test_cannot_follow(void **unused)
{
	struct store_reader *reader;
	bool changed;

	(void)unused;
	put_copy(false);
	reader = open_it();
	check_stream(reader, store_reader_stream(reader, 0), 0);
	put_copy(true);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), -ERROR_RUN);
	assert_int_equal(store_reader_stream(reader, 0)->pid, 0);
	assert_int_equal(store_reader_stream(reader, STREAMS - 1)->pid, 0);
	assert_int_equal(store_reader_stream_peek(reader, STREAMS / 2)->end_ns, 0);
	/* What could not be read is not believed the second time; the next copy is. */
	assert_int_equal(store_reader_renew(reader, &changed, NULL), -ERROR_RUN);
	put_copy(false);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	assert_true(changed);
	for (uint32_t i = 0; i < STREAMS; i++)
		check_stream(reader, store_reader_stream(reader, i), i);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	assert_false(changed);
	store_reader_close(reader);
}

/* The newest copy has no list, as one of a run that goes on has none: it has a table of the other kind. */
static void test_list_is_lost(void **unused)
{
	struct store_writer *writer;
	struct store_reader *reader;
	bool changed;

	(void)unused;
	put_copy(false);
	reader = open_it();
	check_stream(reader, store_reader_stream(reader, 0), 0);
	set_up(NULL);
	writer = create_copy();
	put_streams(writer);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	assert_int_equal(store_reader_renew(reader, &changed, NULL), 0);
	assert_true(changed);
	assert_null(store_reader_stream_list(reader));
	for (uint32_t i = 0; i < STREAMS; i++)
		check_stream(reader, store_reader_stream(reader, i), i);
	store_reader_close(reader);
	assert_int_equal(store_writer_close(writer, NULL), 0);
}

/* Where one stream is changed there is no list; all is there as ever. */
static void expect_none(void (*change)(struct store_stream *stream))
{
	struct store_writer *writer = create();
	struct store_reader *reader;

	put_streams(writer);
	change(store_writer_stream_edit(writer, STREAMS / 2 + 1));
	assert_int_equal(store_writer_close(writer, NULL), 0);
	reader = open_it();
	assert_null(store_reader_stream_list(reader));
	assert_int_equal(store_reader_records(reader, STORE_SPANS), (STREAMS + 2) / 3);
	check_stream(reader, store_reader_stream_peek(reader, STREAMS - 1), STREAMS - 1);
	assert_int_equal(store_reader_check(reader, NULL), 0);
	store_reader_close(reader);
	unlink(path);
}

static void out_of_order(struct store_stream *stream)
{
	stream->pid = 7;
	stream->rank = -5;
}

static void still_alive(struct store_stream *stream)
{
	stream->end_ns = STORE_OPEN_NS;
}

static void without_life(struct store_stream *stream)
{
	stream->end_ns = stream->begin_ns;
}

static void test_no_list(void **unused)
{
	(void)unused;
	expect_none(out_of_order);
	expect_none(still_alive);
	expect_none(without_life);
}

/* A store with a list of `count` streams that the writer did not make, since there is none to make. */
static struct store_reader *open_with_list(uint32_t count)
{
	const struct store_stream_list list = {.count = count, .begin_ns = 1, .end_ns = 2};
	struct store_writer *writer = create();
	char text[STORE_STREAM_LIST_BYTES];

	put_streams(writer);
	store_writer_stream_edit(writer, 17)->end_ns = STORE_OPEN_NS;
	store_stream_list_put(&list, text);
	store_writer_meta(writer, STORE_META_LIST, text);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	return open_it();
}

static void test_wrong_list(void **unused)
{
	struct store_reader *reader = open_with_list(STREAMS);
	struct error error;

	(void)unused;
	assert_int_equal(store_reader_check(reader, &error), -ERROR_RUN);
	assert_non_null(strstr(error.text, "list of its streams"));
	store_reader_close(reader);
}

/* One of another number of streams does not count. */
static void test_other_list(void **unused)
{
	struct store_reader *reader = open_with_list(STREAMS + 1);

	(void)unused;
	assert_null(store_reader_stream_list(reader));
	assert_int_equal(store_reader_check(reader, NULL), 0);
	store_reader_close(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_late),
		TEST(test_text_peek),
		TEST(test_renewal),
		TEST(test_no_list),
		TEST(test_cannot_follow),
		TEST(test_list_is_lost),
		TEST(test_wrong_list),
		TEST(test_other_list),
		TEST(test_old_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
