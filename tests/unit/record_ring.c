/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_ring.c - the producer's end of a ring against a reader that trusts
 * nothing: order, wrapping, all or nothing, and the accounting of losses. With the collector's end in a
 * thread beside, for the thread sanitizer: it sees no races between processes.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/agent/base/ring.h"
#include "record/base/ring_records.h"
#include "tests/unit/seed.h"

#define SENT 200000u

struct fixture {
	struct event_ring *shared;
	struct ring ring;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->shared = aligned_alloc(4096, EVENT_RING_STRIDE);
	memset(f->shared, 0, EVENT_RING_STRIDE);
	ring_init(&f->ring, f->shared, EVENT_RING_DATA);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->shared);
	free(f);
	return 0;
}

/* The next record that is not padding, NULL: none is visible. */
static const struct event_header *next(struct event_ring *shared)
{
	const unsigned char *data = (const unsigned char *)shared + EVENT_RING_HEADER;

	while (shared->tail != shared->head) {
		const struct event_header *h = (const void *)(data + shared->tail % EVENT_RING_DATA);

		assert_true(shared->tail < shared->head);
		assert_int_not_equal(h->words, 0);
		assert_true(shared->tail % EVENT_RING_DATA + h->words * 8u <= EVENT_RING_DATA);
		shared->tail += h->words * 8u;
		if (h->type != EVENT_PAD)
			return h;
	}
	return NULL;
}

static bool publish(struct ring *ring, unsigned records, uint64_t bytes, uint32_t first)
{
	if (!ring_begin(ring, records * ((bytes + 7) / 8 * 8), bytes + 8, 100))
		return false;
	for (unsigned i = 0; i < records; i++) {
		unsigned char *place = ring_put(ring, EVENT_TEXT, 0, first + i, bytes);

		memset(place + sizeof(struct event_header), (int)(first + i),
			bytes - sizeof(struct event_header));
	}
	ring_commit(ring);
	return true;
}

static void test_records_arrive_whole_and_in_order(void **state)
{
	struct fixture *f = *state;
	uint32_t sent = 0, got = 0;

	srand((unsigned)seed_take(__func__, 20));
	while (sent < 200000) {
		unsigned records = 1 + (unsigned)rand() % 40;
		uint64_t bytes = 8 + (uint64_t)rand() % 200;

		if (publish(&f->ring, records, bytes, sent))
			sent += records;
		if (rand() % 3)
			continue;
		for (const struct event_header *h; (h = next(f->shared)); got++) {
			assert_int_equal(h->type, EVENT_TEXT);
			assert_int_equal(h->node, got);
			if (h->words > 1)
				assert_int_equal(((const unsigned char *)h)[8], (unsigned char)got);
		}
	}
	while (next(f->shared))
		got++;
	assert_int_equal(got, sent);
}

struct taker {
	struct event_ring *shared;
	uint32_t got;
	bool is_broken;
};

static bool take(void *context, const struct event_header *h)
{
	struct taker *taker = context;

	if (h->type != EVENT_TEXT)
		return h->type == EVENT_PAD;
	return h->node == taker->got++ && ((const unsigned char *)h)[8] == (unsigned char)h->node;
}

/* As the collector does. */
static void *take_all(void *context)
{
	struct taker *taker = context;
	struct event_ring *shared = taker->shared;

	while (taker->got < SENT && !taker->is_broken) {
		uint64_t head = atomic_load_explicit(&shared->head, memory_order_acquire);
		uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);

		if (head == tail)
			sched_yield();
		tail = ring_records_walk((const uint8_t *)shared + EVENT_RING_HEADER, EVENT_RING_DATA, tail,
			head, take, taker, &taker->is_broken);
		atomic_store_explicit(&shared->tail, tail, memory_order_release);
	}
	return NULL;
}

static void test_both_ends_at_once(void **state)
{
	struct fixture *f = *state;
	struct taker taker = {.shared = f->shared};
	pthread_t thread;
	uint32_t sent = 0;

	assert_int_equal(pthread_create(&thread, NULL, take_all, &taker), 0);
	while (sent < SENT) {
		unsigned records = SENT - sent < 8 ? SENT - sent : 8;

		/* A refused batch would leave a record: here it waits until there is room. */
		if (atomic_load(&f->shared->head) - atomic_load(&f->shared->tail) > EVENT_RING_DATA / 2)
			sched_yield();
		else if (publish(&f->ring, records, 16 + sent % 64, sent))
			sent += records;
	}
	pthread_join(thread, NULL);
	assert_int_equal(taker.got, SENT);
	assert_false(taker.is_broken);
}

static void test_nothing_is_seen_before_commit(void **state)
{
	struct fixture *f = *state;

	assert_true(ring_begin(&f->ring, 64, 32, 1));
	ring_put(&f->ring, EVENT_NODE, 0, 16, 24);
	ring_put(&f->ring, EVENT_SAMPLE, 0, 16, 32);
	assert_null(next(f->shared));
	ring_commit(&f->ring);
	assert_int_equal(next(f->shared)->type, EVENT_NODE);
	assert_int_equal(next(f->shared)->type, EVENT_SAMPLE);
	assert_null(next(f->shared));
}

static void test_full_ring_refuses_and_tells(void **state)
{
	struct fixture *f = *state;
	const struct event_lost *lost;
	unsigned taken = 0;

	while (publish(&f->ring, 1, 1000, 0))
		taken++;
	assert_true(taken > EVENT_RING_DATA / 1000 - 4);
	ring_lose(&f->ring, RING_LOST_FULL, 5000, 70);
	ring_lose(&f->ring, RING_LOST_FULL, 5000, 80);
	ring_lose(&f->ring, RING_LOST_MEMORY, 10000, 90);
	ring_lose_kind(&f->ring, RING_LOST_FULL, EVENT_LOST_SPAN, 0, 95);
	while (taken--)
		assert_int_equal(next(f->shared)->type, EVENT_TEXT);
	assert_null(next(f->shared));
	assert_true(publish(&f->ring, 1, 16, 7));
	lost = (const void *)next(f->shared);
	assert_int_equal(lost->h.type, EVENT_LOST);
	assert_int_equal(lost->begin_ns, 70);
	assert_int_equal(lost->end_ns, 100);
	assert_int_equal(lost->count, 4);
	assert_int_equal(lost->kinds[EVENT_LOST_SAMPLE], 3);
	assert_int_equal(lost->kinds[EVENT_LOST_SPAN], 1);
	assert_int_equal(lost->kinds[EVENT_LOST_LAUNCH] + lost->kinds[EVENT_LOST_BLOCK], 0);
	assert_int_equal(lost->weight, 20000);
	assert_int_equal(next(f->shared)->node, 7);
	assert_int_equal(f->shared->lost_full, 3);
	assert_int_equal(f->shared->lost_memory, 1);
	assert_int_equal(f->shared->lost_weight, 20000);
	assert_true(publish(&f->ring, 1, 16, 8));
	assert_int_equal(next(f->shared)->type, EVENT_TEXT);
}

/* What is lost while the ring is full is told only where that record has room too. */
static void test_the_loss_needs_room_itself(void **state)
{
	struct fixture *f = *state;
	uint64_t unread = 0;

	while (publish(&f->ring, 1, 16, 0))
		unread = f->shared->head - f->shared->tail;
	ring_lose(&f->ring, RING_LOST_FULL, 1, 1);
	assert_int_equal(next(f->shared)->type, EVENT_TEXT);
	assert_int_equal(next(f->shared)->type, EVENT_TEXT);
	assert_false(publish(&f->ring, 1, 16, 0));
	assert_true(unread <= EVENT_RING_DATA);
	for (unsigned taken = 2; !publish(&f->ring, 1, 16, 0); taken++) {
		assert_true(taken < 20);
		assert_non_null(next(f->shared));
		assert_true(f->shared->head - f->shared->tail <= EVENT_RING_DATA);
	}
	assert_true(f->shared->head - f->shared->tail <= EVENT_RING_DATA);
}

static void test_nested_publication_is_kept_out(void **state)
{
	struct fixture *f = *state;

	assert_true(ring_enter(&f->ring));
	assert_false(ring_enter(&f->ring));
	ring_lose(&f->ring, RING_LOST_REENTERED, 1, 1);
	ring_leave(&f->ring);
	assert_true(ring_enter(&f->ring));
	ring_leave(&f->ring);
	assert_int_equal(f->shared->lost_reentered, 1);
}

static void test_a_claim_goes_on_where_the_last_ended(void **state)
{
	struct fixture *f = *state;

	assert_true(publish(&f->ring, 3, 40, 0));
	while (next(f->shared))
		;
	ring_init(&f->ring, f->shared, EVENT_RING_DATA);
	assert_true(publish(&f->ring, 1, 40, 9));
	assert_int_equal(next(f->shared)->node, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records_arrive_whole_and_in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_both_ends_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_is_seen_before_commit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_ring_refuses_and_tells, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_loss_needs_room_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nested_publication_is_kept_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_claim_goes_on_where_the_last_ended, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
