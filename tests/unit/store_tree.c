/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_tree.c - trees whose keys somebody has put out of order: what a seek finds is never on the wrong side
 * of what was asked for, so that who asks on from there comes to an end. And trees of which one bit has
 * changed, as writers leave them behind a commit and in the end: what is asked for is what it was, or damage,
 * never another entry or none; so it is with rollups where what they sum up was dropped. HPCT_SEED repeats
 * each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/chunk/chunk.h"
#include "store/file/file.h"
#include "store/file/leaf_block.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/rollup/rollup.h"
#include "store/write/writer.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "tests/unit/store_filesystem.h"

#define ROUNDS 40
#define SEEKS 500
#define STREAMS 64u
#define RECORDS 300u	/* each */
#define PAGE_HEADER 16u /* LMDB's */
#define NODE_HEADER 8u
#define BRANCH 1u
#define LEAF 2u
#define BITS 300
#define THINNED_STREAMS 4u
#define THINNED_RECORDS 4000u /* each, one a millisecond */
#define WINDOWS 128u
#define KEEP_NS UINT64_C(100000000)

static void write_run(bool settles)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU, .end_ns = STORE_OPEN_NS};
	struct store_record record = {.amount = 1000000};
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < STREAMS * RECORDS; i++) {
		if (i % RECORDS == 0) {
			store_writer_stream(writer, &stream);
			record.end_ns = 0;
		}
		record.begin_ns = record.end_ns += 1000000 + draw() % 1000;
		record.context = store_writer_context(
			writer, STORE_CONTEXT_PROGRAM_ROOT, store_writer_text_module(writer), draw() % 8);
		store_writer_append(writer, i / RECORDS, STORE_SAMPLES, &record, 1);
	}
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	if (settles)
		assert_int_equal(store_writer_close(writer, NULL), 0);
	else
		store_writer_abort(writer);
}

/* The streams in some keys of that size become others. */
static void change_leaf(uint8_t *page, unsigned key_bytes, unsigned one_in)
{
	unsigned lower = page[12] | (unsigned)page[13] << 8;

	for (unsigned i = PAGE_HEADER; i < lower; i += 2) {
		uint8_t *node = page + (page[i] | (unsigned)page[i + 1] << 8);

		if (node[6] == key_bytes && draw() % one_in == 0)
			node[NODE_HEADER + 3] = (uint8_t)(draw() % STREAMS);
	}
}

static void change_keys(size_t page_bytes, unsigned one_in)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat facts;
	uint8_t *map;

	assert_true(fd >= 0 && fstat(fd, &facts) == 0);
	map = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	for (size_t at = 2 * page_bytes; at + page_bytes <= (size_t)facts.st_size; at += page_bytes) {
		if (store_load64(map + at) != at / page_bytes || !(map[at + 10] & LEAF))
			continue; /* a branch, or bytes of a long value */
		change_leaf(map + at, STORE_KEY_CHUNK_BYTES, one_in);
		change_leaf(map + at, STORE_KEY_ROLL_BYTES, one_in);
	}
	munmap(map, (size_t)facts.st_size);
	close(fd);
}

static struct store_snapshot look(void)
{
	struct store_snapshot snapshot = {0};

	assert_int_equal(store_file_open(&snapshot.file, path, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	return snapshot;
}

static void look_away(struct store_snapshot *snapshot)
{
	struct store_file *file = snapshot->file;

	store_snapshot_end(snapshot);
	store_file_close(file);
}

/* The answers that are damage. */
static unsigned seek(const struct store_snapshot *snapshot)
{
	struct store_tree_cursor cursor;
	unsigned refused = 0;

	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_CHUNK]);
	for (unsigned i = 0; i < SEEKS; i++) {
		struct store_key_chunk wanted = {
			.stream = draw() % STREAMS, .bucket_ns = draw() % (RECORDS * UINT64_C(1001000))};
		uint8_t key[STORE_KEY_CHUNK_BYTES];
		bool is_below = draw() % 2;
		int rc;

		store_key_chunk_put(key, &wanted);
		rc = is_below ? store_tree_seek_below(&cursor, key, sizeof key, NULL)
			      : store_tree_seek(&cursor, key, sizeof key, NULL);
		refused += rc < 0;
		if (rc != 1)
			continue;
		assert_int_equal(cursor.key.size, sizeof key);
		if (is_below)
			assert_true(memcmp(cursor.key.bytes, key, sizeof key) < 0);
		else
			assert_true(memcmp(cursor.key.bytes, key, sizeof key) >= 0);
	}
	return refused;
}

/* To the end or to the damage. */
static void walk(void)
{
	struct store_rollup_part part;
	struct store_rollup *rollup;
	struct store_reader *reader;

	assert_int_equal(store_reader_open(&reader, path, NULL), 0);
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		uint32_t parts = 0;

		assert_int_equal(store_rollup_open(&rollup, reader, stream, STORE_SAMPLES, draw() % 100000000,
					 UINT64_MAX, NULL),
			0);
		while (store_rollup_next(rollup, &part, NULL) == 1)
			assert_true(++parts <= STREAMS * RECORDS);
		store_rollup_close(rollup);
	}
	store_reader_close(reader);
}

static void test_out_of_order(void **unused)
{
	unsigned refused = 0;

	(void)unused;
	chance = seed_take(__func__, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct store_snapshot snapshot;
		size_t page_bytes;

		print_message("seed %" PRIu64 "\n", chance);
		tear_down(NULL);
		write_run(true);
		snapshot = look();
		page_bytes = snapshot.pages.page_bytes;
		assert_int_equal(seek(&snapshot), 0);
		look_away(&snapshot);
		change_keys(page_bytes, 1 + round % 8);
		snapshot = look();
		refused += seek(&snapshot);
		look_away(&snapshot);
		walk();
	}
	assert_true(refused > 0);
}

/* ---- one bit ---- */

/* What seeks of chunks gave. */
struct answers {
	struct store_key_chunk key[SEEKS]; /* of what was found */
	ptrdiff_t value[SEEKS];
	int rc[SEEKS];
};

/* Half of them ask for what is there: for each stream's chunks, as `there` has them. */
static void ask(const struct store_snapshot *snapshot, const struct answers *there, struct answers *answers)
{
	struct store_tree_cursor cursor;

	store_tree_cursor_init(&cursor, &snapshot->pages, &snapshot->trees[STORE_TREE_CHUNK]);
	cursor.fits = store_chunk_fits;
	for (unsigned i = 0; i < SEEKS; i++) {
		struct store_key_chunk wanted = {
			.stream = draw() % STREAMS, .bucket_ns = draw() % (RECORDS * UINT64_C(1001000))};
		uint8_t key[STORE_KEY_CHUNK_BYTES];

		if (there && i % 2)
			wanted = there->key[i];
		store_key_chunk_put(key, &wanted);
		answers->rc[i] = i % 4 < 2 ? store_tree_seek(&cursor, key, sizeof key, NULL)
					   : store_tree_seek_below(&cursor, key, sizeof key, NULL);
		answers->key[i] = wanted;
		answers->value[i] = 0;
		if (answers->rc[i] != 1)
			continue;
		assert_true(store_key_chunk_get(&answers->key[i], cursor.key.bytes, cursor.key.size));
		answers->key[i].sequence = 0; /* says only which comes first */
		answers->value[i] = cursor.value.bytes - snapshot->pages.bytes;
	}
}

/* A byte of what lies before a bundle's values, of which this is the leaf's node; NULL: it has no bundle. */
static uint8_t *draw_directory(uint8_t *map, size_t page_bytes, const uint8_t *node)
{
	const unsigned key_bytes = store_load16(node + 6);
	const uint8_t *value = node + NODE_HEADER + key_bytes;

	if (key_bytes != STORE_KEY_CHUNK_BYTES && key_bytes != STORE_KEY_ROLL_BYTES)
		return NULL;
	if (store_load16(node + 4) & 1)
		value = map + store_load64(value) * page_bytes + PAGE_HEADER;
	return map + (value - map) +
	       draw() % store_leaf_block_bytes(store_load16(value + 4), store_load16(value + 6), 0);
}

/* A byte of a branch's or leaf's list, node headers or keys; or, where trees have them, of what tells where
 * the values of a bundle are. */
static uint8_t *draw_place(uint8_t *map, size_t bytes, size_t page_bytes, bool is_bundled)
{
	uint8_t *place;

	for (;;) {
		size_t number = 2 + draw() % (bytes / page_bytes - 2);
		uint8_t *page = map + number * page_bytes;
		unsigned lower = store_load16(page + 12), slot, node;

		/* Branches are few. */
		if (store_load64(page) != number || lower < PAGE_HEADER + 2 ||
			(page[10] != BRANCH && (page[10] != LEAF || draw() % 8)))
			continue;
		slot = PAGE_HEADER + 2 * (draw() % ((lower - PAGE_HEADER) / 2));
		node = store_load16(page + slot);
		if (is_bundled && page[10] == LEAF && draw() % 2) {
			place = draw_directory(map, page_bytes, page + node);
			if (place)
				return place;
		}
		switch (draw() % 4) {
		case 0:
			return page + 12 + draw() % 4;
		case 1:
			return page + slot + draw() % 2;
		case 2:
			return page + node + draw() % NODE_HEADER;
		default:
			return page + node + NODE_HEADER + draw() % (store_load16(page + node + 6) + 1u);
		}
	}
}

/* Changes a bit, asks, and changes it back. How many said damage. */
static unsigned ask_changed(uint8_t *map, size_t bytes, size_t page_bytes)
{
	static struct answers there, before, after;
	struct store_snapshot snapshot = look();
	uint8_t *place = draw_place(map, bytes, page_bytes, snapshot.is_bundled),
		bit = (uint8_t)(1u << draw() % 8);
	struct store_file *file;
	uint64_t seed;
	unsigned refused = 0;

	ask(&snapshot, NULL, &there);
	seed = chance;
	ask(&snapshot, &there, &before);
	look_away(&snapshot);
	*place ^= bit;
	snapshot = (struct store_snapshot){0};
	assert_int_equal(store_file_open(&snapshot.file, path, NULL), 0);
	file = snapshot.file;
	if (store_snapshot_renew(&snapshot, NULL) == 0) {
		chance = seed;
		ask(&snapshot, &there, &after);
		for (unsigned i = 0; i < SEEKS; i++) {
			refused += after.rc[i] < 0;
			if (after.rc[i] < 0)
				continue;
			assert_int_equal(after.rc[i], before.rc[i]);
			assert_memory_equal(&after.key[i], &before.key[i], sizeof *after.key);
			assert_int_equal(after.value[i], before.value[i]);
		}
	}
	store_snapshot_end(&snapshot);
	store_file_close(file);
	*place ^= bit;
	return refused;
}

static void test_one_bit(void **unused)
{

	(void)unused;
	chance = seed_take(__func__, 1);
	for (unsigned round = 0; round < 2; round++) {
		struct store_snapshot snapshot;
		unsigned refused = 0;
		struct stat facts;
		size_t page_bytes;
		uint8_t *map;
		int fd;

		tear_down(NULL);
		write_run(round);
		snapshot = look();
		page_bytes = snapshot.pages.page_bytes;
		look_away(&snapshot);
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_true(fd >= 0 && fstat(fd, &facts) == 0);
		map = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(map, MAP_FAILED);
		for (unsigned i = 0; i < BITS; i++) {
			print_message("seed %" PRIu64 "\n", chance);
			refused += ask_changed(map, (size_t)facts.st_size, page_bytes);
		}
		munmap(map, (size_t)facts.st_size);
		close(fd);
		assert_true(refused > 0);
	}
}

/* ---- one bit of a rollup's key, in a flight recording ---- */

/* Most samples are dropped: only rollups say what they weighed. */
static void write_thinned(void)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU, .end_ns = STORE_OPEN_NS};
	struct store_record record = {.amount = 1000000};
	struct store_writer *writer;

	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < THINNED_STREAMS; i++)
		store_writer_stream(writer, &stream);
	for (uint32_t i = 1; i <= THINNED_RECORDS; i++) {
		record.begin_ns = record.end_ns = i * UINT64_C(1000000);
		for (uint32_t id = 0; id < THINNED_STREAMS; id++) {
			store_writer_append(writer, id, STORE_SAMPLES, &record, 1);
			store_writer_stream_edit(writer, id)->complete_ns[STORE_SAMPLES] =
				record.begin_ns + 1;
		}
		if (i % 50)
			continue;
		store_writer_keep(writer, record.begin_ns, KEEP_NS);
		assert_int_equal(store_writer_commit(writer, NULL), 0);
	}
	assert_int_equal(store_writer_close(writer, NULL), 0);
}

/* The stream's samples in a window; -1: damage. */
static int64_t count_samples(struct store_reader *reader, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_rollup_part part;
	struct store_rollup *rollup;
	int64_t samples = 0;
	int rc;

	assert_int_equal(
		store_rollup_open(&rollup, reader, stream, STORE_SAMPLES, begin_ns, end_ns, NULL), 0);
	while ((rc = store_rollup_next(rollup, &part, NULL)) == 1) {
		samples += (int64_t)(part.to - part.from);
		for (uint32_t i = 0; part.sums && i < part.count; i++)
			samples += (int64_t)part.sums[i].samples;
		for (uint32_t i = 0; part.works && i < part.works->count; i++)
			samples += (int64_t)part.works->samples[i];
	}
	store_rollup_close(rollup);
	return rc ? -1 : samples;
}

/* In windows that begin in what was dropped, of one stream after the other. */
static void count_all(int64_t counts[WINDOWS])
{
	struct store_reader *reader;

	assert_int_equal(store_reader_open(&reader, path, NULL), 0);
	for (unsigned i = 0; i < WINDOWS; i++) {
		uint64_t begin_ns = i * UINT64_C(4000000000) / WINDOWS >> 24 << 24;

		counts[i] = count_samples(reader, i % THINNED_STREAMS, i / 8 % 2 ? begin_ns : 0,
			i / 4 % 2 ? UINT64_MAX : begin_ns + (UINT64_C(1) << (27 + i / 16 % 4)));
	}
	store_reader_close(reader);
}

/* Damage is said so often; no other count is another one. */
static unsigned compare_counts(const int64_t before[WINDOWS])
{
	int64_t after[WINDOWS];
	unsigned refused = 0;

	count_all(after);
	for (unsigned i = 0; i < WINDOWS; i++) {
		refused += after[i] < 0;
		if (after[i] >= 0)
			assert_int_equal(after[i], before[i]);
	}
	return refused;
}

static uint8_t *draw_roll_key(uint8_t *map, size_t bytes, size_t page_bytes)
{
	for (;;) {
		size_t number = 2 + draw() % (bytes / page_bytes - 2);
		uint8_t *page = map + number * page_bytes, *node;
		unsigned lower = store_load16(page + 12);

		if (store_load64(page) != number || page[10] != LEAF || lower < PAGE_HEADER + 2)
			continue;
		node = page + store_load16(page + PAGE_HEADER + 2 * (draw() % ((lower - PAGE_HEADER) / 2)));
		if (store_load16(node + 6) == STORE_KEY_ROLL_BYTES && draw() % 2)
			return draw_directory(map, page_bytes, node);
		if (store_load16(node + 6) == STORE_KEY_ROLL_BYTES)
			return node + NODE_HEADER + draw() % STORE_KEY_ROLL_BYTES;
	}
}

static void test_thinned(void **unused)
{
	struct store_snapshot snapshot;
	int64_t before[WINDOWS];
	unsigned refused = 0;
	size_t page_bytes, bytes;
	uint8_t *map;
	int fd;

	(void)unused;
	chance = seed_take(__func__, 1);
	write_thinned();
	snapshot = look();
	page_bytes = snapshot.pages.page_bytes;
	bytes = snapshot.pages.page_count * page_bytes;
	look_away(&snapshot);
	count_all(before);
	assert_int_equal(compare_counts(before), 0);
	assert_int_equal(before[4], THINNED_RECORDS);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	for (unsigned i = 0; i < BITS; i++) {
		uint8_t *place, bit;

		print_message("seed %" PRIu64 "\n", chance);
		place = draw_roll_key(map, bytes, page_bytes);
		bit = (uint8_t)(1u << draw() % 8);
		*place ^= bit;
		refused += compare_counts(before);
		*place ^= bit;
	}
	munmap(map, bytes);
	close(fd);
	assert_true(refused > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_out_of_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_bit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_thinned, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
