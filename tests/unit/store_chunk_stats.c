/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_chunk_stats.c - records that are taken into a chunk many at once: those in bounds alone, all that are
 * when all are, and what is said of them is what a look at each one says; with vectors and without. HPCT_SEED
 * repeats one round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "store/base/avx2.h"
#include "store/chunk/chunk_stats.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"

#define ROUNDS 4000
#define RECORDS_MAX 70u

static bool fits(
	const struct store_record *record, uint64_t bucket_ns, const struct store_chunk_stats_bounds *bounds)
{
	return record->begin_ns - bucket_ns < bounds->width_ns &&
	       record->end_ns - record->begin_ns < bounds->longest_ns;
}

/* Mostly in order and in bounds; the first one begins in the bucket. */
static void make(struct store_record *records, unsigned count, uint64_t bucket_ns,
	const struct store_chunk_stats_bounds *bounds, unsigned odd)
{
	uint64_t step_ns = bounds->width_ns / RECORDS_MAX / (1 + draw() % 4);

	for (unsigned i = 0; i < count; i++) {
		struct store_record *to = &records[i];

		*to = (struct store_record){.begin_ns = bucket_ns + i * step_ns,
			.amount = draw() % 3,
			.bytes = draw() % 2 ? 0 : draw(),
			.link = i,
			.context = (uint32_t)(draw() % 3),
			.what = (uint32_t)(draw() % 2),
			.attributes = 7,
			.flags = (uint32_t)(draw() % 2)};
		if (odd && draw() % odd == 0)
			to->begin_ns = bucket_ns + draw() % bounds->width_ns;
		if (odd && i && draw() % odd == 0)
			to->begin_ns += bounds->width_ns;
		to->end_ns = to->begin_ns + draw() % bounds->longest_ns;
		if (odd && draw() % odd == 0)
			to->end_ns = to->begin_ns + bounds->longest_ns + draw() % 2;
		if (odd && draw() % (4 * odd) == 0)
			to->end_ns = draw() % 2 ? STORE_OPEN_NS : to->begin_ns - 1;
	}
}

/* What the survey is to be once all of these are in it. */
static void assert_survey(
	const struct store_chunk_stats *survey, const struct store_record *records, unsigned count)
{
	struct store_record differs = store_chunk_stats_differs(survey), all = {0}, any = {0}, any_high;
	uint64_t duration_differs = 0, end_ns = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct store_record *first = records, *record = &records[i];

		all.begin_ns |= record->begin_ns ^ first->begin_ns;
		all.amount |= record->amount ^ first->amount;
		all.bytes |= record->bytes ^ first->bytes;
		all.link |= record->link ^ first->link;
		all.context |= record->context ^ first->context;
		all.what |= record->what ^ first->what;
		all.attributes |= record->attributes ^ first->attributes;
		all.flags |= record->flags ^ first->flags;
		any.flags |= record->flags;
		duration_differs |= (record->end_ns - record->begin_ns) ^ (first->end_ns - first->begin_ns);
		end_ns = record->end_ns > end_ns ? record->end_ns : end_ns;
	}
	memcpy((uint8_t *)&any_high + STORE_CHUNK_STATS_HIGH, &survey->any_high, sizeof survey->any_high);
	differs.end_ns = 0;
	assert_memory_equal(&differs, &all, sizeof all);
	assert_int_equal(any_high.flags, any.flags);
	assert_int_equal(survey->duration_differs, duration_differs);
	assert_int_equal(survey->end_ns, end_ns);
}

static bool rise(const struct store_record *records, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		if (records[i].begin_ns <= records[i - 1].begin_ns)
			return false;
	return true;
}

static void one_round(uint64_t seed)
{
	struct store_record records[RECORDS_MAX], to[RECORDS_MAX];
	struct store_chunk_stats survey = {.end_ns = 0};
	struct store_chunk_stats_bounds bounds;
	unsigned shift, before, count, taken, fitting = 0;
	bool rises = true;
	uint64_t bucket_ns;

	chance = seed;
	shift = 10 + draw() % 40;
	bucket_ns = (1 + draw() % 100) << shift;
	bounds = (struct store_chunk_stats_bounds){
		(uint64_t)1 << shift, draw() % 2 ? (uint64_t)1 << shift : 1};
	count = 1 + draw() % RECORDS_MAX;
	make(records, count, bucket_ns, &bounds, draw() % 2 ? 0 : 2 + draw() % 60);
	for (before = 0; before < count - 1 && fits(&records[before], bucket_ns, &bounds) && draw() % 3;)
		before++;
	if (before)
		store_chunk_stats_add(&survey, records, records, before);
	while (before + fitting < count && fits(&records[before + fitting], bucket_ns, &bounds))
		fitting++;
	taken = store_chunk_stats_take(
		&survey, &bounds, records, records + before, count - before, to, &rises);
	assert_in_range(taken, 0, fitting);
	if (before + fitting == count)
		assert_int_equal(taken, fitting);
	assert_memory_equal(to, records + before, taken * sizeof *to);
	assert_survey(&survey, records, before + taken);
	assert_int_equal(rises, rise(records + before, taken));
}

static void test_take(void **state)
{
	uint64_t end, first = seed_rounds("store_chunk_stats", ROUNDS, &end);

	(void)state;
	for (uint64_t round = first; round < end; round++) {
		store_is_plain = true;
		one_round(round);
		store_is_plain = false;
		one_round(round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_take)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
