/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_critical_path.c - the walk backward through causes and the run forward with shorter work: in closed
 * form, and on random graphs against twins that go nanosecond by nanosecond.
 */
#include "tests/unit/blame_trace.h"

#include "blame/wait/critical_path.h"

#define ROUNDS 3000
#define STREAMS 5u
#define LENGTH 240u /* even: half of each piece of work is whole */
#define CAUSES 64u

static unsigned below(unsigned limit)
{
	return (unsigned)small_below(limit);
}

struct world {
	struct critical_stream streams[STREAMS];
	struct wait_cause causes[CAUSES];
	struct critical_graph graph;
	struct critical_change changes[CAUSES];
	size_t change_count;
};

static void put_cause(struct world *world, uint32_t waiter, uint64_t begin_ns, uint64_t end_ns,
	enum wait_cause_kind kind, uint32_t party, uint64_t from_ns)
{
	assert_true(world->graph.cause_count < CAUSES);
	world->causes[world->graph.cause_count++] =
		(struct wait_cause){begin_ns, end_ns, from_ns, waiter, party, 0, kind};
}

static void world_begin(struct world *world, uint32_t streams, uint64_t end_ns)
{
	*world = (struct world){.graph = {.stream_count = streams, .end_ns = end_ns}};
	for (uint32_t s = 0; s < streams; s++)
		world->streams[s] = (struct critical_stream){0, end_ns, CRITICAL_NONE};
	world->graph.streams = world->streams;
	world->graph.causes = world->causes;
}

static uint64_t saved(struct world *world, unsigned numerator, unsigned denominator, bool is_rigid)
{
	struct critical_replay *replay;
	struct error error = {0};
	/* The others must not change its answer. */
	const struct critical_what whats[CRITICAL_WHATS] = {
		{0, 1, !is_rigid}, {numerator, denominator, is_rigid}, {1, 3, true}};
	uint64_t saved_ns[CRITICAL_WHATS], alone_ns = 0;

	assert_int_equal(critical_replay_new(&replay, &world->graph, &error), 0);
	assert_int_equal(critical_replay_saved(replay, world->changes, world->change_count, whats,
				 CRITICAL_WHATS, saved_ns, &error),
		0);
	assert_int_equal(critical_replay_saved(replay, world->changes, world->change_count, &whats[1], 1,
				 &alone_ns, &error),
		0);
	critical_replay_free(replay);
	assert_int_equal(saved_ns[1], alone_ns);
	return alone_ns;
}

static void is_segment(const struct critical_path *path, size_t at, uint64_t begin_ns, uint64_t end_ns,
	uint32_t stream, bool is_wait)
{
	assert_true(at < path->count);
	assert_int_equal(path->segments[at].begin_ns, begin_ns);
	assert_int_equal(path->segments[at].end_ns, end_ns);
	assert_int_equal(path->segments[at].stream, stream);
	assert_int_equal(path->segments[at].is_wait, is_wait);
}

/* The picture of critical_path.h: main joins a worker, which waits for the holder of a lock. */
static void test_picture(void **unused)
{
	struct world world;
	struct critical_path path;
	struct error error = {0};

	(void)unused;
	world_begin(&world, 3, 100);
	world.streams[1] = (struct critical_stream){10, 90, 0};
	put_cause(&world, 0, 15, 92, CAUSE_JOIN, 1, 90);
	put_cause(&world, 1, 20, 60, CAUSE_LOCK, 2, 60);
	assert_int_equal(critical_path_walk(&path, &world.graph, &error), 0);
	assert_int_equal(path.count, 4);
	is_segment(&path, 0, 0, 60, 2, false);
	is_segment(&path, 1, 60, 90, 1, false);
	is_segment(&path, 2, 90, 92, 0, true);
	is_segment(&path, 3, 92, 100, 0, false);
	critical_path_fini(&path);

	/* The holder's work in half: the worker's own wait begins at 20, so that 30 are saved. */
	world.changes[0] = (struct critical_change){0, 60, 2};
	world.change_count = 1;
	assert_int_equal(saved(&world, 1, 2, false), 30);
	assert_int_equal(saved(&world, 1, 2, true), 30);
	/* In no time: then the worker, begun at 10, has nobody to wait for after 20. */
	assert_int_equal(saved(&world, 0, 1, false), 40);
	/* The main thread's work while it would wait anyway saves nothing. */
	world.changes[0] = (struct critical_change){10, 15, 0};
	assert_int_equal(saved(&world, 0, 1, false), 0);
}

/* A timer takes its time; who knows of another wait? At least it ends when it ended, at most it moves. */
static void test_bounds(void **unused)
{
	struct world world;
	struct critical_path path;
	struct error error = {0};

	(void)unused;
	world_begin(&world, 1, 100);
	put_cause(&world, 0, 20, 40, CAUSE_TIMER, CAUSE_NOBODY, 0);
	put_cause(&world, 0, 60, 80, CAUSE_UNKNOWN, CAUSE_NOBODY, 0);
	world.changes[0] = (struct critical_change){0, 20, 0};
	world.change_count = 1;
	assert_int_equal(saved(&world, 1, 2, false), 10);
	assert_int_equal(saved(&world, 1, 2, true), 0);
	world.changes[0] = (struct critical_change){80, 100, 0};
	assert_int_equal(saved(&world, 1, 2, true), 10);
	assert_int_equal(critical_path_walk(&path, &world.graph, &error), 0);
	assert_int_equal(path.count, 5);
	is_segment(&path, 1, 20, 40, 0, true);
	is_segment(&path, 3, 60, 80, 0, true);
	critical_path_fini(&path);
}

/* Two that let each other go on at one moment: the path does not go in a circle. */
static void test_circle(void **unused)
{
	struct world world;
	struct critical_path path;
	struct error error = {0};

	(void)unused;
	world_begin(&world, 2, 100);
	put_cause(&world, 0, 10, 50, CAUSE_LOCK, 1, 50);
	put_cause(&world, 1, 20, 50, CAUSE_LOCK, 0, 50);
	assert_int_equal(critical_path_walk(&path, &world.graph, &error), 0);
	assert_int_equal(path.segments[0].begin_ns, 0);
	assert_int_equal(path.segments[path.count - 1].end_ns, 100);
	critical_path_fini(&path);
	assert_int_equal(saved(&world, 1, 1, false), 0);
}

/* A thread begun, or another let go on, at the very moment when a wait ends: that wait happens first. */
static void test_same_moment(void **unused)
{
	struct world world;

	(void)unused;
	world_begin(&world, 3, 100);
	world.streams[1] = (struct critical_stream){50, 100, 0};
	world.graph.last = 1;
	put_cause(&world, 0, 10, 50, CAUSE_PIPE, 2, 50);
	world.changes[0] = (struct critical_change){0, 50, 2};
	world.change_count = 1;
	assert_int_equal(saved(&world, 1, 2, false), 25);
	assert_int_equal(saved(&world, 0, 1, true), 40);

	world_begin(&world, 3, 100);
	put_cause(&world, 0, 10, 50, CAUSE_LOCK, 1, 50);
	put_cause(&world, 1, 20, 50, CAUSE_LOCK, 2, 50);
	world.changes[0] = (struct critical_change){0, 50, 2};
	world.change_count = 1;
	assert_int_equal(saved(&world, 1, 2, false), 25);
	assert_int_equal(saved(&world, 0, 1, true), 30);
}

/* Begun by nobody in the run, and over before the window. */
static void test_absent(void **unused)
{
	struct world world;
	struct critical_path path;
	struct error error = {0};

	(void)unused;
	world_begin(&world, 1, 100);
	world.streams[0] = (struct critical_stream){30, 70, CRITICAL_NONE};
	assert_int_equal(critical_path_walk(&path, &world.graph, &error), 0);
	assert_int_equal(path.count, 3);
	assert_true(path.segments[0].is_absent && path.segments[2].is_absent);
	is_segment(&path, 1, 30, 70, 0, false);
	critical_path_fini(&path);
	world.graph.last = CRITICAL_NONE;
	assert_int_equal(critical_path_walk(&path, &world.graph, &error), -ERROR_EMPTY);
	critical_path_fini(&path);
}

/* ---- random graphs ---- */

static const struct wait_cause *cause_at(const struct world *world, uint32_t stream, uint64_t time_ns)
{
	for (size_t i = 0; i < world->graph.cause_count; i++) {
		const struct wait_cause *cause = &world->causes[i];

		if (cause->waiter == stream && cause->begin_ns < time_ns && time_ns <= cause->end_ns)
			return cause;
	}
	return NULL;
}

static bool works(const struct world *world, uint32_t stream, uint64_t time_ns)
{
	const struct wait_cause *cause = cause_at(world, stream, time_ns);

	return time_ns > world->streams[stream].begin_ns && (!cause || cause->end_ns == time_ns);
}

/* Even moments; a party lets go on where it works, before the wait ends. */
static void world_random(struct world *world)
{
	world_begin(world, 2 + below(STREAMS - 1), LENGTH);
	for (uint32_t s = 1; s < world->graph.stream_count; s++)
		if (below(3) == 0)
			world->streams[s] = (struct critical_stream){
				2 * below(LENGTH / 4), LENGTH, below(2) ? below(s) : CRITICAL_NONE};
	for (uint32_t s = 0; s < world->graph.stream_count; s++)
		for (uint64_t at = world->streams[s].begin_ns + 2 * below(20); at + 4 < LENGTH;) {
			uint64_t end_ns = at + 4 + 2 * below(16);

			if (end_ns > LENGTH)
				break;
			put_cause(world, s, at, end_ns, below(3) ? CAUSE_PIPE : CAUSE_TIMER, CAUSE_NOBODY, 0);
			at = end_ns + 2 * below(15);
		}
	for (uint32_t s = 1; s < world->graph.stream_count; s++)
		if (world->streams[s].creator != CRITICAL_NONE &&
			!works(world, world->streams[s].creator, world->streams[s].begin_ns))
			world->streams[s].creator = CRITICAL_NONE;
	for (size_t i = 0; i < world->graph.cause_count; i++) {
		struct wait_cause *cause = &world->causes[i];
		uint32_t party = below(world->graph.stream_count);
		uint64_t from_ns = cause->begin_ns - 4 + 2 * below(20);

		if (cause->kind == CAUSE_PIPE && party != cause->waiter && from_ns < cause->end_ns &&
			from_ns && works(world, party, from_ns)) {
			cause->party = party;
			cause->from_ns = from_ns;
		}
	}
}

static void put_changes(struct world *world)
{
	world->change_count = 0;
	for (uint32_t s = 0; s < world->graph.stream_count; s++)
		for (uint64_t at = 2 * below(60); at + 2 < LENGTH;) {
			uint64_t end_ns = at + 2 + 2 * below(20);

			if (world->change_count == CAUSES)
				return;
			world->changes[world->change_count++] = (struct critical_change){at, end_ns, s};
			at = end_ns + 2 * below(40);
		}
}

static bool leads(const struct world *world, const struct wait_cause *cause)
{
	return cause->party != CAUSE_NOBODY && cause->from_ns > cause->begin_ns &&
	       world->streams[cause->party].begin_ns < cause->from_ns;
}

struct owner {
	uint32_t stream;
	bool is_wait, is_absent;
};

static void twin_walk(const struct world *world, struct owner owners[LENGTH])
{
	uint32_t s = world->graph.last;
	uint64_t t = LENGTH;

	while (t > 0) {
		const struct wait_cause *cause = cause_at(world, s, t);

		if (cause && leads(world, cause) && cause->from_ns <= t) {
			for (; t > cause->from_ns; t--)
				owners[t - 1] = (struct owner){s, true, false};
			s = cause->party;
		} else if (cause) {
			for (; t > cause->begin_ns; t--)
				owners[t - 1] = (struct owner){s, true, false};
		} else if (t > world->streams[s].begin_ns) {
			owners[--t] = (struct owner){s, false, false};
		} else if (world->streams[s].creator != CRITICAL_NONE &&
			   world->streams[world->streams[s].creator].begin_ns < t) {
			s = world->streams[s].creator;
		} else {
			owners[--t] = (struct owner){s, false, true};
		}
	}
}

static bool is_changed(const struct world *world, uint32_t stream, uint64_t time_ns)
{
	for (size_t i = 0; i < world->change_count; i++)
		if (world->changes[i].stream == stream && world->changes[i].begin_ns <= time_ns &&
			time_ns < world->changes[i].end_ns)
			return true;
	return false;
}

/* Twice the new time, a stretch of 1 ns after the other. */
static uint64_t twin_time(const struct world *world, uint32_t s, uint64_t t, unsigned factor2, bool is_rigid,
	int64_t known[STREAMS][LENGTH + 1])
{
	const struct critical_stream *stream = &world->streams[s];
	const struct wait_cause *cause = cause_at(world, s, t);
	uint64_t begin2, time2;

	if (known[s][t] >= 0)
		return (uint64_t)known[s][t];
	if (t <= stream->begin_ns) {
		bool is_begun = t && t == stream->begin_ns && stream->creator != CRITICAL_NONE &&
				world->streams[stream->creator].begin_ns < t;

		time2 = is_begun ? twin_time(world, stream->creator, t, factor2, is_rigid, known) : 2 * t;
	} else if (!cause) {
		time2 = twin_time(world, s, t - 1, factor2, is_rigid, known) +
			(is_changed(world, s, t - 1) ? factor2 : 2);
	} else {
		assert_true(cause->end_ns == t);
		begin2 = twin_time(world, s, cause->begin_ns, factor2, is_rigid, known);
		time2 = begin2;
		if (leads(world, cause)) {
			uint64_t given2 =
				twin_time(world, cause->party, cause->from_ns, factor2, is_rigid, known) +
				2 * (cause->end_ns - cause->from_ns);

			time2 = given2 > begin2 ? given2 : begin2;
		} else if (is_rigid && cause->kind != CAUSE_TIMER) {
			time2 = 2 * t > begin2 ? 2 * t : begin2;
		} else {
			time2 += 2 * (t - cause->begin_ns);
		}
	}
	known[s][t] = (int64_t)time2;
	return time2;
}

static void check_walk(const struct world *world)
{
	struct owner owners[LENGTH];
	struct critical_path path;
	struct error error = {0};
	uint64_t at = 0;

	twin_walk(world, owners);
	assert_int_equal(critical_path_walk(&path, &world->graph, &error), 0);
	for (size_t i = 0; i < path.count; i++) {
		const struct critical_segment *segment = &path.segments[i];

		assert_int_equal(segment->begin_ns, at);
		for (; at < segment->end_ns; at++) {
			assert_int_equal(segment->is_absent, owners[at].is_absent);
			assert_int_equal(segment->stream, owners[at].stream);
			assert_int_equal(segment->is_wait, owners[at].is_wait);
		}
	}
	assert_int_equal(at, LENGTH);
	critical_path_fini(&path);
}

static void check_replay(struct world *world)
{
	static int64_t known[STREAMS][LENGTH + 1];

	for (unsigned factor2 = 0; factor2 < 2; factor2++)
		for (int is_rigid = 0; is_rigid < 2; is_rigid++) {
			uint64_t twin2;

			memset(known, -1, sizeof known);
			twin2 = twin_time(world, world->graph.last, LENGTH, factor2, is_rigid, known);
			assert_int_equal(2 * saved(world, factor2, 2, is_rigid), 2 * LENGTH - twin2);
		}
	assert_int_equal(saved(world, 1, 1, false), 0);
	assert_int_equal(saved(world, 1, 1, true), 0);
}

static void test_random(void **unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		struct world world;

		world_random(&world);
		put_changes(&world);
		check_walk(&world);
		check_replay(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_picture), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_circle), cmocka_unit_test(test_same_moment),
		cmocka_unit_test(test_absent), cmocka_unit_test(test_random)};

	small_seed("blame_critical_path");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
