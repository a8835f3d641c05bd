/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_collect.c - the collector against a test that plays hpct-record and the agent
 * (record_collect_world.h): memory, handshake, rings with scripted records, deaths, ranks, a full disk. What
 * the store holds is read back.
 */
#include "tests/unit/record_collect_world.h"
#include "tests/unit/seed.h"

static void test_two_threads_arrive(void **state)
{
	static struct store_record records[SAMPLES + 16];
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	const struct store_context *contexts;
	const struct store_module *modules;
	struct store_record span;
	uint64_t sum = 0;
	uint32_t count;
	size_t size;

	start(f);
	run_agent(f, agent_two_threads);
	finish(f);
	reader = store_of(f);
	assert_string_equal(store_reader_meta(reader, "command"), "prog 'an argument'");
	assert_string_equal(store_reader_meta(reader, "exit"), "0");
	assert_string_equal(store_reader_meta(reader, "state"), "complete");
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 2);
	assert_int_equal(streams[0].thread, 0);
	assert_int_equal(streams[1].thread, 1);
	assert_int_equal(streams[1].tid, streams[1].pid + 1);
	assert_string_equal(store_reader_text(reader, streams[0].name, NULL), "fake");
	assert_string_equal(store_reader_text(reader, streams[1].name, NULL), "new,na=me\x1b");
	assert_int_equal(streams[1].lost, 3);
	assert_int_equal(streams[1].partial, 1);
	assert_true(streams[1].end_ns != STORE_OPEN_NS);
	assert_true(streams[1].complete_ns[STORE_SAMPLES] >= streams[1].end_ns);
	size = records_of(reader, 1, STORE_SAMPLES, records, SAMPLES + 16);
	assert_int_equal(size, SAMPLES + 2);
	for (size_t i = 0; i < size; i++)
		sum += records[i].amount;
	assert_int_equal(sum, 7 + 10 * SAMPLES);
	assert_int_equal(records[0].flags & STORE_RECORD_EXTENT, 0);
	assert_int_equal(records[1].flags & STORE_RECORD_EXTENT, STORE_RECORD_EXTENT);
	contexts = store_reader_contexts(reader, &count);
	modules = store_reader_modules(reader, &count);
	assert_int_equal(contexts[records[1].context].offset, 0x200);
	assert_string_equal(
		store_reader_text(reader, modules[contexts[records[1].context].module].path, NULL),
		"/lib/li\nb=,.so");
	assert_int_equal(contexts[contexts[records[1].context].parent].offset, STORE_FRAME_PARTIAL);
	assert_int_equal(contexts[contexts[records[1].context].parent].parent, STORE_CONTEXT_THREAD_ROOT);
	span = span_of(reader, 1, STORE_OP_LOST);
	assert_int_equal(span.amount, 3);
	assert_string_equal(store_reader_text(reader, span.attributes, NULL), "samples=1,spans=2");
	span = span_of(reader, 1, STORE_OP_MONITORED);
	assert_true(attributes_have(reader, span.attributes, "name=new\\,na\\=me\\x1b"));
	assert_true(attributes_have(reader, span.attributes, "command=prog 'an argument'"));
	assert_true(attributes_have(reader, span.attributes, "metric=CPUTIME"));
	assert_true(attributes_have(reader, span.attributes, "period_ns=5000000"));
	assert_true(attributes_have(reader, span.attributes, "cpu_begin_ns=1000"));
	assert_true(attributes_have(reader, span.attributes, "cpu_end_ns=13345"));
	store_reader_close(reader);
}

#define LEVELS 100001 /* of a recursion; odd: the last round is not a whole one */

static void agent_recursive(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	module_add(&fake, 0, "/lib/a.so", 1);
	module_add(&fake, 1, "/lib/b.so", 2);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	put_nodes(&w, EVENT_NODE_FIRST, EVENT_NODE_PROGRAM_ROOT, LEVELS);
	put_node(&w, EVENT_NODE_FIRST + LEVELS, EVENT_NODE_FIRST + LEVELS - 1, 0, 0x30);
	put_sample(&w, EVENT_NODE_FIRST + LEVELS, 5);
	publish(&w);
	thread_end(&w, 5);
	process_ended(&fake);
}

static void test_a_recursion_comes_as_one_record(void **state)
{
	static struct store_record records[4];
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_context *contexts;
	uint32_t count, context;

	start(f);
	run_agent(f, agent_recursive);
	finish(f);
	reader = store_of(f);
	assert_int_equal(records_of(reader, 0, STORE_SAMPLES, records, 4), 1);
	contexts = store_reader_contexts(reader, &count);
	context = records[0].context;
	assert_int_equal(contexts[context].offset, 0x30);
	for (uint32_t level = LEVELS; level-- > 0;) {
		context = contexts[context].parent;
		assert_int_equal(contexts[context].offset, level % 2 ? 0x20 : 0x10);
		assert_int_equal(
			contexts[context].module == contexts[records[0].context].module, level % 2 == 0);
	}
	assert_int_equal(contexts[context].parent, STORE_CONTEXT_PROGRAM_ROOT);
	store_reader_close(reader);
}

static void agent_killed(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	for (int i = 0; i < 1000; i++)
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5);
	publish(&w);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5); /* never published */
	kill(getpid(), SIGKILL);
}

static void test_a_killed_process_loses_nothing(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *stream;
	uint32_t count;

	start(f);
	agent_await(agent_start(f, agent_killed), SIGKILL);
	finish(f);
	reader = store_of(f);
	stream = store_reader_streams(reader, &count);
	assert_int_equal(count, 1);
	assert_int_equal(stream->count[STORE_SAMPLES], 1000);
	assert_true(stream->end_ns != STORE_OPEN_NS);
	span_of(reader, 0, STORE_OP_MONITORED);
	store_reader_close(reader);
}

#define SAVED 700 /* ns: a thread lives for longer */

static void agent_rests(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 5);
	atomic_store(&w.ring->signals, 1);
	publish(&w);
	drained(&w);
	atomic_store(&w.ring->overruns, 9);
	atomic_store(&w.ring->saved_ns, SAVED | EVENT_UNPUBLISHED);
	kill(getpid(), SIGKILL);
}

static void test_a_killed_thread_that_rests_keeps_its_weight(void **state)
{
	static struct store_record records[4];
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_context *contexts;
	uint32_t count;

	start(f);
	agent_await(agent_start(f, agent_rests), SIGKILL);
	finish(f);
	reader = store_of(f);
	assert_int_equal(records_of(reader, 0, STORE_SAMPLES, records, 4), 2);
	assert_int_equal(records[0].amount, 5);
	assert_int_equal(records[1].amount, SAVED);
	contexts = store_reader_contexts(reader, &count);
	assert_int_equal(contexts[records[1].context].offset, STORE_FRAME_PARTIAL);
	assert_int_equal(contexts[records[1].context].parent, STORE_CONTEXT_PROGRAM_ROOT);
	assert_int_equal(store_reader_meta_number(reader, "signals", 0), 1);
	assert_int_equal(store_reader_meta_number(reader, "overruns", 0), 9);
	store_reader_close(reader);
}

static void agent_reuses(struct fixture *f)
{
	struct fake fake;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	for (uint32_t i = 0; i < 40; i++) {
		struct writing w = claim(&fake, i % 2, i);

		put_sample(&w, EVENT_NODE_THREAD_ROOT, 0);
		put_node(&w, 16, EVENT_NODE_THREAD_ROOT, EVENT_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
		for (uint32_t k = 0; k <= 200 * i; k++)
			put_sample(&w, 16, 1);
		publish(&w);
		thread_end(&w, 1);
	}
}

static void test_rings_are_used_again(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	uint32_t count;

	start(f);
	run_agent(f, agent_reuses);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 40);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(streams[i].count[STORE_SAMPLES], 2 + 200 * streams[i].thread);
	store_reader_close(reader);
}

static void agent_execs(struct fixture *f)
{
	for (uint32_t generation = 0; generation < 3; generation++) {
		struct fake fake;
		struct writing w;

		fake_open(&fake, generation);
		fake_send(&fake, f->rendezvous.socket, 2);
		w = claim(&fake, 0, 0);
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
		publish(&w);
		process_ended(&fake);
	}
}

static void test_an_exec_is_the_next_generation(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	const struct store_stream *streams;
	uint32_t count;

	start(f);
	run_agent(f, agent_execs);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(streams[i].pid, streams[0].pid);
		assert_int_equal(streams[i].generation, i);
		assert_true(streams[i].end_ns != STORE_OPEN_NS);
	}
	store_reader_close(reader);
}

static void agent_child(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
	publish(&w);
	process_ended(&fake);
}

/* Two children: one registers, late and after its parent's death, the other never does. Their pids go out by
 * a pipe. */
static int pids[2];

static void agent_forks(struct fixture *f)
{
	struct fake fake;
	struct writing w;
	pid_t children[2];

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	put_sample(&w, EVENT_NODE_PROGRAM_ROOT, 1);
	publish(&w);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i]) {
			usleep(300000);
			if (!i)
				agent_child(f);
			_exit(0);
		}
		put_fork(&w, children[i], EVENT_FORK_CHILD);
	}
	must(write(pids[1], children, sizeof(children)) == sizeof(children));
	process_ended(&fake);
}

static struct store_reader *complete_store_of(struct fixture *f)
{
	for (int patience_ms = PATIENCE_MS; patience_ms > 0; patience_ms -= 10) {
		struct store_reader *reader = store_of(f);

		if (!strcmp(store_reader_meta(reader, "state"), "complete"))
			return reader;
		store_reader_close(reader);
		usleep(10000);
	}
	fail_msg("the run is not complete");
	return NULL;
}

static void test_a_child_that_never_registers_is_said(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;
	pid_t children[2];
	char end;

	assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
	start(f);
	run_agent(f, agent_forks);
	assert_int_equal(read(pids[0], children, sizeof(children)), sizeof(children));
	close(pids[1]);
	assert_int_equal(read(pids[0], &end, 1), 0); /* the grandchildren have ended, who are nobody's here */
	finish(f);
	reader = complete_store_of(f); /* one that is ending might have registered still */
	assert_false(has_unmonitored(reader, (uint32_t)children[0]));
	assert_true(has_unmonitored(reader, (uint32_t)children[1]));
	store_reader_close(reader);
	close(pids[0]);
}

static void test_ranks_share_a_collector(void **state)
{
	struct fixture *f = *state;
	struct rendezvous second;
	struct rendezvous_message word;
	struct error error = {0};
	struct store_reader *reader;
	uint32_t count;

	start(f);
	meet(f, &second);
	assert_true(second.listener < 0);
	assert_int_equal(rendezvous_connect(&second, &error), 0);
	run_agent(f, agent_child);
	end(&second, 0);
	run_agent(f, agent_child);
	finish(f);
	assert_true(word_await(&second, &word));
	rendezvous_leave(&second);
	reader = store_of(f);
	store_reader_streams(reader, &count);
	assert_int_equal(count, 2);
	store_reader_close(reader);
}

static void test_nothing_is_left_behind(void **state)
{
	struct fixture *f = *state;
	uint64_t deadline_ns;
	struct stat status;

	start(f);
	assert_int_equal(stat(f->rendezvous.place, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	run_agent(f, agent_child);
	finish(f);
	rendezvous_leave(&f->rendezvous);
	deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000);
	while (!access(f->rendezvous.place, F_OK) && now_ns() < deadline_ns)
		usleep(10000);
	assert_int_equal(access(f->rendezvous.place, F_OK), -1);
}

/* The collector has a session of its own, so it is found by what its store says. */
static void test_a_killed_collector_leaves_a_store(void **state)
{
	struct fixture *f = *state;
	struct rendezvous_message word;
	struct store_reader *reader;
	uint64_t deadline_ns = now_ns() + PATIENCE_MS * UINT64_C(1000000), samples = 0;
	pid_t pid;

	start(f);
	run_agent(f, agent_two_threads);
	do {
		reader = NULL;
		usleep(100000);
		assert_true(now_ns() < deadline_ns);
		reader = store_of(f);
		const struct store_stream *streams;
		uint32_t count;

		streams = store_reader_streams(reader, &count);
		samples = count == 2 ? streams[1].count[STORE_SAMPLES] : 0;
		pid = (pid_t)store_reader_meta_number(reader, "collector_pid", 0);
		store_reader_close(reader);
	} while (samples < SAMPLES);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_false(word_await(&f->rendezvous, &word));
	reader = store_of(f);
	assert_string_equal(store_reader_meta(reader, "state"), "recording");
	store_reader_close(reader);
}

static void agent_much(struct fixture *f)
{
	struct fake fake;
	struct writing w;

	fake_open(&fake, 0);
	fake_send(&fake, f->rendezvous.socket, 2);
	w = claim(&fake, 0, 0);
	srand((unsigned)seed_take(__func__, 3));
	for (int i = 0; i < 1000000; i++) {
		if (w.at - atomic_load(&w.ring->tail) > EVENT_RING_DATA / 2) {
			publish(&w);
			drained(&w); /* the program never meets a full ring, disk or not */
		}
		put_sample(&w, EVENT_NODE_PROGRAM_ROOT, (uint64_t)rand());
	}
	publish(&w);
	thread_end(&w, 1);
	process_ended(&fake);
}

static void test_a_full_disk_stops_the_recording_alone(void **state)
{
	struct fixture *f = *state;
	struct store_reader *reader;

	if (geteuid() || mount("none", f->run, "tmpfs", 0, "size=400k,mode=0700"))
		skip(); /* a small file system takes root */
	start(f);
	run_agent(f, agent_much);
	finish(f);
	if (!strstr(f->done.text, "full"))
		fail_msg("of a full disk it says: '%s'", f->done.text);
	reader = store_of(f);
	store_reader_close(reader);
	usleep(200000);
	assert_int_equal(umount2(f->run, MNT_DETACH), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two_threads_arrive),
		TEST(test_a_recursion_comes_as_one_record),
		TEST(test_a_killed_process_loses_nothing),
		TEST(test_a_killed_thread_that_rests_keeps_its_weight),
		TEST(test_rings_are_used_again),
		TEST(test_an_exec_is_the_next_generation),
		TEST(test_a_child_that_never_registers_is_said),
		TEST(test_ranks_share_a_collector),
		TEST(test_nothing_is_left_behind),
		TEST(test_a_killed_collector_leaves_a_store),
		TEST(test_a_full_disk_stops_the_recording_alone),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
