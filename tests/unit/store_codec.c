/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_codec.c - integers through the codec and records through a chunk: what goes in comes out, and bytes
 * that somebody has changed give an error or sound records, never more. HPCT_SEED repeats one round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/avx2.h"
#include "store/base/hash.h"
#include "store/chunk/chunk.h"
#include "store/chunk/chunk_decode_internal.h"
#include "store/read/reader.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"

#define CODEC_ROUNDS 20000
#define CHUNK_ROUNDS 300
#define MUTATIONS 100

/* Values of one width, with outliers, in runs, all equal, or of two widths. */
static void fill(uint64_t *values, unsigned count)
{
	unsigned width = draw() % 65, outlier = draw() % 65, kind = draw() % 5, share = 1 + draw() % 8;

	for (unsigned i = 0; i < count; i++) {
		values[i] = width ? draw() >> (64 - width) : 0;
		if (kind == 1 && draw() % 20 == 0)
			values[i] = outlier ? draw() >> (64 - outlier) : 0;
		if (kind == 4 && draw() % 8 < share)
			values[i] = outlier ? draw() >> (64 - outlier) : 0;
		if (kind == 2 && i && draw() % 8)
			values[i] = values[i - 1];
		if (kind == 3 && i)
			values[i] = values[0];
	}
}

static void one_codec_round(uint64_t seed)
{
	uint64_t values[STORE_BLOCK_RECORDS], back[STORE_BLOCK_RECORDS];
	struct store_bytes out = {0};
	struct store_codec_plan plan;
	struct store_input input;
	unsigned count;

	chance = seed;
	count = draw() % 2 ? STORE_BLOCK_RECORDS : 1 + draw() % STORE_BLOCK_RECORDS;
	fill(values, count);
	plan = store_codec_plan(values, count);
	store_codec_put(&out, values, count);
	if (plan.packing) /* a constant is a varint of up to ten bytes */
		assert_true(out.size <= plan.size);
	input = (struct store_input){.at = out.data, .end = out.data + out.size};
	if (!store_codec_get(&input, back, count) || input.at != input.end ||
		memcmp(values, back, count * sizeof *values) != 0)
		fail_msg("seed %" PRIu64, seed);
	input = (struct store_input){.at = out.data, .end = out.data + out.size};
	assert_true(store_codec_skip(&input, count) && input.at == input.end);
	for (size_t cut = 0; cut < out.size; cut += 1 + out.size / 16) {
		input = (struct store_input){.at = out.data, .end = out.data + cut};
		assert_false(store_codec_get(&input, back, count));
	}
	store_bytes_fini(&out);
}

static void test_codec(void **unused)
{
	uint64_t end, first = seed_rounds(__func__, CODEC_ROUNDS, &end);

	(void)unused;
	for (uint64_t seed = first; seed < end; seed++)
		one_codec_round(seed);
}

static void test_varint(void **unused)
{
	const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
	const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	struct store_bytes out = {0};
	struct store_input input;

	(void)unused;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		store_bytes_put_varint(&out, values[i]);
		store_bytes_put_zigzag(&out, values[i]);
	}
	input = (struct store_input){.at = out.data, .end = out.data + out.size};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		assert_true(store_input_varint(&input) == values[i]);
		assert_true(store_input_zigzag(&input) == values[i]);
	}
	assert_true(!input.bad && input.at == input.end);
	input = (struct store_input){.at = too_long, .end = too_long + sizeof too_long};
	store_input_varint(&input);
	assert_true(input.bad);
	store_bytes_fini(&out);
}

/* Of every length, with bytes of others behind and with none, whole and cut. */
static void test_varint_lengths(void **unused)
{
	struct store_bytes out = {0};

	(void)unused;
	for (unsigned bit = 0; bit < 64; bit++) {
		const uint64_t value = ((uint64_t)1 << bit) | (bit ? 0x5a5a5a5a5a5a5a5au >> (64 - bit) : 0);
		struct store_input input;
		size_t size;

		out.size = 0;
		store_bytes_put_varint(&out, value);
		size = out.size;
		assert_int_equal(size, bit / 7 + 1);
		for (size_t behind = 0; behind < 12; behind++) {
			input = (struct store_input){.at = out.data, .end = out.data + out.size};
			assert_true(store_input_varint(&input) == value);
			assert_true(!input.bad && input.at == out.data + size);
			store_bytes_put(&out, &(uint8_t){(uint8_t)(0x7f + behind % 3)}, 1);
		}
		for (size_t cut = 0; cut < size; cut++) {
			input = (struct store_input){.at = out.data, .end = out.data + cut};
			store_input_varint(&input);
			assert_true(input.bad);
		}
	}
	store_bytes_fini(&out);
}

/* ---- chunks ---- */

static int compare(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

#define RECORDS 6000u /* some parts */

static unsigned make_records(struct store_record *records, enum store_track track)
{
	unsigned count = 1 + draw() % (draw() % 8 ? 2000 : RECORDS),
		 contexts = 1 + draw() % (draw() % 2 ? 8 : 5000);
	unsigned young = draw() % 3 ? 0 : 1 + draw() % 3, most = 0; /* a young program's contexts are new */
	uint64_t now = draw() >> 2, step = draw() >> (30 + draw() % 30), rest = draw() % 2;
	unsigned waits = draw() % 2 ? 0 : 1 + draw() % 40; /* short steps and long ones */

	for (unsigned i = 0; i < count; i++) {
		struct store_record *record = &records[i];

		now += draw() % ((step >> (draw() % 3 ? waits : 0)) + 1);
		*record = (struct store_record){.begin_ns = now & INT64_MAX, .context = draw() % contexts};
		if (young && draw() % 4)
			record->context = most += 1 + draw() % young;
		else if (young)
			record->context = draw() % (most + 1);
		record->end_ns = record->begin_ns;
		if (track == STORE_SPANS)
			record->end_ns += record->context * 100 + draw() % 50;
		record->amount = draw() % 10 ? 1000 : draw();
		record->what = record->context % 7;
		record->bytes = rest && record->context % 3 == 0 ? draw() : 0;
		record->link = rest ? i : 0;
		record->attributes = rest ? record->context % 11 : 0;
		record->flags = draw() % 2;
	}
	qsort(records, count, sizeof *records, compare);
	return count;
}

static void check_rows(
	const struct store_batch *batch, unsigned asked, const struct store_record *records, unsigned count)
{
	assert_int_equal(batch->count, count);
	assert_true(!(asked & STORE_BEGIN) == !batch->begin_ns && !(asked & STORE_END) == !batch->end_ns);
	assert_true(!(asked & STORE_LINK) == !batch->link && !(asked & STORE_FLAGS) == !batch->flags);
	for (unsigned i = 0; i < count; i++) {
		assert_true(!batch->begin_ns || batch->begin_ns[i] == records[i].begin_ns);
		assert_true(!batch->end_ns || batch->end_ns[i] == records[i].end_ns);
		assert_true(!batch->amount || batch->amount[i] == records[i].amount);
		assert_true(!batch->context || batch->context[i] == records[i].context);
		assert_true(!batch->what || batch->what[i] == records[i].what);
		assert_true(!batch->bytes || batch->bytes[i] == records[i].bytes);
		assert_true(!batch->link || batch->link[i] == records[i].link);
		assert_true(!batch->attributes || batch->attributes[i] == records[i].attributes);
		assert_true(!batch->flags || batch->flags[i] == records[i].flags);
	}
}

/* Any columns asked for must be those of all columns; of parts, too. */
static void check_columns(const struct store_chunk *chunk, const struct store_record *records, unsigned count)
{
	struct store_batch batch;
	unsigned asked = draw() % STORE_ALL + 1;

	store_batch_init(&batch);
	assert_int_equal(store_chunk_decode(chunk, asked, &batch, NULL), 0);
	check_rows(&batch, asked, records, count);
	assert_int_equal(store_chunk_decode_begin(chunk, asked, &batch, NULL), 0);
	for (unsigned at = 0, rows; at < count; at += rows) {
		rows = count - at < STORE_CHUNK_PART ? count - at : STORE_CHUNK_PART;
		assert_int_equal(store_chunk_decode_next(&batch, NULL), 1);
		check_rows(&batch, asked, records + at, rows);
	}
	assert_int_equal(store_chunk_decode_next(&batch, NULL), 0);
	assert_int_equal(store_chunk_decode_next(&batch, NULL), 0);
	store_batch_fini(&batch);
}

/* In order behind what came before, and of ids that are there. */
static uint64_t check_sound(
	const struct store_chunk *chunk, const struct store_batch *batch, uint64_t last_ns)
{
	for (size_t i = 0; batch->context && i < batch->count; i++)
		assert_true(batch->context[i] < chunk->contexts);
	for (size_t i = 0; batch->attributes && i < batch->count; i++)
		assert_true(batch->attributes[i] < chunk->texts);
	for (size_t i = 0; batch->begin_ns && i < batch->count; i++) {
		assert_true(batch->begin_ns[i] >= last_ns);
		last_ns = batch->begin_ns[i];
	}
	return last_ns;
}

/* Hostile bytes under a checksum that fits: memory must stay sound, and so must what comes out. */
static void mutate(const struct store_bytes *bytes)
{
	uint8_t *copy = malloc(bytes->size);
	struct store_chunk chunk;
	struct store_batch batch;

	assert_non_null(copy);
	store_batch_init(&batch);
	for (int m = 0; m < MUTATIONS; m++) {
		size_t size = draw() % 8 ? bytes->size : draw() % bytes->size;
		uint64_t checksum;

		memcpy(copy, bytes->data, bytes->size);
		for (uint64_t flips = 1 + draw() % 4; flips--;)
			copy[8 + draw() % (bytes->size - 8)] = (uint8_t)draw();
		if (size > 8) {
			checksum = store_hash64(copy + 8, size - 8, 0);
			memcpy(copy, &checksum, sizeof checksum);
		}
		if (!store_chunk_peek(&chunk, (struct store_slice){copy, size}))
			continue;
		chunk.contexts = 5000;
		chunk.texts = draw() % 4 ? 11 : 1 + draw() % 8; /* fewer than some chunks name */
		if (store_chunk_decode(&chunk, draw() % STORE_ALL + 1, &batch, NULL))
			continue;
		check_sound(&chunk, &batch, 0);
		if (store_chunk_decode_begin(&chunk, draw() % STORE_ALL + 1, &batch, NULL))
			continue;
		for (uint64_t last_ns = 0; store_chunk_decode_next(&batch, NULL) > 0;)
			last_ns = check_sound(&chunk, &batch, last_ns);
	}
	store_batch_fini(&batch);
	free(copy);
}

/* With wide vectors and without. */
static void check_same_bytes(const struct store_key_chunk *key, const struct store_record *records,
	unsigned count, const struct store_bytes *bytes)
{
	struct store_chunk_coder coder = {0};
	struct store_bytes other = {0};

	store_is_plain = !store_is_plain;
	store_chunk_encode(&coder, key, records, count, &other);
	store_is_plain = !store_is_plain;
	assert_int_equal(other.size, bytes->size);
	assert_memory_equal(other.data, bytes->data, bytes->size);
	store_bytes_fini(&other);
	store_chunk_coder_fini(&coder);
}

static void one_chunk_round(uint64_t seed, bool is_last)
{
	static struct store_record records[RECORDS];
	static struct store_chunk_coder coder;
	struct store_key_chunk key = {.stream = 3, .shift = STORE_SHIFT_MAX};
	struct store_bytes bytes = {0};
	struct store_chunk chunk;
	unsigned count;

	chance = seed;
	key.track = draw() % STORE_TRACK_COUNT;
	count = make_records(records, key.track);
	store_chunk_encode(&coder, &key, records, count, &bytes);
	assert_false(bytes.failed);
	assert_true(store_chunk_peek(&chunk, (struct store_slice){bytes.data, bytes.size}));
	assert_true(store_chunk_matches(&chunk, &key));
	check_same_bytes(&key, records, count, &bytes);
	for (int i = 0; i < 4; i++)
		check_columns(&chunk, records, count);
	bytes.data[8 + draw() % (bytes.size - 8)] ^= 1 << draw() % 8;
	assert_int_not_equal(store_chunk_decode(&chunk, STORE_ALL, &(struct store_batch){0}, NULL), 0);
	mutate(&bytes);
	store_bytes_fini(&bytes);
	if (is_last)
		store_chunk_coder_fini(&coder);
}

static void test_chunk(void **unused)
{
	uint64_t end, first = seed_rounds(__func__, CHUNK_ROUNDS, &end);

	(void)unused;
	for (uint64_t seed = first; seed < end; seed++) {
		if (seed % 100 == 0)
			print_message("chunk seeds up to %" PRIu64 "\n", seed);
		one_chunk_round(seed, seed + 1 == end);
	}
}

static void set_codec(struct store_bytes *bytes, uint8_t codec)
{
	uint64_t checksum;

	bytes->data[offsetof(struct store_chunk_header, codec)] = codec;
	checksum = store_hash64(bytes->data + sizeof checksum, bytes->size - sizeof checksum, 0);
	memcpy(bytes->data, &checksum, sizeof checksum);
}

static int decode(const struct store_bytes *bytes)
{
	struct store_chunk chunk;
	struct store_batch batch;
	int rc;

	store_batch_init(&batch);
	assert_true(store_chunk_peek(&chunk, (struct store_slice){bytes->data, bytes->size}));
	rc = store_chunk_decode(&chunk, STORE_ALL, &batch, NULL);
	store_batch_fini(&batch);
	return rc;
}

/* Ids that follow each other take little, and weights around one that some fall short of; codec 1 knows
 * neither, but reads what it knew. */
static void test_young(void **unused)
{
	static struct store_record records[2048];
	static struct store_chunk_coder coder;
	const struct store_key_chunk key = {.track = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};
	struct store_bytes bytes = {0};

	(void)unused;
	chance = 1;
	for (int is_young = 0; is_young < 2; is_young++) {
		uint32_t most = 0;

		for (unsigned i = 0; i < 2048; i++)
			records[i] = (struct store_record){.begin_ns = i * 1000,
				.end_ns = i * 1000,
				.amount = is_young ? 1000000 - draw() % 4 * (i % 16 == 0) * 100000 : 7,
				.context = is_young ? most += 1 + draw() % 4 : (uint32_t)draw() % 1000};
		bytes.size = 0;
		store_chunk_encode(&coder, &key, records, 2048, &bytes);
		assert_int_equal(decode(&bytes), 0);
		assert_true(bytes.size < (is_young ? 2048u : 4096u));
		set_codec(&bytes, 1);
		assert_int_equal(decode(&bytes), is_young ? -ERROR_RUN : 0);
		set_codec(&bytes, STORE_CHUNK_CODEC + 1);
		assert_int_equal(decode(&bytes), -ERROR_RUN);
	}
	store_bytes_fini(&bytes);
	store_chunk_coder_fini(&coder);
}

/* As on a machine without wide vectors. */
static void test_plain(void **unused)
{
	store_is_plain = true;
	test_codec(unused);
	test_chunk(unused);
	store_is_plain = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codec),
		cmocka_unit_test(test_varint),
		cmocka_unit_test(test_varint_lengths),
		cmocka_unit_test(test_chunk),
		cmocka_unit_test(test_young),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
