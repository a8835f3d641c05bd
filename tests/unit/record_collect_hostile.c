/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_collect_hostile.c - the collector against processes that send it memory it must not believe: not
 * sealed, cut short, headers and descriptors that are none, rings and records full of nonsense. It lives on
 * and serves others.
 */
#include "tests/unit/record_collect_world.h"
#include "tests/unit/seed.h"

static void agent_unsealed(struct fixture *f)
{
	struct fake fake;

	fake_map(&fake, MEMORY_BYTES, 0);
	fake.shared->magic = EVENT_MAGIC;
	fake.shared->version = EVENT_VERSION;
	fake_send(&fake, f->rendezvous.socket, 2);
	must(!ftruncate(fake.memory, 0));
}

static void agent_bad_headers(struct fixture *f)
{
	for (int i = 0; i < 8; i++) {
		struct fake fake;

		fake_open(&fake, 0);
		atomic_store(&fake.shared->ring_claimed, UINT32_MAX);
		switch (i) {
		case 0:
			fake.shared->magic++;
			break;
		case 1:
			fake.shared->version++;
			break;
		case 2:
			fake.shared->ring_count = UINT32_MAX;
			break;
		case 3:
			fake.shared->rings_at = UINT64_MAX - 4095;
			break;
		case 4:
			fake.shared->rings_at = 0;
			break;
		case 5:
			fake.shared->rings_at += 8;
			break;
		case 6:
			fake.shared->memory_bytes = UINT64_MAX;
			break;
		default:
			memset(fake.shared->command, 0xff, sizeof(fake.shared->command));
			break;
		}
		fake_send(&fake, f->rendezvous.socket, 2);
		munmap(fake.shared, MEMORY_BYTES);
		close(fake.memory);
	}
}

static void agent_bad_descriptors(struct fixture *f)
{
	struct fake fake = {.memory = open("/dev/null", O_RDWR)};

	fake_send(&fake, f->rendezvous.socket, 0);
	fake_send(&fake, f->rendezvous.socket, 1);
	fake_send(&fake, f->rendezvous.socket, 2);
	fake_map(&fake, 4096, F_SEAL_SHRINK);
	fake_send(&fake, f->rendezvous.socket, 2);
}

/* Memory of huge pages that nobody has: who reads it is killed. */
static void agent_of_huge_pages(struct fixture *f)
{
	struct fake fake = {.memory = (int)syscall(
				    SYS_memfd_create, "test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB)};

	if (fake.memory < 0) /* there are none here */
		return;
	must(!ftruncate(fake.memory, (off_t)1 << 30));
	must(!fcntl(fake.memory, F_ADD_SEALS, F_SEAL_SHRINK));
	fake_send(&fake, f->rendezvous.socket, 2);
}

static void test_strange_memories_are_refused(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;

	start(f);
	run_agent(f, agent_unsealed);
	run_agent(f, agent_bad_headers);
	run_agent(f, agent_bad_descriptors);
	run_agent(f, agent_of_huge_pages);
	run_agent(f, agent_two_threads);
	finish(f);
	reader = store_of(f);
	assert_int_equal(store_reader_meta_number(reader, "samples", 0), 0 + SAMPLES + 3);
	store_reader_close(reader);
}

/* Rings without number: they cost who offers them nothing, and who reads them a stream each. */
static void agent_of_many_rings(struct fixture *f)
{
	const uint32_t most = EVENT_RINGS_MAX + 1;
	struct fake fake;

	fake_map(&fake, RINGS_AT + most * (size_t)EVENT_RING_STRIDE, F_SEAL_SHRINK);
	fake.shared->magic = EVENT_MAGIC;
	fake.shared->version = EVENT_VERSION;
	fake.shared->rings_at = RINGS_AT;
	fake.shared->ring_count = most;
	atomic_store(&fake.shared->ring_claimed, most);
	fake_send(&fake, f->rendezvous.socket, 2);
}

static void test_rings_are_numbered(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;

	start(f);
	run_agent(f, agent_of_many_rings);
	run_agent(f, agent_two_threads);
	finish(f);
	reader = store_of(f);
	assert_int_equal(store_reader_meta_number(reader, "processes_refused", 0), 1);
	store_reader_close(reader);
}

/* A position off its alignment at the very end of the memory: a header read there would lie half outside. */
static void agent_on_the_edge(struct fixture *f)
{
	struct fake fake;
	struct event_ring *ring;

	fake_open(&fake, 0);
	ring = fake_ring(&fake, RINGS - 1);
	atomic_store(&ring->tail, EVENT_RING_DATA - 1);
	atomic_store(&ring->head, EVENT_RING_DATA + 63);
	atomic_store(&ring->state, EVENT_RING_CLAIMED);
	atomic_store(&fake.shared->ring_claimed, RINGS);
	fake_send(&fake, f->rendezvous.socket, 2);
	usleep(300000);
}

/* A head as far from its tail as numbers go: what a ring holds is divided by, and decides when it is read. */
static void agent_far_ahead(struct fixture *f)
{
	struct fake fake;
	struct event_ring *ring;

	fake_open(&fake, 0);
	ring = fake_ring(&fake, 0);
	atomic_store(&ring->head, UINT64_MAX);
	atomic_store(&ring->state, EVENT_RING_CLAIMED);
	atomic_store(&fake.shared->ring_claimed, RINGS);
	fake_send(&fake, f->rendezvous.socket, 2);
	usleep(300000);
}

/* Nonsense in every place that the collector reads, changing while it does. */
static void agent_hostile(struct fixture *f)
{
	struct fake fake;
	uint64_t until_ns = now_ns() + 1500000000;

	fake_open(&fake, 0);
	srand((unsigned)seed_take(__func__, 20261122));
	for (uint32_t i = 0; i < 16; i++)
		for (size_t k = 0; k < sizeof(fake.modules[i]); k++)
			((uint8_t *)&fake.modules[i])[k] = (uint8_t)rand();
	module_add(&fake, 3, "/bin/true", 1);
	fake_send(&fake, f->rendezvous.socket, 2);
	atomic_store(&fake.shared->ring_claimed, UINT32_MAX);
	while (now_ns() < until_ns) {
		struct event_ring *ring = fake_ring(&fake, (uint32_t)rand() % RINGS);
		uint64_t *data = (uint64_t *)((char *)ring + EVENT_RING_HEADER);
		uint64_t head = (uint64_t)rand() % 3 ? ring->tail + ((uint64_t)rand() % 4096)
						     : (uint64_t)rand() << 33;

		for (size_t i = 0; i < 4096; i++) {
			struct event_header h = {.type = (uint8_t)(rand() % 16),
				.flags = (uint8_t)rand(),
				.words = (uint16_t)(rand() % 12),
				.node = 14 + (uint32_t)rand() % 8};
			uint64_t word;

			memcpy(&word, &h, sizeof(word));
			data[((uint64_t)rand() % EVENT_RING_DATA) / 8] =
				(uint64_t)rand() << 32 | (uint32_t)rand();
			data[(ring->tail / 8 + i % 64) % (EVENT_RING_DATA / 8)] = word;
		}
		ring->thread = (uint32_t)rand();
		ring->begin_ns = rand() % 2 ? UINT64_MAX : (uint64_t)rand();
		atomic_store(&ring->end_ns, (uint64_t)rand());
		memset(ring->name, 'x', sizeof(ring->name));
		if (rand() % 4 == 0)
			atomic_store(&ring->tail, UINT64_MAX - (uint64_t)rand() % 64);
		if (rand() % 4 == 0)
			head = ring->tail + 1 + (uint64_t)rand() % 7;
		atomic_store(&ring->head, head);
		atomic_store(&ring->state, (uint32_t)rand() % 5);
		usleep((unsigned)rand() % 2000);
	}
}

/* Each in a ring of its own, with a sample that must not count: what is no recursion ends the reading of its
 * ring. */
static void agent_of_strange_recursions(struct fixture *f)
{
	struct fake fake;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	for (uint32_t i = 0; i < 7; i++) {
		struct writing w = claim(&fake, i, i);
		struct event_nodes_record *nodes =
			put_nodes(&w, EVENT_NODE_FIRST, EVENT_NODE_PROGRAM_ROOT, 10);

		nodes->place_count = i == 1 ? 0 : i == 2 ? 3 : i == 3 ? EVENT_PLACES_MAX + 1 : 2;
		nodes->count = i == 4 ? EVENT_NODES_MAX + 1 : 10;
		nodes->parent = i == 5 ? EVENT_NODE_FIRST : EVENT_NODE_PROGRAM_ROOT;
		nodes->h.node += i == 6;
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5);
		publish(&w);
		thread_end(&w, 5);
	}
	process_ended(&fake);
}

static void test_strange_recursions_are_refused(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	uint32_t count;

	start(f);
	run_agent(f, agent_of_strange_recursions);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 7);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(streams[i].count[STORE_SAMPLES], streams[i].thread == 0);
	store_reader_close(reader);
}

static void test_hostile_memory_harms_nobody(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	pid_t hostile[3];
	uint32_t count, good = 0;

	start(f);
	run_agent(f, agent_on_the_edge);
	run_agent(f, agent_far_ahead);
	for (int i = 0; i < 3; i++)
		hostile[i] = agent_start(f, agent_hostile);
	run_agent(f, agent_two_threads);
	for (int i = 0; i < 3; i++)
		agent_await(hostile[i], 0);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	for (uint32_t i = 0; i < count; i++)
		good += streams[i].thread == 1 && streams[i].count[STORE_SAMPLES] == SAMPLES + 2;
	assert_int_equal(good, 1);
	store_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_strange_memories_are_refused),
		TEST(test_rings_are_numbered),
		TEST(test_strange_recursions_are_refused),
		TEST(test_hostile_memory_harms_nobody),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
