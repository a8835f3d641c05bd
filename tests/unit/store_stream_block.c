/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_stream_block.c - streams to columns and back: of all kinds and sizes of numbers they are what they
 * were, those of a run of threads take a few bytes each; bytes that are cut or changed are refused or give
 * streams that fit their texts. HPCT_SEED repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>

#include "store/catalog/stream_block.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"

#define ROUNDS 400u
#define TEXTS 1000u
#define CHANGES 20000u

static struct store_stream streams[STORE_STREAM_DENSE], got[STORE_STREAM_DENSE];

/* Few bits or many, and now and then the largest. */
static uint64_t draw_number(void)
{
	return draw() % 16 ? draw() >> draw() % 64 : UINT64_MAX;
}

static void draw_stream(struct store_stream *stream)
{
	memset(stream, 0, sizeof *stream);
	stream->kind = draw() % 2 ? STORE_STREAM_GPU : STORE_STREAM_CPU;
	stream->host = (uint32_t)(draw() % TEXTS);
	stream->rank = (int32_t)draw_number();
	stream->pid = (uint32_t)draw_number();
	stream->generation = (uint32_t)draw_number();
	stream->thread = (uint32_t)draw_number();
	stream->device = (uint32_t)draw_number();
	stream->context = (uint32_t)draw_number();
	stream->queue = (uint32_t)draw_number();
	stream->tid = (uint32_t)draw_number();
	stream->name = (uint32_t)(draw() % TEXTS);
	stream->device_name = (uint32_t)(draw() % TEXTS);
	stream->begin_ns = draw_number();
	stream->end_ns = draw_number();
	stream->lost = draw_number();
	stream->partial = draw_number();
	stream->thinned_ns = draw() % 2 ? draw_number() : 0;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		stream->count[track] = draw_number();
		stream->complete_ns[track] = draw_number();
		stream->shifts[track] = draw_number();
		stream->dropped[track] = stream->thinned_ns ? stream->count[track] / 2 : 0;
	}
}

/* As threads of a program have them, one after the other. */
static void draw_thread(struct store_stream *stream, uint32_t i)
{
	*stream = (struct store_stream){.host = 1, .rank = -1, .pid = 4000, .thread = i};
	stream->tid = 4000 + i;
	stream->name = 5 + 2 * i % (TEXTS - 5);
	stream->begin_ns = UINT64_C(70000000000000) + i * UINT64_C(30000) + draw() % 4096;
	stream->end_ns = stream->begin_ns + UINT64_C(1000000000) + draw() % 65536;
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
		stream->complete_ns[track] = UINT64_MAX;
	stream->count[STORE_SAMPLES] = 200 + draw() % 16;
	stream->shifts[STORE_SAMPLES] = UINT64_C(1) << 30;
}

static void put(struct store_bytes *bytes, uint32_t count)
{
	bytes->size = 0;
	store_stream_block_put(bytes, streams, count);
	assert_false(bytes->failed);
}

static void expect_same(const struct store_bytes *bytes, uint32_t count)
{
	struct store_input input = {bytes->data, bytes->data + bytes->size, false};

	assert_int_equal(store_stream_block_count(input), count);
	assert_int_equal(store_stream_block_get(got, STORE_STREAM_DENSE, &input, TEXTS), count);
	assert_true(!input.bad && input.at == input.end);
	assert_memory_equal(got, streams, count * sizeof *got);
	if (count > 1) { /* there is no room for all */
		input = (struct store_input){bytes->data, bytes->data + bytes->size, false};
		store_stream_block_get(got, count - 1, &input, TEXTS);
		assert_true(input.bad);
	}
}

static void test_round_trip(void **unused)
{
	struct store_bytes bytes = {0};

	(void)unused;
	chance = seed_take(__func__, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint32_t count =
			round % 4 ? 1 + (uint32_t)(draw() % STORE_STREAM_DENSE) : STORE_STREAM_DENSE;

		print_message("seed %" PRIu64 "\n", chance);
		for (uint32_t i = 0; i < count; i++) {
			if (round % 3 == 0)
				draw_thread(&streams[i], i);
			else if (i && round % 3 == 1 && draw() % 4)
				streams[i] = streams[i - 1];
			else
				draw_stream(&streams[i]);
		}
		put(&bytes, count);
		expect_same(&bytes, count);
	}
	store_bytes_fini(&bytes);
}

static void test_size(void **unused)
{
	struct store_bytes bytes = {0};

	(void)unused;
	chance = 1;
	for (uint32_t i = 0; i < STORE_STREAM_DENSE; i++)
		draw_thread(&streams[i], i);
	put(&bytes, STORE_STREAM_DENSE);
	print_message("%zu bytes for %u threads\n", bytes.size, STORE_STREAM_DENSE);
	assert_true(bytes.size < STORE_STREAM_DENSE * 6);
	store_bytes_fini(&bytes);
}

static void expect_sound(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_true(got[i].host < TEXTS && got[i].name < TEXTS && got[i].device_name < TEXTS);
		assert_true(got[i].kind < STORE_STREAM_KINDS);
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			assert_true(got[i].dropped[track] <= (got[i].thinned_ns ? got[i].count[track] : 0));
	}
}

static void test_damage(void **unused)
{
	struct store_bytes bytes = {0};
	unsigned refused = 0;

	(void)unused;
	chance = 1;
	for (uint32_t i = 0; i < 40; i++)
		(i % 2 ? draw_stream(&streams[i]) : draw_thread(&streams[i], i));
	put(&bytes, 40);
	for (size_t size = 0; size < bytes.size; size++) {
		struct store_input input = {bytes.data, bytes.data + size, false};

		store_stream_block_get(got, STORE_STREAM_DENSE, &input, TEXTS);
		assert_true(input.bad);
	}
	for (unsigned i = 0; i < CHANGES; i++) {
		uint8_t *place = bytes.data + draw() % (draw() % 2 ? bytes.size : 64), was = *place;
		struct store_input input = {bytes.data, bytes.data + bytes.size, false};
		uint32_t count;

		*place = (uint8_t)draw();
		count = store_stream_block_get(got, STORE_STREAM_DENSE, &input, TEXTS);
		refused += input.bad;
		if (!input.bad)
			expect_sound(count);
		*place = was;
	}
	assert_true(refused > 0);
	store_bytes_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
