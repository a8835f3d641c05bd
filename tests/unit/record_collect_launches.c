/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_collect_launches.c - launches, calls, ranges that are open and closed, waits and samples of threads,
 * mixed, more of each than the collector hands on at once: all of them are in the run, once, as they were
 * sent and where.
 */
#include "tests/unit/record_collect_world.h"

#define ROUNDS 700u
#define STEP_NS 100u
#define PATHS 3u
#define THREADS 2u

/* What a round sends, after one another. */
static const uint32_t sent[] = {STORE_OP_LAUNCH, STORE_OP_IO, STORE_OP_LAUNCH, STORE_OP_RANGE,
	STORE_OP_LAUNCH, STORE_OP_BLOCKED, STORE_OP_LAUNCH};
#define SENT (sizeof(sent) / sizeof(*sent))

static void put_launch(struct writing *w, uint32_t node, uint64_t begin_ns, uint64_t correlation)
{
	struct event_launch *launch = put(w, EVENT_LAUNCH, 0, node, sizeof(*launch));

	launch->correlation = correlation;
	launch->begin_ns = begin_ns;
	launch->end_ns = begin_ns + STEP_NS / 2;
}

static void put_span(
	struct writing *w, enum event_type type, uint32_t node, uint32_t op, uint64_t begin_ns, uint64_t link)
{
	struct event_span *span = put(w, type, 0, node, sizeof(*span));

	span->begin_ns = begin_ns;
	span->end_ns = type == EVENT_OPEN ? 0 : begin_ns + STEP_NS / 2;
	span->link = link;
	span->operation = op;
}

static void put_one(struct writing *w, uint32_t number, uint64_t begin_ns)
{
	uint32_t op = sent[number % SENT], node = 16 + number % PATHS;

	if (op == STORE_OP_LAUNCH) {
		put_launch(w, node, begin_ns, 1 + number);
		return;
	}
	if (op == STORE_OP_RANGE) {
		put_span(w, EVENT_OPEN, node, op, begin_ns, EVENT_PROGRAM_SPAN + number);
		put_span(w, EVENT_CLOSE, node, op, begin_ns, EVENT_PROGRAM_SPAN + number);
		return;
	}
	put_span(w, EVENT_SPAN, node, op, begin_ns, 0);
}

/* Both threads send the same, the second one path later. */
static void thread_begin(struct fake *fake, struct writing *w, uint32_t thread, uint64_t begin_ns)
{
	*w = claim(fake, thread, thread);
	w->ring->begin_ns = begin_ns;
	put_sample(w, EVENT_NODE_PROGRAM_ROOT, 0);
	for (uint32_t path = 0; path < PATHS; path++)
		put_node(w, 16 + path, EVENT_NODE_PROGRAM_ROOT, 0, 0x100 + path + thread);
	publish(w);
}

static void agent(struct fixture *f)
{
	struct writing w[THREADS];
	struct fake fake;
	uint64_t begin_ns;

	fake_open(&fake, 0);
	module_add(&fake, 0, "", 1);
	fake_send(&fake, f->rendezvous.socket, 2);
	begin_ns = now_ns() - ROUNDS * SENT * STEP_NS;
	for (uint32_t thread = 0; thread < THREADS; thread++)
		thread_begin(&fake, &w[thread], thread, begin_ns);
	for (uint32_t i = 0; i < THREADS * ROUNDS * SENT; i++) {
		struct writing *to = &w[i % THREADS];
		uint32_t number = i / THREADS;

		if (to->ring->head - to->ring->tail > EVENT_RING_DATA / 2)
			drained(to);
		put_one(to, number, begin_ns + number * STEP_NS);
		if (number % SENT == 0)
			put_sample(to, 16, 10);
		publish(to);
	}
	for (uint32_t thread = 0; thread < THREADS; thread++)
		thread_end(&w[thread], 12345);
	process_ended(&fake);
}

/* Of a stream: all that was sent, once, in order. */
static void check(struct store_reader *reader, uint32_t stream, uint32_t thread)
{
	static struct store_record spans[ROUNDS * SENT + 16], samples[ROUNDS + 16];
	uint32_t number = 0, context_count;
	const struct store_context *contexts = store_reader_contexts(reader, &context_count);
	size_t count = records_of(reader, stream, STORE_SPANS, spans, ROUNDS * SENT + 16);
	uint64_t origin_ns = 0, link = 0;

	for (size_t i = 0; i < count; i++) {
		if (spans[i].what == STORE_OP_MONITORED)
			continue;
		origin_ns = origin_ns ? origin_ns : spans[i].begin_ns;
		assert_true(number < ROUNDS * SENT && spans[i].context < context_count);
		assert_int_equal(spans[i].what, sent[number % SENT]);
		assert_int_equal(spans[i].begin_ns - origin_ns, number * STEP_NS);
		assert_int_equal(spans[i].end_ns - spans[i].begin_ns, STEP_NS / 2);
		assert_int_equal(contexts[spans[i].context].offset, 0x100 + number % PATHS + thread);
		assert_true(spans[i].what == STORE_OP_LAUNCH ? spans[i].link > link : !spans[i].link);
		link = spans[i].link ? spans[i].link : link;
		number++;
	}
	assert_int_equal(number, ROUNDS * SENT);
	count = records_of(reader, stream, STORE_SAMPLES, samples, ROUNDS + 16);
	assert_true(count >= ROUNDS + 1);
}

static void test_all_that_was_sent_is_there(void **state)
{
	struct fixture *f = *state;
	const struct store_stream *streams;
	struct store_reader *reader;
	uint32_t count;

	start(f);
	run_agent(f, agent);
	finish(f);
	reader = store_of(f);
	streams = store_reader_streams(reader, &count);
	assert_int_equal(count, THREADS);
	for (uint32_t i = 0; i < count; i++)
		check(reader, i, streams[i].thread);
	store_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_that_was_sent_is_there, set_up, tear_down),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
