/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_lock_queue.c - chains and convoys of locks on random parts of waits, against twins that go nanosecond
 * by nanosecond.
 */
#include "tests/unit/blame_trace.h"

#include "blame/wait/lock_queue.h"
#include "tests/unit/seed.h"

#define ROUNDS 2000
#define STREAMS 5u
#define LOCKS 3u
#define LENGTH 120u
#define PARTS 128u

struct world {
	struct lock_part parts[PARTS];
	size_t count;
};

static uint64_t chance;

static uint32_t below(uint32_t limit)
{
	return limit ? (uint32_t)(seed_next(&chance) % limit) : 0;
}

/* Waits of each thread, one after the other, each cut into parts with holders of their own. */
static void world_random(struct world *world)
{
	world->count = 0;
	for (uint32_t s = 0; s < STREAMS; s++)
		for (uint64_t at = below(20); at + 2 < LENGTH && world->count + 4 < PARTS;) {
			uint64_t lock = 16 * (1 + below(LOCKS)), end_ns = at + 1 + below(25);

			end_ns = end_ns < LENGTH ? end_ns : LENGTH;
			while (at < end_ns) {
				uint64_t until_ns = at + 1 + below((uint32_t)(end_ns - at));
				uint32_t holder = below(STREAMS + 1);

				world->parts[world->count++] = (struct lock_part){.begin_ns = at,
					.end_ns = until_ns,
					.lock = lock,
					.waiter = s,
					.holder = holder == s || holder == STREAMS ? LOCK_HOLDER_UNKNOWN
										   : holder,
					.is_last = until_ns == end_ns && below(5)};
				at = until_ns;
				if (world->count + 4 >= PARTS)
					break;
			}
			at += below(12);
		}
}

/* Of the stream at that moment; NULL: it does not wait. */
static const struct lock_part *part_at(const struct world *world, uint32_t stream, uint64_t time_ns)
{
	for (size_t i = 0; i < world->count; i++)
		if (world->parts[i].waiter == stream && world->parts[i].begin_ns <= time_ns &&
			time_ns < world->parts[i].end_ns)
			return &world->parts[i];
	return NULL;
}

/* Who waits for whom, from the stream on; the number of waits. */
static uint32_t chain_at(
	const struct world *world, uint32_t stream, uint64_t time_ns, uint32_t streams[LOCK_CHAIN_MOST + 1])
{
	uint32_t length = 0;
	const struct lock_part *part;

	memset(streams, 0, (LOCK_CHAIN_MOST + 1) * sizeof *streams);
	streams[0] = stream;
	while (length < LOCK_CHAIN_MOST && (part = part_at(world, streams[length], time_ns)) &&
		part->holder != LOCK_HOLDER_UNKNOWN)
		streams[++length] = part->holder;
	return length;
}

static void check_chains(const struct world *world, const struct lock_queue *queue)
{
	uint64_t left_ns[PARTS * 8];

	assert_true(queue->chain_count < PARTS * 8);
	for (size_t i = 0; i < queue->chain_count; i++)
		left_ns[i] = queue->chains[i].time_ns;
	for (uint32_t s = 0; s < STREAMS; s++)
		for (uint64_t t = 0; t < LENGTH; t++) {
			uint32_t streams[LOCK_CHAIN_MOST + 1], length = chain_at(world, s, t, streams);
			size_t at = 0;

			if (length < 2)
				continue;
			while (at < queue->chain_count &&
				(queue->chains[at].length != length ||
					memcmp(queue->chains[at].streams, streams, sizeof streams) != 0))
				at++;
			assert_true(at < queue->chain_count && left_ns[at]);
			left_ns[at]--;
		}
	for (size_t i = 0; i < queue->chain_count; i++) {
		assert_int_equal(left_ns[i], 0);
		assert_true(!i || queue->chains[i - 1].time_ns >= queue->chains[i].time_ns);
	}
}

static uint32_t waiters_at(const struct world *world, uint64_t lock, uint64_t time_ns)
{
	uint32_t count = 0;

	for (size_t i = 0; i < world->count; i++)
		count += world->parts[i].lock == lock && world->parts[i].begin_ns <= time_ns &&
			 time_ns < world->parts[i].end_ns;
	return count;
}

static void stretch_add(
	const struct world *world, struct lock_convoy *convoy, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t waited_ns = 0, waits = 0;
	uint32_t most = 0;

	for (uint64_t t = begin_ns; t < end_ns; t++) {
		uint32_t now = waiters_at(world, convoy->lock, t);

		waited_ns += now;
		most = now > most ? now : most;
	}
	for (size_t i = 0; i < world->count; i++)
		waits += world->parts[i].lock == convoy->lock && world->parts[i].is_last &&
			 world->parts[i].end_ns > begin_ns && world->parts[i].end_ns <= end_ns;
	if (waits < LOCK_CONVOY_WAITS || most < 2)
		return;
	convoy->convoys++;
	convoy->waits += waits;
	convoy->waited_ns += waited_ns;
	convoy->length_ns += end_ns - begin_ns;
	convoy->longest_ns = end_ns - begin_ns > convoy->longest_ns ? end_ns - begin_ns : convoy->longest_ns;
	convoy->most = most > convoy->most ? most : convoy->most;
}

static void check_convoys(const struct world *world, const struct lock_queue *queue)
{
	size_t told = 0;

	for (uint64_t lock = 16; lock <= 16 * LOCKS; lock += 16) {
		struct lock_convoy twin = {.lock = lock};
		uint64_t begin_ns = 0;
		size_t at = 0;

		for (uint64_t t = 0; t <= LENGTH; t++) {
			if (waiters_at(world, lock, t))
				continue;
			if (t > begin_ns)
				stretch_add(world, &twin, begin_ns, t);
			begin_ns = t + 1;
		}
		while (at < queue->convoy_count && queue->convoys[at].lock != lock)
			at++;
		assert_int_equal(at<queue->convoy_count, twin.convoys> 0);
		if (!twin.convoys)
			continue;
		told++;
		assert_int_equal(queue->convoys[at].convoys, twin.convoys);
		assert_int_equal(queue->convoys[at].waits, twin.waits);
		assert_int_equal(queue->convoys[at].waited_ns, twin.waited_ns);
		assert_int_equal(queue->convoys[at].length_ns, twin.length_ns);
		assert_int_equal(queue->convoys[at].longest_ns, twin.longest_ns);
		assert_int_equal(queue->convoys[at].most, twin.most);
	}
	assert_int_equal(told, queue->convoy_count);
}

static void test_twins(void **unused)
{
	uint64_t convoys = 0, chains = 0;

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		struct arena arena = {0};
		struct error error = {0};
		struct lock_queue queue;
		struct world world, sorted;

		world_random(&world);
		sorted = world;
		assert_int_equal(lock_queue_find(&queue, sorted.parts, sorted.count, &arena, &error), 0);
		check_chains(&world, &queue);
		check_convoys(&world, &queue);
		convoys += queue.convoy_count;
		chains += queue.chain_count;
		arena_fini(&arena);
	}
	assert_true(convoys > ROUNDS / 4 && chains > ROUNDS); /* the worlds have what is tested */
}

/* Two that wait for each other, as in a deadlock: the chain ends at its greatest length. */
static void test_circle(void **unused)
{
	struct lock_part parts[2] = {{.end_ns = 10, .lock = 16, .waiter = 0, .holder = 1},
		{.end_ns = 10, .lock = 32, .waiter = 1, .holder = 0}};
	struct arena arena = {0};
	struct error error = {0};
	struct lock_queue queue;

	(void)unused;
	assert_int_equal(lock_queue_find(&queue, parts, 2, &arena, &error), 0);
	assert_int_equal(queue.chain_count, 2);
	assert_int_equal(queue.chains[0].length, LOCK_CHAIN_MOST);
	assert_int_equal(queue.chains[0].time_ns, 10);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_circle),
	};

	chance = seed_take("blame_lock_queue", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
