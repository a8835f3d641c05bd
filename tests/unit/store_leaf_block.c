/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_leaf_block.c - a store of many short streams before and behind its end: what its trees hold, walked
 * and sought from both sides, is the same, bundled; the archive made of it, too. And bundles of any sizes:
 * what was put is what is found, and none takes more than its pages but for one long value. HPCT_SEED repeats
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/file/leaf_block.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/write/archive.h"
#include "store/write/writer.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "tests/unit/store_filesystem.h"

#define STREAMS 400u
#define VALUES_MAX 8192u
#define SEEKS 4000u
#define KEY_MAX 16u

/* A tree's keys and values, in their order. */
struct list {
	uint8_t keys[VALUES_MAX][KEY_MAX];
	struct store_bytes values[VALUES_MAX];
	size_t key_size;
	unsigned count;
};

static void fini(struct list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		store_bytes_fini(&list->values[i]);
	list->count = 0;
}

static void add(struct list *list, struct store_slice key, struct store_slice value)
{
	struct store_bytes *copy = &list->values[list->count];

	assert_true(list->count < VALUES_MAX && key.size <= KEY_MAX);
	*copy = (struct store_bytes){0};
	memcpy(list->keys[list->count++], key.bytes, key.size);
	store_bytes_put(copy, value.bytes, value.size);
	list->key_size = key.size;
}

static void expect_at(const struct list *list, unsigned at, struct store_slice key, struct store_slice value)
{
	assert_true(at < list->count);
	assert_int_equal(key.size, list->key_size);
	assert_memory_equal(key.bytes, list->keys[at], key.size);
	assert_int_equal(value.size, list->values[at].size);
	if (value.size)
		assert_memory_equal(value.bytes, list->values[at].data, value.size);
}

/* The first whose key is not below that one. */
static unsigned place_of(const struct list *list, const uint8_t *key)
{
	unsigned at = 0;

	while (at < list->count && memcmp(list->keys[at], key, list->key_size) < 0)
		at++;
	return at;
}

/* ---- whole stores ---- */

/* Streams as short processes have them, a few of them long. */
static struct store_writer *write_run(void)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU, .end_ns = STORE_OPEN_NS};
	struct store_record record = {.amount = 1000000};
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	for (uint32_t id = 0; id < STREAMS; id++) {
		const uint64_t count = draw() % 50 ? 1 + draw() % 8 : 6000;

		stream.thread = id;
		stream.begin_ns = record.begin_ns = id * UINT64_C(1000000);
		store_writer_stream(writer, &stream);
		for (uint64_t i = 0; i < count; i++) {
			record.begin_ns += draw() % 2000000;
			record.end_ns = record.begin_ns;
			record.context = store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT,
				store_writer_text_module(writer), draw() % 300);
			store_writer_append(writer, id, STORE_SAMPLES, &record, 1);
			record.end_ns += draw() % 1000000;
			store_writer_append(writer, id, STORE_SPANS, &record, 1);
		}
		store_writer_stream_edit(writer, id)->end_ns = record.end_ns + 1;
	}
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	return writer;
}

static struct store_snapshot look(const char *at)
{
	struct store_snapshot snapshot = {0};

	assert_int_equal(store_file_open(&snapshot.file, at, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	return snapshot;
}

static void look_away(struct store_snapshot *snapshot)
{
	struct store_file *file = snapshot->file;

	store_snapshot_end(snapshot);
	store_file_close(file);
}

static void read_tree(struct list *list, enum store_tree_id tree)
{
	struct store_snapshot snapshot = look(path);
	struct store_tree_cursor cursor;
	int rc;

	store_tree_cursor_init(&cursor, &snapshot.pages, &snapshot.trees[tree]);
	for (rc = store_tree_seek(&cursor, "", 0, NULL); rc == 1; rc = store_tree_next(&cursor, NULL))
		add(list, cursor.key, cursor.value);
	assert_int_equal(rc, 0);
	look_away(&snapshot);
}

static void check_walks(const struct list *list, struct store_tree_cursor *cursor)
{
	static const uint8_t last[KEY_MAX + 1] = {[0 ... KEY_MAX] = 0xff};
	unsigned at = 0;
	int rc;

	for (rc = store_tree_seek(cursor, "", 0, NULL); rc == 1; rc = store_tree_next(cursor, NULL))
		expect_at(list, at++, cursor->key, cursor->value);
	assert_int_equal(rc, 0);
	assert_int_equal(at, list->count);
	rc = store_tree_seek_below(cursor, last, sizeof last, NULL);
	for (; rc == 1; rc = store_tree_previous(cursor, NULL))
		expect_at(list, --at, cursor->key, cursor->value);
	assert_int_equal(rc, 0);
	assert_int_equal(at, 0);
}

/* Keys that are there, and such as lie beside them; then a step each way. */
static void check_seeks(const struct list *list, struct store_tree_cursor *cursor)
{
	for (unsigned i = 0; i < SEEKS; i++) {
		const bool is_below = draw() % 2;
		uint8_t key[KEY_MAX];
		unsigned at;
		int rc;

		memcpy(key, list->keys[draw() % list->count], sizeof key);
		if (draw() % 2)
			key[draw() % list->key_size] ^= (uint8_t)(1u << draw() % 8);
		at = place_of(list, key);
		rc = is_below ? store_tree_seek_below(cursor, key, list->key_size, NULL)
			      : store_tree_seek(cursor, key, list->key_size, NULL);
		assert_int_equal(rc, is_below ? at > 0 : at < list->count);
		if (rc == 0)
			continue;
		at -= is_below;
		expect_at(list, at, cursor->key, cursor->value);
		if (is_below && (rc = store_tree_previous(cursor, NULL)) == 1)
			expect_at(list, at - 1, cursor->key, cursor->value);
		else if (!is_below && (rc = store_tree_next(cursor, NULL)) == 1)
			expect_at(list, at + 1, cursor->key, cursor->value);
		assert_int_equal(rc, is_below ? at > 0 : at + 1 < list->count);
	}
}

static void check_store(const struct list *list, const char *at)
{
	struct store_snapshot snapshot = look(at);
	struct store_tree_cursor cursor;

	assert_true(snapshot.is_bundled);
	assert_true(snapshot.trees[STORE_TREE_CHUNK].entries < list->count / 4);
	store_tree_cursor_init(&cursor, &snapshot.pages, &snapshot.trees[STORE_TREE_CHUNK]);
	check_walks(list, &cursor);
	check_seeks(list, &cursor);
	look_away(&snapshot);
}

static void check_whole(const char *at)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, at, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	store_reader_close(reader);
}

static void test_store(void **unused)
{
	static struct list list;
	char archive[80];
	struct store_writer *writer;

	(void)unused;
	chance = seed_take(__func__, 1);
	snprintf(archive, sizeof archive, "%s.mdz", path);
	writer = write_run();
	read_tree(&list, STORE_TREE_CHUNK);
	assert_true(list.count > 2 * STREAMS);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	check_store(&list, path);
	check_whole(path);
	assert_int_equal(store_archive(path, archive, NULL), 0);
	check_store(&list, archive);
	check_whole(archive);
	unlink(archive);
	fini(&list);
}

/* ---- bundles alone ---- */

static void check_bundle(struct store_leaf_block_draft *draft, const struct list *list, unsigned first)
{
	struct store_slice key, value, one;
	struct store_leaf_block bundle;
	unsigned count = draft->count;
	const size_t bytes = store_leaf_block_bytes(count, draft->key_size, draft->values.size);

	assert_true(store_leaf_block_finish(draft, &key, &value));
	assert_int_equal(value.size, bytes);
	assert_true(bytes <= STORE_LEAF_BLOCK_BYTES || count == 1);
	assert_true(store_leaf_block_open(&bundle, key, value));
	assert_true(store_leaf_block_is_sound(&bundle, key, value));
	assert_int_equal(bundle.count, count);
	for (unsigned i = 0; i < count; i++) {
		assert_true(store_leaf_block_value(&bundle, i, &one));
		expect_at(list, first + i, store_leaf_block_key(&bundle, i), one);
		assert_int_equal(store_leaf_block_search(&bundle, store_leaf_block_key(&bundle, i)), i);
	}
}

/* Cut anywhere before its values it is none, and so it is under another key, or with a bit changed there. */
static void check_damage(const struct list *list)
{
	struct store_leaf_block_draft draft = {0};
	struct store_slice key, value;
	struct store_leaf_block bundle;
	uint8_t bytes[STORE_LEAF_BLOCK_BYTES], other[KEY_MAX] = {0};
	size_t head = store_leaf_block_bytes(3, list->key_size, 0);

	for (unsigned i = 0; i < 3; i++)
		store_leaf_block_take(&draft, (struct store_slice){list->keys[i], list->key_size},
			(struct store_slice){other, 5});
	assert_true(store_leaf_block_finish(&draft, &key, &value));
	assert_true(value.size <= sizeof bytes);
	for (size_t size = 0; size < head; size++)
		assert_false(store_leaf_block_open(&bundle, key, (struct store_slice){value.bytes, size}));
	assert_false(store_leaf_block_open(&bundle, (struct store_slice){other, list->key_size}, value));
	for (size_t bit = 0; bit < 8 * head; bit++) {
		const struct store_slice changed = {bytes, value.size};

		memcpy(bytes, value.bytes, value.size);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(store_leaf_block_open(&bundle, key, changed) &&
			     store_leaf_block_is_sound(&bundle, key, changed));
	}
	store_leaf_block_fini(&draft);
}

static void test_bundles(void **unused)
{
	static struct list list;
	static uint8_t zeros[20000];
	struct store_leaf_block_draft draft = {0};
	unsigned first = 0;

	(void)unused;
	list.key_size = KEY_MAX;
	for (unsigned i = 0; i < 2000; i++) {
		const size_t size = draw() % (draw() % 20 ? 300 : sizeof zeros);
		uint8_t key_bytes[KEY_MAX] = {1, (uint8_t)(i >> 8), (uint8_t)i};
		const struct store_slice key = {key_bytes, sizeof key_bytes}, value = {zeros, size};

		if (store_leaf_block_is_full(&draft, key.size, value.size)) {
			check_bundle(&draft, &list, first);
			first = i;
		}
		store_leaf_block_take(&draft, key, value);
		add(&list, key, value);
	}
	check_bundle(&draft, &list, first);
	check_damage(&list);
	store_leaf_block_fini(&draft);
	fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_store, set_up, tear_down),
		cmocka_unit_test(test_bundles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
