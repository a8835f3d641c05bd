/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_wait_paths.c - which path a blocked span gets: a wrapper's before one from outside, and that only if
 * it was found while the span lasted. What is found by halves a plain look finds, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/write/writer.h"

static void span_append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count);

#define store_writer_append span_append
#include "record/kernel/wait_paths.c" /* NOLINT(bugprone-suspicious-include): its bounds, and what it appends */
#include "tests/unit/seed.h"

enum { OUTSIDE = 7, WRAPPER = 8 };

static struct store_record appended;

static void span_append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count)
{
	(void)writer;
	(void)stream;
	assert_int_equal(track, STORE_SPANS);
	assert_int_equal(count, 1);
	appended = *records;
}

static void test_a_look_counts_for_what_lasted(void **state)
{
	struct wait_paths waits = {0};

	(void)state;
	wait_paths_remote_put(&waits, 100, 150, OUTSIDE);
	assert_int_equal(wait_paths_context(&waits, 100, STORE_OPEN_NS), OUTSIDE);
	assert_int_equal(wait_paths_context(&waits, 100, 150), OUTSIDE);
	/* It woke up before, and slept elsewhere as it was looked at. */
	assert_int_equal(wait_paths_context(&waits, 100, 149), STORE_CONTEXT_NONE);
	assert_int_equal(wait_paths_context(&waits, 120, 200), STORE_CONTEXT_NONE);
	assert_int_equal(wait_paths_context(&waits, 90, 200), STORE_CONTEXT_NONE);
	wait_paths_fini(&waits);
}

static void test_a_wrapper_knows_better(void **state)
{
	struct wait_paths waits = {0};

	(void)state;
	wait_paths_remote_put(&waits, 100, 150, OUTSIDE);
	wait_paths_add(&waits, 90, 210, WRAPPER);
	assert_int_equal(wait_paths_context(&waits, 100, 200), WRAPPER);
	wait_paths_fini(&waits);
}

/* All that the thread does is part of the call that it was found in. */
static void test_a_wait_under_way(void **state)
{
	struct wait_paths waits = {0};

	(void)state;
	wait_paths_look(&waits, 100);
	wait_paths_remote_put(&waits, 100, 150, OUTSIDE);
	assert_int_equal(wait_paths_context(&waits, 110, 120), OUTSIDE);
	wait_paths_look(&waits, 0);
	assert_int_equal(wait_paths_context(&waits, 110, 120), STORE_CONTEXT_NONE);
	wait_paths_fini(&waits);
}

/* ---- beside a plain look ---- */

#define WAITS 40
#define TIMES 60 /* few: ends and begins fall together */
#define ROUNDS 3000

/* Waits in the order of their ends, contexts counting from 1. */
static void waits_draw(struct wait_paths *waits, uint64_t *seed)
{
	uint64_t end_ns = 1 + seed_next(seed) % 4;

	for (uint32_t i = seed_next(seed) % WAITS; i > 0 && end_ns < TIMES; i--) {
		uint64_t least = seed_next(seed) % 3 ? end_ns - (end_ns > 5 ? 5 : end_ns) : 0;

		wait_paths_add(
			waits, least + seed_next(seed) % (end_ns - least), end_ns, waits->known_count + 1);
		end_ns += seed_next(seed) % 4;
	}
}

/* The first of the next few that end after it and began before. */
static uint32_t context_plain(const struct wait_known *known, uint32_t count, uint64_t time_ns)
{
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (known[i].end_ns <= time_ns)
			continue;
		if (ahead++ == NESTED_MAX)
			break;
		if (known[i].begin_ns <= time_ns)
			return known[i].context;
	}
	return STORE_CONTEXT_NONE;
}

static void test_waits_are_found(void **state)
{
	uint64_t seed = seed_take("waits", 20);

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct wait_paths waits = {0};
		struct wait_known all[WAITS];
		uint64_t settled_ns = seed_next(&seed) % TIMES;
		uint32_t count;

		waits_draw(&waits, &seed);
		count = waits.known_count;
		for (uint32_t i = 0; i < count; i++)
			all[i] = waits.known[i];
		for (uint64_t at = 0; at < TIMES + 5; at++)
			assert_int_equal(
				wait_paths_context(&waits, at, at + 1), context_plain(all, count, at));
		wait_paths_settle(&waits, NULL, 0, settled_ns);
		for (uint32_t i = 0; i < waits.known_count; i++)
			assert_true(waits.known[i].end_ns > settled_ns);
		for (uint64_t at = settled_ns; at < TIMES + 5; at++)
			assert_int_equal(
				wait_paths_context(&waits, at, at + 1), context_plain(all, count, at));
		wait_paths_fini(&waits);
	}
}

/* The first that comes at its end or after, if that is soon and no other's. */
static uint32_t return_plain(const struct wait_paths *waits, uint64_t end_ns, uint64_t until_ns)
{
	for (uint32_t i = 0; i < waits->return_count; i++) {
		const struct wait_return *at = &waits->returns[i];

		if (at->time_ns >= end_ns)
			return at->time_ns < until_ns && at->time_ns < end_ns + RETURN_NS
				       ? at->context
				       : STORE_CONTEXT_NONE;
	}
	return STORE_CONTEXT_NONE;
}

static void test_returns_are_found(void **state)
{
	uint64_t seed = seed_take("returns", 21), step_ns = RETURN_NS / 4;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct wait_paths waits = {0};
		uint64_t time_ns = seed_next(&seed) % 3 * step_ns;

		for (uint32_t i = seed_next(&seed) % WAITS; i > 0; i--) {
			wait_paths_return(&waits, time_ns, waits.return_count + 1);
			time_ns += seed_next(&seed) % 8 * step_ns;
		}
		for (uint64_t end_ns = 0; end_ns < time_ns + RETURN_NS; end_ns += step_ns) {
			const struct store_record span = {.end_ns = end_ns, .what = STORE_OP_BLOCKED};
			uint64_t until_ns = end_ns + seed_next(&seed) % 8 * step_ns;

			wait_paths_put(&waits, NULL, 0, &span, false, NULL, until_ns);
			assert_int_equal(appended.context, return_plain(&waits, end_ns, until_ns));
		}
		wait_paths_fini(&waits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_look_counts_for_what_lasted),
		cmocka_unit_test(test_a_wrapper_knows_better),
		cmocka_unit_test(test_a_wait_under_way),
		cmocka_unit_test(test_waits_are_found),
		cmocka_unit_test(test_returns_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
