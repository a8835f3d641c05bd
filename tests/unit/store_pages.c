/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pages.c - trees as LMDB leaves them behind puts, overwrites and deletes in any order, with keys from
 * 1 byte on, values from none to some pages, and pages of each size: what tree.c finds in them is what LMDB
 * finds, and none of it is damage; asked for beforehand (ask.h) are all its pages, each once. HPCT_SEED
 * repeats one round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file/readahead.h"
#include "store/file/tree.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "tests/unit/store_filesystem.h"

#define ROUNDS 24
#define COMMITS 12
#define CHANGES 300
#define SEEKS 400
#define KEY_MAX 128u /* LMDB's pages of 512 bytes hold no two that are longer */
#define VALUE_MAX 10000u
#define MAP_BYTES ((size_t)64 << 20)

/* Keys of a round: few symbols make them meet again, and begin with one another. */
static MDB_val draw_key(uint8_t bytes[KEY_MAX], unsigned longest)
{
	MDB_val key = {.mv_size = 1 + draw() % longest, .mv_data = bytes};

	for (size_t i = 0; i < key.mv_size; i++)
		bytes[i] = (uint8_t)(i < 4 ? draw() % 8 * 0x24 : draw() % 2);
	return key;
}

static MDB_val draw_value(uint8_t bytes[VALUE_MAX], size_t page_bytes)
{
	static const unsigned parts[] = {64, 8, 2, 1};
	size_t most = draw() % 32 ? page_bytes / parts[draw() % 4] : VALUE_MAX;
	MDB_val value = {.mv_size = draw() % (most + 1), .mv_data = bytes};

	memset(bytes, (int)draw(), value.mv_size);
	return value;
}

static MDB_env *env_open(size_t page_bytes)
{
	uint8_t first[8192];
	MDB_env *env;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	store_pages_begin(first, (uint32_t)page_bytes, MAP_BYTES);
	assert_int_equal(write(fd, first, 2 * page_bytes), 2 * page_bytes);
	close(fd);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 1), 0);
	assert_int_equal(mdb_env_set_mapsize(env, MAP_BYTES), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600), 0);
	return env;
}

/* From where chance says, some in a row: whole leaves go, and what is above them. */
static void delete_row(MDB_txn *txn, MDB_dbi dbi, unsigned longest)
{
	uint8_t bytes[KEY_MAX];
	MDB_val key = draw_key(bytes, longest), value;
	MDB_cursor *cursor;

	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	for (unsigned left = (unsigned)(draw() % 100); left; left--) {
		if (mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE))
			break;
		assert_int_equal(mdb_cursor_del(cursor, 0), 0);
	}
	mdb_cursor_close(cursor);
}

/* Of 16 changes so many delete. */
static void change(MDB_env *env, size_t page_bytes, unsigned longest, unsigned deletes)
{
	static uint8_t key_bytes[KEY_MAX], value_bytes[VALUE_MAX];
	MDB_txn *txn;
	MDB_dbi dbi;

	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "tree", MDB_CREATE, &dbi), 0);
	for (unsigned i = 0; i < CHANGES; i++) {
		MDB_val key = draw_key(key_bytes, longest), value = draw_value(value_bytes, page_bytes);

		if (draw() % 16 >= deletes)
			assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
		else if (draw() % 16)
			mdb_del(txn, dbi, &key, NULL);
		else
			delete_row(txn, dbi, longest);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
}

/* The same entry, or neither has one. */
static void check_same(int rc, const struct store_tree_cursor *ours, int failed, MDB_val key, MDB_val value)
{
	assert_int_equal(rc, failed != MDB_NOTFOUND);
	if (rc != 1)
		return;
	assert_int_equal(ours->key.size, key.mv_size);
	assert_memory_equal(ours->key.bytes, key.mv_data, key.mv_size);
	assert_int_equal(ours->value.size, value.mv_size);
	assert_memory_equal(ours->value.bytes, value.mv_data, value.mv_size);
}

static void check_walks(struct store_tree_cursor *ours, MDB_cursor *theirs)
{
	uint8_t last[KEY_MAX + 1];
	MDB_val key, value;
	int failed = mdb_cursor_get(theirs, &key, &value, MDB_FIRST);
	int rc = store_tree_seek(ours, "", 0, NULL);

	for (check_same(rc, ours, failed, key, value); rc == 1; check_same(rc, ours, failed, key, value)) {
		rc = store_tree_next(ours, NULL);
		failed = mdb_cursor_get(theirs, &key, &value, MDB_NEXT);
	}
	memset(last, 0xff, sizeof last);
	rc = store_tree_seek_below(ours, last, sizeof last, NULL);
	failed = mdb_cursor_get(theirs, &key, &value, MDB_LAST);
	for (check_same(rc, ours, failed, key, value); rc == 1; check_same(rc, ours, failed, key, value)) {
		rc = store_tree_previous(ours, NULL);
		failed = mdb_cursor_get(theirs, &key, &value, MDB_PREV);
	}
}

/* Never at the first try: the cursor of LMDB stands where it stood. */
static void check_seek(struct store_tree_cursor *ours, MDB_cursor *theirs, unsigned longest)
{
	uint8_t bytes[KEY_MAX];
	const MDB_val wanted = draw_key(bytes, longest);
	MDB_val key = wanted, value;
	int failed = mdb_cursor_get(theirs, &key, &value, MDB_SET_RANGE);

	check_same(store_tree_seek(ours, wanted.mv_data, wanted.mv_size, NULL), ours, failed, key, value);
	failed = mdb_cursor_get(theirs, &key, &value, failed ? MDB_LAST : MDB_PREV);
	check_same(
		store_tree_seek_below(ours, wanted.mv_data, wanted.mv_size, NULL), ours, failed, key, value);
}

/* Pages of values that lie on their own, behind a header: as many as they need now, which may be fewer than
 * they have, and than LMDB counts. */
static uint64_t long_values(MDB_cursor *theirs, size_t page_bytes)
{
	MDB_val key, value;
	uint64_t pages = 0;
	int failed = mdb_cursor_get(theirs, &key, &value, MDB_FIRST);

	for (; !failed; failed = mdb_cursor_get(theirs, &key, &value, MDB_NEXT))
		if ((uintptr_t)value.mv_data % page_bytes == STORE_PAGE_HEADER)
			pages += (STORE_PAGE_HEADER + value.mv_size + page_bytes - 1) / page_bytes;
	return pages;
}

/* All pages of two trees, once. */
static void check_asked(MDB_cursor *theirs, const struct store_pages *pages, const struct store_tree *tree)
{
	const struct store_tree *const trees[] = {tree, &pages->names};
	uint64_t wanted = 1; /* the names, which is one */
	MDB_stat stat;

	assert_int_equal(mdb_stat(mdb_cursor_txn(theirs), mdb_cursor_dbi(theirs), &stat), 0);
	wanted += stat.ms_branch_pages + stat.ms_leaf_pages + long_values(theirs, pages->page_bytes);
	assert_int_equal(store_readahead_trees(pages, trees, 2), wanted);
	assert_int_equal(store_readahead_trees(pages, trees, 0), 0);
}

static void check_tree(MDB_txn *txn, MDB_dbi dbi, const struct store_pages *pages, unsigned longest)
{
	struct store_tree_cursor ours;
	struct store_tree tree;
	MDB_cursor *theirs;

	assert_int_equal(store_tree_open(&tree, pages, "tree", NULL), 0);
	store_tree_cursor_init(&ours, pages, &tree);
	assert_int_equal(mdb_cursor_open(txn, dbi, &theirs), 0);
	check_asked(theirs, pages, &tree);
	for (unsigned i = 0; i < SEEKS; i++)
		check_seek(&ours, theirs, longest);
	check_walks(&ours, theirs);
	mdb_cursor_close(theirs);
}

static void check(MDB_env *env, unsigned longest)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct store_pages pages;
	struct stat facts;
	MDB_txn *txn;
	MDB_dbi dbi;
	void *map;

	assert_int_equal(fstat(fd, &facts), 0);
	map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(
		store_pages_open(&pages, map, (uint64_t)facts.st_size, UINT64_MAX, path, NULL, NULL), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "tree", 0, &dbi), 0);
	check_tree(txn, dbi, &pages, longest); /* each page is looked through whenever it is met */
	pages.known = calloc(pages.page_count / 64 + 1, sizeof *pages.known);
	check_tree(txn, dbi, &pages, longest);
	free(pages.known);
	mdb_txn_abort(txn);
	munmap(map, (size_t)facts.st_size);
	close(fd);
}

static void one_round(uint64_t seed)
{
	static const size_t sizes[] = {512, 1024, 2048, 4096};
	static const unsigned longests[] = {3, 16, KEY_MAX};
	const size_t page_bytes = sizes[seed % 4];
	const unsigned longest = longests[seed / 4 % 3];
	MDB_env *env;

	chance = seed;
	env = env_open(page_bytes);
	for (unsigned i = 0; i < COMMITS; i++) {
		/* It grows, and then it becomes less. */
		change(env, page_bytes, longest, i < COMMITS / 2 ? 3 : 13);
		check(env, longest);
	}
	mdb_env_close(env);
	tear_down(NULL);
}

static void test_as_lmdb(void **unused)
{
	uint64_t end, first = seed_rounds(__func__, ROUNDS, &end);

	(void)unused;
	for (uint64_t i = first; i < end; i++) {
		print_message("seed %" PRIu64 "\n", i);
		one_round(i);
	}
}

static void put16(uint8_t *at, unsigned number)
{
	at[0] = (uint8_t)number;
	at[1] = (uint8_t)(number >> 8);
}

/* A branch whose children are all that branch, and a tree that claims to be deep: what is asked for has an
 * end, and so has the memory that it takes. */
static void test_circle(void **unused)
{
	enum { PAGE = 4096, NODES = 100, NODE = 10, NUMBER = 2 };
	static uint8_t bytes[3 * PAGE] __attribute__((aligned(PAGE)));
	const struct store_pages pages = {.bytes = bytes, .page_bytes = PAGE, .page_count = 3, .path = path};
	const struct store_tree tree = {.root = NUMBER, .depth = STORE_TREE_DEPTH_MAX};
	const struct store_tree *const trees[] = {&tree};
	uint8_t *page = bytes + NUMBER * PAGE;

	(void)unused;
	page[0] = NUMBER;
	page[10] = 1;			       /* a branch */
	put16(page + 12, 16 + 2 * NODES);      /* lower */
	put16(page + 14, PAGE - NODES * NODE); /* upper */
	for (unsigned i = 0; i < NODES; i++) {
		uint8_t *node = page + PAGE - (i + 1) * NODE;

		put16(page + 16 + 2 * i, (unsigned)(node - page));
		node[0] = NUMBER;
		put16(node + 6, 2); /* of its key, which is the node's number */
		node[9] = (uint8_t)i;
	}
	assert_int_equal(store_readahead_trees(&pages, trees, 1), STORE_READAHEAD_BYTES_MOST / PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_lmdb, set_up, tear_down),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
