/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sum_columns.c - the line of a chunk, or its weights, read alone are what they are among all its sums:
 * of one context and many, of samples that own the line and some that do not, of two metrics; HPCT_SEED
 * repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "store/chunk/chunk.h"
#include "store/chunk/context_sums.h"
#include "store/chunk/sum_columns.h"
#include "store/read/reader.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"

#define ROUNDS 300
#define MOST 3000u

static struct store_record records[MOST];
static unsigned lines, others, weighed, several;

static unsigned draw_records(void)
{
	const unsigned count = 1 + (unsigned)(draw() % MOST), contexts = 1 + (unsigned)(draw() % 700);
	const unsigned odd = draw() % 3 ? 0 : 1 + (unsigned)(draw() % 2);
	uint64_t at_ns = draw() % 1000;

	for (unsigned i = 0; i < count; i++) {
		records[i] = (struct store_record){.begin_ns = at_ns,
			.end_ns = at_ns,
			.amount = draw() % 5000,
			.context = 1 + (uint32_t)(draw() % contexts),
			.what = odd == 1 && draw() % 50 == 0,
			.flags = odd == 2 && draw() % 50 == 0 ? 0 : STORE_RECORD_EXTENT};
		at_ns += 1 + draw() % 2000;
	}
	return count;
}

static void expect_same(const struct store_sum_columns *works, const struct store_context_sums *sums)
{
	assert_int_equal(works->line.first_ns, sums->line.first_ns);
	assert_int_equal(works->line.last_ns, sums->line.last_ns);
	assert_int_equal(works->line.gap_ns, sums->line.gap_ns);
	assert_int_equal(works->line.last_context, sums->line.last_context);
	assert_int_equal(works->count, sums->count);
	for (uint32_t i = 0; i < works->count; i++) {
		assert_int_equal(works->contexts[i], sums->entries[i].context);
		assert_int_equal(works->samples[i], sums->entries[i].samples);
		assert_int_equal(works->times_ns[i], sums->entries[i].time_ns);
	}
}

static bool is_of_one_metric(const struct store_context_sums *sums)
{
	for (uint32_t i = 1; i < sums->count; i++)
		if (sums->entries[i].metric != sums->entries[0].metric)
			return false;
	return true;
}

static void expect_weights(const struct store_chunk *chunk, struct store_batch *batch,
	const struct store_context_sums *sums, int rc)
{
	static struct store_sum_columns works;

	assert_int_equal(store_chunk_weights(chunk, batch, &works, NULL), rc && is_of_one_metric(sums));
	assert_int_equal(works.count, rc && is_of_one_metric(sums) ? sums->count : 0);
	for (uint32_t i = 0; i < works.count; i++) {
		assert_int_equal(works.metric, sums->entries[i].metric);
		assert_int_equal(works.contexts[i], sums->entries[i].context);
		assert_int_equal(works.samples[i], sums->entries[i].samples);
		assert_int_equal(works.weights[i], sums->entries[i].weight);
	}
	weighed += works.count > 0;
	several += rc && !works.count;
}

static void check(const struct store_chunk *chunk)
{
	static struct store_batch batch;
	static struct store_sum_columns works;
	static struct store_context_sums sums;
	int rc;

	store_context_sums_clear(&sums);
	rc = store_chunk_sums(chunk, &batch, &sums, NULL);
	assert_true(rc == 0 || rc == 1);
	expect_weights(chunk, &batch, &sums, rc);
	assert_int_equal(store_chunk_works(chunk, &batch, &works, NULL), rc && sums.line.is_plain);
	if (!rc || !sums.line.is_plain) {
		others++;
		return;
	}
	lines++;
	expect_same(&works, &sums);
}

static void test_works(void **unused)
{
	static struct store_chunk_coder coder;
	const struct store_key_chunk key = {.track = STORE_SAMPLES, .shift = STORE_SHIFT_MAX};
	struct store_bytes bytes = {0};

	(void)unused;
	chance = seed_take(__func__, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct store_chunk chunk;

		bytes.size = 0;
		store_chunk_encode(&coder, &key, records, draw_records(), &bytes);
		assert_false(bytes.failed);
		assert_true(store_chunk_peek(&chunk, (struct store_slice){bytes.data, bytes.size}));
		check(&chunk);
	}
	assert_true(lines > ROUNDS / 4 && others > ROUNDS / 8);
	assert_true(weighed > ROUNDS / 4 && several > ROUNDS / 20);
	store_bytes_fini(&bytes);
	store_chunk_coder_fini(&coder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_works)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
