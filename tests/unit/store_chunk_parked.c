/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_chunk_parked.c - records put by come back as they were: whatever differs between them, in whatever
 * portions they were put; and pages go from parked to parked, and back to the system. Seeds are printed;
 * HPCT_SEED repeats one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "store/ingest/chunk_parked.h"
#include "tests/unit/seed.h"

#define ROUNDS 300
#define RECORDS_MAX 3000

static uint64_t state;

static uint64_t draw(void)
{
	return seed_next(&state);
}

/* In `bits` low bits it is not as the others of the round. */
static uint64_t vary(uint64_t base, unsigned bits)
{
	return bits ? base ^ draw() >> (64 - bits) : base;
}

/* Fields that are the same in all, that differ in few bits, in all bits. */
static void make(struct store_record *records, uint32_t count)
{
	const struct store_record base = {draw(), draw(), draw(), draw(), draw(), (uint32_t)draw(),
		(uint32_t)draw(), (uint32_t)draw(), (uint32_t)draw()};
	unsigned bits[9];

	for (unsigned i = 0; i < 9; i++)
		bits[i] = draw() % 3 ? (unsigned)(draw() % (i < 5 ? 65 : 33)) : 0;
	for (uint32_t i = 0; i < count; i++)
		records[i] = (struct store_record){.begin_ns = vary(base.begin_ns, bits[0]),
			.end_ns = vary(base.end_ns, bits[1]),
			.amount = vary(base.amount, bits[2]),
			.bytes = vary(base.bytes, bits[3]),
			.link = vary(base.link, bits[4]),
			.context = (uint32_t)vary(base.context, bits[5]),
			.what = (uint32_t)vary(base.what, bits[6]),
			.attributes = (uint32_t)vary(base.attributes, bits[7]),
			.flags = (uint32_t)vary(base.flags, bits[8])};
}

static void one_round(struct store_chunk_parked_pool *pool)
{
	static struct store_record records[RECORDS_MAX], got[RECORDS_MAX];
	const uint32_t count = 1 + (uint32_t)(draw() % RECORDS_MAX);
	const uint64_t portions = 1 + draw() % 1000;
	struct store_chunk_parked parked = {0};

	make(records, count);
	for (uint32_t at = 0; at < count;) {
		uint32_t part = 1 + (uint32_t)(draw() % portions);

		part = part < count - at ? part : count - at;
		assert_int_equal(store_chunk_parked_put(pool, &parked, records + at, part), part);
		at += part;
	}
	assert_int_equal(parked.count, count);
	memset(got, 0xee, sizeof got);
	store_chunk_parked_get(&parked, got);
	assert_memory_equal(got, records, count * sizeof *records);
	if (count < RECORDS_MAX) /* and nothing behind them */
		assert_int_equal(((const uint8_t *)&got[count])[0], 0xee);
	store_chunk_parked_clear(pool, &parked);
	assert_int_equal(parked.count, 0);
	assert_int_equal(store_chunk_parked_pool_bytes(pool), 0);
}

static void test_records_come_back(void **unused)
{
	struct store_chunk_parked_pool pool = {0};

	(void)unused;
	state = seed_take(__func__, 7919);
	for (unsigned round = 0; round < ROUNDS; round++)
		one_round(&pool);
	store_chunk_parked_pool_fini(&pool);
}

/* Samples of one metric, as a thread has them: a tenth of what they are outside. */
static void test_samples_take_little(void **unused)
{
	enum { COUNT = 4096 };
	static struct store_record records[COUNT];
	struct store_chunk_parked_pool pool = {0};
	struct store_chunk_parked parked = {0};

	(void)unused;
	for (uint32_t i = 0; i < COUNT; i++)
		records[i] = (struct store_record){.begin_ns = UINT64_C(1000000) * i,
			.end_ns = UINT64_C(1000000) * i,
			.amount = 1000000,
			.context = 3 + i * 7 % 500,
			.flags = STORE_RECORD_EXTENT};
	assert_int_equal(store_chunk_parked_put(&pool, &parked, records, COUNT), COUNT);
	assert_true(store_chunk_parked_pool_bytes(&pool) < sizeof records / 7);
	store_chunk_parked_clear(&pool, &parked);
	store_chunk_parked_pool_fini(&pool);
}

/* What was in use since the last time stays, for a while as busy; what was not goes. */
static void test_pages_are_given_back(void **unused)
{
	static struct store_record records[RECORDS_MAX];
	struct store_chunk_parked_pool pool = {0};
	struct store_chunk_parked parked = {0};
	size_t used;

	(void)unused;
	state = 1;
	make(records, RECORDS_MAX);
	store_chunk_parked_put(&pool, &parked, records, RECORDS_MAX);
	used = pool.used;
	assert_true(used > 0);
	store_chunk_parked_clear(&pool, &parked);
	store_chunk_parked_pool_settle(&pool);
	assert_int_equal(pool.free_count, used);
	store_chunk_parked_put(&pool, &parked, records, 1);
	assert_int_equal(pool.free_count, used - 1);
	store_chunk_parked_pool_settle(&pool);
	assert_int_equal(pool.free_count, 0);
	store_chunk_parked_clear(&pool, &parked);
	store_chunk_parked_pool_fini(&pool);
	assert_int_equal(pool.free_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_come_back),
		cmocka_unit_test(test_samples_take_little),
		cmocka_unit_test(test_pages_are_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
