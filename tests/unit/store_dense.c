/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_dense.c - texts, contexts and symbols of a settled store: the same as before it settled, in less
 * room; read on from where a reader of the plain form was; and bytes that somebody has changed give an error
 * or nothing. HPCT_SEED repeats one round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/dense.h"
#include "store/key.h"
#include "store/pack.h"
#include "store/reader.h"
#include "store/text.h"
#include "store/writer.h"

#define ROUNDS 12
#define MODULES 4u
#define MUTATIONS 20000

static char path[96], lock_path[104];
static uint64_t chance;

static uint64_t draw(void)
{
	uint64_t z = chance += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int set_up(void **unused)
{
	(void)unused;
	snprintf(path, sizeof path, "%s/hpct-dense-%d.mdb", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
		(int)getpid());
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	unlink(path);
	unlink(lock_path);
	return 0;
}

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
	const char *seed = getenv("HPCT_SEED");
	uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;

	(void)unused;
	for (uint64_t round = first; round < first + (seed ? 1 : ROUNDS); round++) {
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
	assert_int_equal(
		store_pack_get(&snapshot, STORE_TREE_TEXT, tail, count, texts, store_texts_get, &error),
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
static void take_blocks(struct store_dense *dense, unsigned count, bool is_random)
{
	for (unsigned i = 0; i < count; i++) {
		uint8_t key[STORE_KEY_ID_BYTES];
		struct store_bytes value = {0};

		store_key_id_put(key, i * 100);
		store_bytes_begin_sealed(&value);
		for (unsigned b = 0; b < 100; b++)
			store_bytes_put(&value, &(uint8_t){is_random ? (uint8_t)draw() : 'a'}, 1);
		store_bytes_seal(&value, key, sizeof key);
		assert_true(store_dense_take(dense, STORE_TREE_TEXT, (struct store_slice){key, sizeof key},
			(struct store_slice){value.data, value.size}));
		value.data[value.size - 1] ^= 1;
		assert_false(store_dense_take(dense, STORE_TREE_TEXT, (struct store_slice){key, sizeof key},
			(struct store_slice){value.data, value.size}));
		store_bytes_fini(&value);
	}
	assert_true(store_dense_finish(dense));
}

static struct store_input payload_of(const struct store_dense *dense)
{
	return store_input_sealed(
		(struct store_slice){dense->value.data, dense->value.size}, dense->key, dense->key_size);
}

static void test_values(void **unused)
{
	struct store_dense dense = {0};
	struct store_bytes entries = {0};

	(void)unused;
	chance = 9;
	for (int is_random = 0; is_random < 2; is_random++) {
		take_blocks(&dense, 50, is_random);
		assert_true(store_dense_unpack(payload_of(&dense), &entries));
		assert_int_equal(entries.size, 5000);
		assert_true(is_random ? dense.value.size < 5020 && dense.value.size > 5000
				      : dense.value.size < 200);
		for (int m = 0; m < MUTATIONS; m++) {
			struct store_input input = payload_of(&dense);
			size_t size = (size_t)(input.end - input.at), cut = 1 + draw() % size;
			uint8_t *copy = malloc(cut);

			memcpy(copy, input.at, cut);
			copy[draw() % cut] = (uint8_t)draw();
			if (store_dense_unpack((struct store_input){copy, copy + cut, false}, &entries))
				assert_true(entries.size > 0);
			free(copy);
		}
	}
	store_bytes_fini(&entries);
	store_dense_fini(&dense);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_read_on, set_up, tear_down),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
