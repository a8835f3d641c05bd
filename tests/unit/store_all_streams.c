/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_all_streams.c - pieces of lines that wait for the sums of all streams's buckets, against a table that
 * takes each piece by itself: many streams at once, in any order, so many that they go to buckets in several
 * parts, and that buckets become wider while they do. HPCT_SEED repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/states/all_streams_internal.h"
#include "tests/unit/chance.h"
#include "tests/unit/seed.h"

#define STREAMS 40u
#define CONTEXTS 700u
#define PIECES (3u * CROWD_WAIT_MANY + 1000u)
#define METRICS 2u
#define BEGIN_NS (UINT64_C(7) << 40)
#define STEP_MOST_NS 8000000u

static uint64_t draw_below(uint64_t limit)
{
	return draw() % limit;
}

static const uint32_t ops[METRICS] = {0, 5};

struct twin {
	struct state_piece *pieces;
	uint32_t count;
	struct {
		uint64_t samples, time_ns;
	} * sums; /* [bucket][context][metric] */
};

/* A stream goes on, is absent or not known for a while, and never goes back. */
static void make_pieces(struct twin *twin, uint32_t count)
{
	uint64_t now_ns[STREAMS];

	for (uint32_t s = 0; s < STREAMS; s++)
		now_ns[s] = BEGIN_NS + draw_below(UINT64_C(1) << 34);
	while (twin->count < count) {
		const uint32_t stream = (uint32_t)draw_below(STREAMS), run = (uint32_t)draw_below(200);

		for (uint32_t i = 0; i < run && twin->count < count; i++) {
			struct state_piece *piece = &twin->pieces[twin->count++];

			*piece = (struct state_piece){.begin_ns = now_ns[stream],
				.end_ns = now_ns[stream] + draw_below(STEP_MOST_NS),
				.context = (uint32_t)draw_below(CONTEXTS),
				.op = ops[draw_below(METRICS)],
				.state = draw_below(50) ? EXTENT_WORK : EXTENT_ABSENT,
				.is_record_begin = draw_below(3)};
			now_ns[stream] = piece->end_ns;
			now_ns[stream] += draw_below(100) ? 0 : draw_below(1u << 30);
		}
	}
}

static size_t sum_at(uint64_t bucket, const struct state_piece *piece)
{
	return (bucket * CONTEXTS + piece->context) * METRICS + (piece->op == ops[1]);
}

static void twin_add(
	struct twin *twin, const struct store_all_streams *all_streams, const struct state_piece *piece)
{
	uint64_t at_ns = piece->begin_ns, end_ns;

	if (piece->state == EXTENT_ABSENT || piece->begin_ns == piece->end_ns)
		return;
	for (; at_ns < piece->end_ns; at_ns = end_ns) {
		const uint64_t index = at_ns >> all_streams->shift;
		const size_t at = sum_at(index - all_streams->first, piece);

		assert_true(index >= all_streams->first && index - all_streams->first < all_streams->count);
		end_ns = (index + 1) << all_streams->shift;
		end_ns = end_ns < piece->end_ns ? end_ns : piece->end_ns;
		twin->sums[at].samples += at_ns == piece->begin_ns && piece->is_record_begin;
		twin->sums[at].time_ns += end_ns - at_ns;
	}
}

/* Takes what the buckets have from the twin's, of which nothing may be left. */
static void compare(struct twin *twin, const struct store_all_streams *all_streams)
{
	const size_t count = (size_t)all_streams->count * CONTEXTS * METRICS;
	uint64_t entries = 0;

	for (uint32_t b = 0; b < all_streams->count; b++) {
		const struct store_context_sums *sums = &all_streams->buckets[b].sums;

		for (uint32_t i = 0; i < sums->count; i++) {
			const struct store_sum *sum = &sums->entries[i];
			const struct state_piece piece = {.context = sum->context, .op = sum->metric >> 4};
			const size_t at = sum_at(b, &piece);

			assert_int_equal(sum->metric & 15, EXTENT_WORK);
			assert_int_equal(sum->samples, twin->sums[at].samples);
			assert_int_equal(sum->weight, twin->sums[at].time_ns);
			twin->sums[at].time_ns = twin->sums[at].samples = 0;
		}
		entries += sums->count;
	}
	assert_int_equal(entries, all_streams->entries);
	for (size_t i = 0; i < count; i++)
		assert_true(twin->sums[i].time_ns == 0 && twin->sums[i].samples == 0);
}

/* One by one, or, where there is no gap between them, several at once. */
static void add_some(struct store_all_streams *all_streams, const struct twin *twin, uint32_t *at)
{
	const struct state_piece *first = &twin->pieces[*at];
	const uint32_t most = (uint32_t)draw_below(40);
	struct all_streams_piece *to;
	uint32_t count = 0;

	while (*at + count < twin->count && count < most && first[count].state == EXTENT_WORK &&
		first[count].begin_ns < first[count].end_ns &&
		(!count || first[count].begin_ns == first[count - 1].end_ns))
		count++;
	to = count ? store_all_streams_open(all_streams, first->begin_ns, count) : NULL;
	for (uint32_t i = 0; i < count; i++)
		store_all_streams_piece(to++, first[i].begin_ns, first[i].context,
			store_state_rollup_metric(first[i].state, first[i].op), first[i].is_record_begin);
	if (count)
		store_all_streams_close(all_streams, to, first[count - 1].end_ns);
	else
		store_all_streams_add(all_streams, first);
	*at += count ? count : 1;
}

static void test_twin(void **unused)
{
	struct twin twin = {.pieces = calloc(PIECES, sizeof *twin.pieces),
		.sums = calloc((size_t)STORE_ALL_STREAMS_BUCKETS * CONTEXTS * METRICS, sizeof *twin.sums)};
	struct store_all_streams all_streams = {.is_bad = false};
	unsigned shift;
	uint64_t pieces = 0;

	(void)unused;
	assert_true(twin.pieces && twin.sums);
	make_pieces(&twin, PIECES);
	for (uint32_t i = 0; i < twin.count;)
		add_some(&all_streams, &twin, &i);
	assert_true(all_streams.has_begun && all_streams.wait.count);
	all_streams_wait_empty(&all_streams);
	assert_false(all_streams.is_bad);
	/* Wide enough for all the time, and wider since there was too much in them. */
	for (shift = 20; ((all_streams.first + all_streams.count - 1) << all_streams.shift >> shift) -
				 (BEGIN_NS >> shift) >=
			 STORE_ALL_STREAMS_BUCKETS;
		shift++)
		;
	assert_true(all_streams.shift > shift);
	for (uint32_t i = 0; i < twin.count; i++) {
		twin_add(&twin, &all_streams, &twin.pieces[i]);
		pieces += twin.pieces[i].state != EXTENT_ABSENT &&
			  twin.pieces[i].begin_ns < twin.pieces[i].end_ns;
	}
	assert_int_equal(pieces, all_streams.pieces);
	compare(&twin, &all_streams);
	store_all_streams_fini(&all_streams);
	free(twin.pieces);
	free(twin.sums);
}

/* While there are few streams, so many pieces are kept, and the next one makes it sleep; those behind that
 * one count still. */
static void test_few(void **unused)
{
	struct store_all_streams all_streams = {.is_few = true};
	struct state_piece piece = {.state = EXTENT_WORK, .end_ns = 10};
	struct all_streams_piece *to;

	(void)unused;
	for (uint32_t i = 0; i < CROWD_FEW_PIECES; i++) {
		store_all_streams_add(&all_streams, &piece);
		piece.begin_ns = piece.end_ns;
		piece.end_ns += 10;
	}
	assert_false(all_streams.is_asleep);
	store_all_streams_add(&all_streams, &piece);
	assert_true(all_streams.is_asleep);
	assert_true(store_all_streams_wake(&all_streams));
	assert_int_equal(all_streams.pieces, 0);
	all_streams = (struct store_all_streams){.is_few = true};
	to = store_all_streams_open(&all_streams, 0, CROWD_FEW_PIECES + 8);
	for (uint32_t i = 0; i < CROWD_FEW_PIECES + 8; i++)
		store_all_streams_piece(to++, i, 0, EXTENT_WORK, true);
	store_all_streams_close(&all_streams, to, CROWD_FEW_PIECES + 8);
	assert_true(all_streams.is_asleep);
	assert_int_equal(all_streams.pieces, 7);
	assert_null(store_all_streams_open(&all_streams, 0, 1));
	store_all_streams_fini(&all_streams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin),
		cmocka_unit_test(test_few),
	};

	chance = seed_take("store_all_streams", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
