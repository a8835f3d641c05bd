/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_zstd_block.c - texts, contexts and symbols of a settled store: the same as before it settled, in less
 * room; read on from where a reader of the plain form was; and bytes that somebody has changed give an error
 * or nothing. HPCT_SEED repeats one round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/catalog/append_block.h"
#include "store/catalog/text.h"
#include "store/catalog/zstd_block.h"
#include "store/file/leaf_block.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/write/writer.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "tests/unit/store_filesystem.h"

#define ROUNDS 12
#define MODULES 4u
#define MUTATIONS 20000

/* ---- what a store holds, as it was told ---- */

struct told {
	uint32_t modules[MODULES];
	uint64_t *offsets;
	uint8_t *which, *scopes; /* module of each, and how many scopes */
	uint32_t count;
};

static void told_free(struct told *told)
{
	free(told->offsets);
	free(told->which);
	free(told->scopes);
}

static struct store_scope scope_of(uint64_t offset, uint32_t depth, uint32_t texts)
{
	return (struct store_scope){.kind = depth ? STORE_SCOPE_INLINE : STORE_SCOPE_FUNCTION,
		.name = (uint32_t)(offset / 64) % texts,
		.file = (uint32_t)(offset / 512) % texts,
		.line = (uint32_t)offset % 1000,
		.start = offset & ~(uint64_t)63};
}

static uint32_t put_texts(struct store_writer *writer, uint32_t count)
{
	static char bytes[200000];
	uint32_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		int size = snprintf(bytes, 64, "solver::function<%u>::operator()", i);

		last = store_writer_text(writer, bytes, (size_t)size);
	}
	memset(bytes, 'x', sizeof bytes); /* larger than a dense value is made */
	if (draw() % 2)
		last = store_writer_text(writer, bytes, sizeof bytes);
	return last + 1;
}

/* Offsets at both ends of what there is, and each once. */
static uint64_t next_offset(uint64_t before, uint32_t i, uint32_t count)
{
	if (i == 0)
		return draw() % 2 ? 0 : draw() % 1000;
	if (i == count - 1 && draw() % 2)
		return UINT64_MAX;
	return before + 1 + draw() % 300;
}

static void tell(struct store_writer *writer, struct told *told)
{
	uint32_t texts = put_texts(writer, 1 + draw() % 3000), count = 1 + draw() % 2500, parent = 0;
	struct store_scope scopes[STORE_SCOPE_MAX];

	told->count = 0;
	told->offsets = calloc(MODULES * count, sizeof *told->offsets);
	told->which = calloc(MODULES * count, 1);
	told->scopes = calloc(MODULES * count, 1);
	for (uint32_t m = 0; m < MODULES; m++) {
		struct store_module elf = {
			.kind = STORE_MODULE_ELF, .build_id_bytes = 1, .build_id = {(uint8_t)m}};
		uint32_t symbols = m == 1 ? 1 : m == 2 ? 0 : count;
		uint64_t offset = 0;

		told->modules[m] = store_writer_module(writer, &elf);
		for (uint32_t i = 0; i < symbols; i++) {
			uint32_t at = told->count++;

			offset = next_offset(offset, i, symbols);
			told->offsets[at] = offset;
			told->which[at] = (uint8_t)m;
			told->scopes[at] = (uint8_t)(1 + draw() % (draw() % 50 ? 3 : STORE_SCOPE_MAX));
			for (uint32_t s = 0; s < told->scopes[at]; s++)
				scopes[s] = scope_of(offset, s, texts);
			store_writer_symbol(writer, told->modules[m], offset, scopes, told->scopes[at]);
			parent = store_writer_context(writer,
				draw() % 3 && parent ? parent : STORE_CONTEXT_PROGRAM_ROOT, told->modules[m],
				offset);
		}
	}
}

static bool is_there(const struct told *told, uint32_t m, uint64_t offset)
{
	for (uint32_t i = 0; i < told->count; i++)
		if (told->which[i] == m && told->offsets[i] == offset)
			return true;
	return false;
}

static void expect_symbols(struct store_reader *reader, const struct told *told, uint32_t texts)
{
	struct store_scope scopes[STORE_SCOPE_MAX], want;
	struct error error;

	for (uint32_t turn = 0; turn < told->count; turn++) {
		uint32_t i = draw() % told->count, module = told->modules[told->which[i]];
		uint64_t other = draw() % 2 ? told->offsets[i] + 1 : draw();

		assert_int_equal(store_reader_symbol(reader, module, told->offsets[i], scopes, &error),
			told->scopes[i]);
		for (uint32_t s = 0; s < told->scopes[i]; s++) {
			want = scope_of(told->offsets[i], s, texts);
			assert_int_equal(scopes[s].name, want.name);
			assert_int_equal(scopes[s].line, want.line);
			assert_true(scopes[s].kind == want.kind && scopes[s].start == want.start);
		}
		if (turn % 64 == 0)
			assert_int_equal(store_reader_symbol(reader, module, other, scopes, &error) != 0,
				is_there(told, told->which[i], other));
	}
	assert_int_equal(store_reader_symbol(reader, told->modules[2], 64, scopes, &error), 0);
	assert_int_equal(store_reader_symbol(reader, 1000, 64, scopes, &error), 0);
}

static struct store_reader *open_sound(void)
{
	struct store_reader *reader;
	struct error error;

	if (store_reader_open(&reader, path, &error) || store_reader_check(reader, &error))
		fail_msg("%s", error.text);
	return reader;
}

static void expect_same(struct store_reader *plain, struct store_reader *dense)
{
	uint32_t count, contexts;
	const struct store_context *a = store_reader_contexts(plain, &count);
	const struct store_context *b = store_reader_contexts(dense, &contexts);
	size_t size, same;

	assert_int_equal(count, contexts);
	for (uint32_t i = 0; i < count; i++)
		assert_true(a[i].parent == b[i].parent && a[i].module == b[i].module &&
			    a[i].offset == b[i].offset && a[i].hash.low == b[i].hash.low);
	for (uint32_t i = 0; i < 3100; i++) {
		const char *x = store_reader_text(plain, i, &size), *y = store_reader_text(dense, i, &same);

		assert_true(size == same && memcmp(x, y, size) == 0);
	}
}

static bool is_dense(void)
{
	struct store_snapshot snapshot = {0};
	struct store_file *file;
	bool answer;

	assert_int_equal(store_file_open(&snapshot.file, path, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	answer = snapshot.is_dense;
	file = snapshot.file;
	store_snapshot_end(&snapshot);
	store_file_close(file);
	return answer;
}

static void one_round(uint64_t seed)
{
	struct store_reader *plain, *dense;
	struct store_writer *writer;
	struct told told;
	uint32_t texts = 0;
	size_t size = 1;

	chance = seed;
	unlink(path);
	unlink(lock_path);
	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	tell(writer, &told);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	assert_false(is_dense());
	plain = open_sound();
	while (store_reader_text(plain, ++texts, &size) && size)
		;
	expect_symbols(plain, &told, texts);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_true(is_dense());
	dense = open_sound();
	expect_symbols(dense, &told, texts);
	expect_same(plain, dense);
	store_reader_close(plain);
	store_reader_close(dense);
	told_free(&told);
}

static void test_round_trip(void **unused)
{
	uint64_t end, first = seed_rounds(__func__, ROUNDS, &end);

	(void)unused;
	for (uint64_t round = first; round < end; round++) {
		print_message("seed %" PRIu64 "\n", round);
		one_round(round);
	}
}

/* ---- a copy that is put anew may be the settled one: what was read of the plain one stays ---- */

static void read_texts(struct store_texts *texts, uint32_t *tail, uint32_t *count, int want)
{
	struct store_snapshot snapshot = {0};
	struct store_file *file;
	struct error error;

	assert_int_equal(store_file_open(&snapshot.file, path, NULL), 0);
	assert_int_equal(store_snapshot_renew(&snapshot, NULL), 0);
	assert_int_equal(store_append_block_get(
				 &snapshot, STORE_TREE_TEXT, tail, count, texts, store_texts_get, &error),
		want);
	file = snapshot.file;
	store_snapshot_end(&snapshot);
	store_file_close(file);
}

static void test_read_on(void **unused)
{
	struct store_writer *writer;
	struct store_texts texts;
	uint32_t tail = 0, count = 0, before, beyond;

	(void)unused;
	chance = 5;
	assert_int_equal(store_texts_init(&texts), 0);
	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	put_texts(writer, 4000);
	assert_int_equal(store_writer_commit(writer, NULL), 0);
	read_texts(&texts, &tail, &count, 0);
	assert_true(tail > 0 && count >= 4001 && texts.count == count);
	before = count;
	store_writer_text(writer, "one more", 8);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	beyond = count + 2;
	read_texts(&texts, &tail, &beyond, -ERROR_RUN); /* it cannot have less than it had */
	read_texts(&texts, &tail, &count, 0);
	assert_int_equal(count, before + 1);
	assert_int_equal(texts.count, count);
	assert_memory_equal(store_texts_at(&texts, before).bytes, "one more", 8);
	store_texts_fini(&texts);
}

/* ---- values ---- */

/* Takes `count` texts' blocks of one size; random or always the same bytes. */
static void take_blocks(struct store_zstd_block *dense, unsigned count, bool is_random)
{
	for (unsigned i = 0; i < count; i++) {
		uint8_t key[STORE_KEY_ID_BYTES];
		struct store_bytes value = {0};

		store_key_id_put(key, i * 100);
		store_bytes_begin_sealed(&value);
		for (unsigned b = 0; b < 100; b++)
			store_bytes_put(&value, &(uint8_t){is_random ? (uint8_t)draw() : 'a'}, 1);
		store_bytes_seal(&value, key, sizeof key);
		assert_true(store_zstd_block_take(dense, STORE_TREE_TEXT,
			(struct store_slice){key, sizeof key}, (struct store_slice){value.data, value.size}));
		value.data[value.size - 1] ^= 1;
		assert_false(store_zstd_block_take(dense, STORE_TREE_TEXT,
			(struct store_slice){key, sizeof key}, (struct store_slice){value.data, value.size}));
		store_bytes_fini(&value);
	}
	assert_true(store_zstd_block_finish(dense));
}

static struct store_input payload_of(const struct store_zstd_block *dense)
{
	return store_input_sealed(
		(struct store_slice){dense->value.data, dense->value.size}, dense->key, dense->key_size);
}

static void test_values(void **unused)
{
	struct store_zstd_block dense = {0};
	struct store_bytes entries = {0};

	(void)unused;
	chance = 9;
	for (int is_random = 0; is_random < 2; is_random++) {
		take_blocks(&dense, 50, is_random);
		assert_true(store_zstd_block_unpack(payload_of(&dense), &entries));
		assert_int_equal(entries.size, 5000);
		assert_true(is_random ? dense.value.size < 5020 && dense.value.size > 5000
				      : dense.value.size < 200);
		for (int m = 0; m < MUTATIONS; m++) {
			struct store_input input = payload_of(&dense);
			size_t size = (size_t)(input.end - input.at), cut = 1 + draw() % size;
			uint8_t *copy = malloc(cut);

			memcpy(copy, input.at, cut);
			copy[draw() % cut] = (uint8_t)draw();
			if (store_zstd_block_unpack((struct store_input){copy, copy + cut, false}, &entries))
				assert_true(entries.size > 0);
			free(copy);
		}
	}
	store_bytes_fini(&entries);
	store_zstd_block_fini(&dense);
}

/* What is longer than a packed value may be lies as it is, and a frame that claims so much is damage before
 * it costs memory. */
static void test_long_values(void **unused)
{
	struct store_zstd_block dense = {0};
	struct store_bytes entries = {0}, claim = {0};
	struct store_input input;

	(void)unused;
	take_blocks(&dense, STORE_ZSTD_BLOCK_PACKED_MAX / 100, false);
	assert_true(dense.value.size < 1000);
	assert_true(store_zstd_block_unpack(payload_of(&dense), &entries));
	take_blocks(&dense, STORE_ZSTD_BLOCK_PACKED_MAX / 100 + 1, false);
	assert_true(dense.value.size > STORE_ZSTD_BLOCK_PACKED_MAX);
	assert_true(store_zstd_block_unpack(payload_of(&dense), &entries));
	assert_int_equal(entries.size, (STORE_ZSTD_BLOCK_PACKED_MAX / 100 + 1) * 100);
	store_bytes_fini(&entries);
	for (uint64_t size = STORE_ZSTD_BLOCK_PACKED_MAX + 1; size; size <<= 1) {
		claim.size = 0;
		store_bytes_put_varint(&claim, size);
		store_bytes_put(&claim, "a frame", 7);
		input = (struct store_input){claim.data, claim.data + claim.size, false};
		assert_int_equal(store_zstd_block_size(input), 0);
		assert_false(store_zstd_block_unpack(input, &entries));
		assert_true(entries.capacity == 0 && !entries.failed);
	}
	store_bytes_fini(&claim);
	store_zstd_block_fini(&dense);
}

/* ---- stores of which somebody has made the seals fit ---- */

static MDB_txn *open_texts(MDB_env **env, MDB_dbi *dbi)
{
	MDB_txn *txn;

	assert_int_equal(mdb_env_create(env), 0);
	assert_int_equal(mdb_env_set_maxdbs(*env, 16), 0);
	assert_int_equal(mdb_env_set_mapsize(*env, (size_t)64 << 20), 0);
	assert_int_equal(mdb_env_open(*env, path, MDB_NOSUBDIR | MDB_NOLOCK, 0600), 0);
	assert_int_equal(mdb_txn_begin(*env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "text", 0, dbi), 0);
	return txn;
}

static void put_value(MDB_txn *txn, MDB_dbi dbi, uint32_t id, uint64_t claim, struct store_slice entries)
{
	uint8_t key_bytes[STORE_KEY_ID_BYTES];
	MDB_val key = {sizeof key_bytes, key_bytes}, value;
	struct store_leaf_block_draft draft = {0};
	struct store_bytes bytes = {0};
	struct store_slice first, bundle;

	store_key_id_put(key_bytes, id);
	store_bytes_begin_sealed(&bytes);
	store_bytes_put_varint(&bytes, claim);
	store_bytes_put(&bytes, entries.bytes, entries.size);
	store_bytes_seal(&bytes, key_bytes, sizeof key_bytes);
	store_leaf_block_take(&draft, (struct store_slice){key_bytes, sizeof key_bytes},
		(struct store_slice){bytes.data, bytes.size});
	assert_true(store_leaf_block_finish(&draft, &first, &bundle));
	value = (MDB_val){bundle.size, (void *)bundle.bytes};
	assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	store_leaf_block_fini(&draft);
	store_bytes_fini(&bytes);
}

/* The first value's payload, unpacked; those bundled with it get values of their own. */
static void split_first(MDB_txn *txn, MDB_dbi dbi, struct store_bytes *entries)
{
	uint8_t key_bytes[STORE_KEY_ID_BYTES] = {0};
	MDB_val key = {sizeof key_bytes, key_bytes}, value;
	struct store_slice at, own = {key_bytes, sizeof key_bytes};
	struct store_leaf_block bundle;
	uint8_t *copy;

	assert_int_equal(mdb_get(txn, dbi, &key, &value), 0);
	copy = malloc(value.mv_size);
	assert_non_null(copy);
	memcpy(copy, value.mv_data, value.mv_size);
	assert_true(store_leaf_block_open(&bundle, own, (struct store_slice){copy, value.mv_size}));
	for (unsigned i = bundle.count; i-- > 0;) {
		struct store_input input;
		uint32_t id;

		own = store_leaf_block_key(&bundle, i);
		assert_true(store_leaf_block_value(&bundle, i, &at));
		assert_true(store_key_id_get(&id, own.bytes, own.size));
		input = store_input_sealed(at, own.bytes, own.size);
		assert_true(store_zstd_block_unpack(input, entries));
		put_value(txn, dbi, id, entries->size, (struct store_slice){entries->data, entries->size});
	}
	free(copy);
}

/* The first value loses its last text, which *id gets, or has one more. */
static void change_first(uint32_t *id, bool is_longer)
{
	MDB_env *env;
	MDB_dbi dbi;
	MDB_txn *txn = open_texts(&env, &dbi);
	struct store_bytes entries = {0};
	struct store_input input;
	const uint8_t *last = NULL;

	split_first(txn, dbi, &entries);
	input = (struct store_input){entries.data, entries.data + entries.size, false};
	for (*id = 0; input.at < input.end; ++*id) {
		last = input.at;
		store_input_take(&input, store_input_varint(&input));
	}
	--*id;
	if (is_longer)
		store_bytes_put(&entries, "\1x", 2);
	else
		entries.size = (size_t)(last - entries.data);
	put_value(txn, dbi, 0, entries.size, (struct store_slice){entries.data, entries.size});
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	store_bytes_fini(&entries);
}

static void write_texts(void)
{
	struct store_stream stream = {.end_ns = 100};
	struct store_writer *writer;

	tear_down(NULL);
	assert_int_equal(store_writer_create(&writer, path, NULL), 0);
	put_texts(writer, 20000);
	store_writer_stream(writer, &stream);
	assert_int_equal(store_writer_close(writer, NULL), 0);
	assert_true(is_dense());
}

static void test_other_number(void **unused)
{
	(void)unused;
	for (unsigned which = 0; which < 4; which++) {
		struct store_reader *reader;
		uint32_t id;
		size_t size;

		write_texts();
		change_first(&id, which % 2);
		assert_int_equal(store_reader_open(&reader, path, NULL), 0);
		if (which / 2) { /* looked at before it is checked */
			assert_non_null(store_reader_text(reader, id, &size));
			assert_int_equal(size > 0, which % 2);
			assert_int_equal(strlen(store_reader_text(reader, id, &size)), size);
			assert_non_null(store_reader_text_peek(reader, id));
			assert_int_equal(strlen(store_reader_text_peek(reader, id)), size);
			assert_non_null(store_reader_text(reader, id - 1, &size));
			assert_true(size > 0);
		}
		assert_int_equal(store_reader_check(reader, NULL), -ERROR_RUN);
		store_reader_close(reader);
	}
}

/* A few bytes that claim a table of many millions. */
static void test_claims(void **unused)
{
	static const uint8_t frame[] = "no frame at all";

	(void)unused;
	for (uint64_t claim = UINT64_C(1) << 20; claim < UINT64_C(1) << 40; claim <<= 5) {
		struct store_reader *reader = NULL;
		MDB_env *env;
		MDB_dbi dbi;
		MDB_txn *txn;

		write_texts();
		txn = open_texts(&env, &dbi);
		assert_int_equal(mdb_drop(txn, dbi, 0), 0);
		put_value(txn, dbi, 0, claim, (struct store_slice){frame, sizeof frame});
		put_value(txn, dbi, claim - 1 < 1u << 30 ? (uint32_t)claim - 1 : 1u << 30, 1,
			(struct store_slice){(const uint8_t *)"", 1});
		assert_int_equal(mdb_txn_commit(txn), 0);
		mdb_env_close(env);
		assert_int_equal(store_reader_open(&reader, path, NULL), -ERROR_RUN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_read_on, set_up, tear_down),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test_setup_teardown(test_other_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_claims, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
