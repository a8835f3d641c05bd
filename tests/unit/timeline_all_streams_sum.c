/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_all_streams_sum.c - what the sums of all streams' lines answer against a walk over every stream:
 * random streams that come and go, are switched out, wait, lose, and tell some things late, recorded in
 * commits behind their watermarks. And that the sums are there: a writer that made none would pass the rest.
 */
#include "tests/unit/timeline_twin.h"

#include "store/read/reader_internal.h"
#include "store/states/all_streams.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/all_streams_sum.h"
#include "timeline/sum/state_check.h"

#define ROUNDS 6
#define STREAMS 18u
#define STEPS 12
#define STEP_RECORDS 300
#define EARLY 3u       /* streams that are alone for a while */
#define EARLY_STEPS 24 /* more than the writer keeps for sums of so few streams */
#define CONTEXTS 12u
#define WINDOWS 12
#define PERIOD_NS 1000000u
#define PATIENCE_S 240

struct made {
	struct small_run small;
	uint32_t contexts[CONTEXTS];
	uint64_t begin_ns, now_ns[STREAMS], born_ns[STREAMS];
	bool is_gpu[STREAMS], has_switches[STREAMS];
	unsigned late_chance; /* 0: never */
};

static void begin_stream(struct made *made, uint32_t stream)
{
	uint64_t begin_ns = made->begin_ns + small_below(3) * small_below(400000000);

	made->is_gpu[stream] = stream % 7 == 3;
	made->has_switches[stream] = small_below(2);
	made->now_ns[stream] = made->born_ns[stream] = begin_ns;
	if (made->is_gpu[stream])
		small_gpu(made->small.writer, stream, begin_ns, STORE_OPEN_NS);
	else
		small_cpu(made->small.writer, stream, begin_ns, STORE_OPEN_NS);
}

static void monitored(struct made *made, uint32_t stream, uint64_t end_ns)
{
	small_span(made->small.writer, stream, made->born_ns[stream], end_ns, STORE_OP_MONITORED, 0,
		made->has_switches[stream] ? "metric=CPUTIME,period_ns=1000000,switches=1"
					   : "metric=CPUTIME,period_ns=1000000");
}

static uint32_t draw_context(const struct made *made)
{
	return made->contexts[small_below(small_below(3) ? 3 : CONTEXTS)];
}

static void late(struct made *made, uint32_t stream, uint64_t now_ns)
{
	uint64_t at_ns = now_ns - small_below(now_ns - made->born_ns[stream] + 1) / (1 + small_below(50));

	if (small_below(2))
		small_sample(made->small.writer, stream, at_ns, draw_context(made), 0, PERIOD_NS);
	else
		small_span(made->small.writer, stream, at_ns, at_ns + 1 + small_below(5 * PERIOD_NS),
			STORE_OP_LOST, 0, "");
}

/* Seldom a sample's force ends before the next one comes. */
static uint64_t reach(void)
{
	return small_below(40) ? 2 : 9;
}

static void go_on(struct made *made, uint32_t stream)
{
	static const uint32_t cpu[] = {STORE_OP_BLOCKED, STORE_OP_RUNNABLE, STORE_OP_SYNC, STORE_OP_LOST};
	static const uint32_t gpu[] = {STORE_OP_KERNEL, STORE_OP_COPY, STORE_OP_SET, STORE_OP_SYNC};
	struct store_writer *writer = made->small.writer;
	uint64_t t = made->now_ns[stream];
	struct store_stream *properties;

	for (int i = 0; i < STEP_RECORDS; i++, t += 1 + small_below(reach() * PERIOD_NS)) {
		if (made->is_gpu[stream]) {
			if (!small_below(400)) /* which shows nowhere in a queue's line */
				small_sample(writer, stream, t, draw_context(made), 0, PERIOD_NS);
			small_span(writer, stream, t, t + small_below(2 * PERIOD_NS), gpu[small_below(4)],
				draw_context(made), "");
			continue;
		}
		small_sample(writer, stream, t, draw_context(made), 0, PERIOD_NS);
		if (made->has_switches[stream] && !small_below(4))
			small_span(writer, stream, t + small_below(PERIOD_NS), t + small_below(3 * PERIOD_NS),
				cpu[small_below(small_below(9) ? 3 : 4)], 0, "");
		if (made->late_chance && !small_below(made->late_chance))
			late(made, stream, t);
	}
	made->now_ns[stream] = t;
	properties = store_writer_stream_edit(writer, stream);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		properties->complete_ns[track] = t - small_below(4) * PERIOD_NS;
}

static void steps(struct made *made, uint32_t streams, int count)
{
	for (int step = 0; step < count; step++) {
		for (uint32_t stream = 0; stream < streams; stream++)
			if (small_below(8))
				go_on(made, stream);
		if (small_below(2))
			small_commit(&made->small);
	}
}

static void begin_streams(struct made *made, uint32_t first, uint32_t end)
{
	for (uint32_t stream = first; stream < end; stream++) {
		begin_stream(made, stream);
		monitored(made, stream, STORE_OPEN_NS);
	}
}

/* The first `early` streams are alone at first; some of them do nothing any more when the others have come.
 */
static void record(struct made *made, bool is_late, uint32_t early)
{
	*made = (struct made){.late_chance = is_late ? 4000 : 0};
	small_begin(&made->small);
	store_writer_metric(made->small.writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		made->contexts[i] = small_path(made->small.writer, (char[]){(char)('a' + i), '\0'});
	made->begin_ns = small_below((uint64_t)1 << (30 + small_below(20)));
	begin_streams(made, 0, early);
	steps(made, early, EARLY_STEPS);
	for (uint32_t stream = 0; stream < early; stream++)
		made->begin_ns =
			made->now_ns[stream] > made->begin_ns ? made->now_ns[stream] : made->begin_ns;
	begin_streams(made, early, STREAMS);
	steps(made, STREAMS, STEPS);
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		struct store_record span = {.begin_ns = made->born_ns[stream],
			.end_ns = made->now_ns[stream] + small_below(3) * PERIOD_NS + 1,
			.what = STORE_OP_MONITORED,
			.attributes = small_text(made->small.writer,
				made->has_switches[stream] ? "metric=CPUTIME,period_ns=1000000,switches=1"
							   : "metric=CPUTIME,period_ns=1000000")};

		store_writer_stream_edit(made->small.writer, stream)->end_ns = span.end_ns;
		store_writer_span_close(
			made->small.writer, stream, span.begin_ns << 8 | STORE_OP_MONITORED, &span);
	}
}

static void make(struct made *made, bool is_late)
{
	record(made, is_late, 0);
	small_ready(&made->small);
}

/* ---- asking ---- */

static const uint32_t all_streams[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
_Static_assert(sizeof all_streams / sizeof *all_streams == STREAMS, "one for each stream");

static int count_piece(void *own, const struct extent *extent, struct error *error)
{
	(void)own, (void)extent, (void)error;
	return 0;
}

static int count_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	(void)own, (void)key, (void)time_ns, (void)records, (void)error;
	return 0;
}

/* Were there buckets enough to answer without all streams? */
static unsigned is_answered(struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	const struct state_sum_sink sink = {.piece = count_piece, .sum = count_sum};
	struct error error = {0};

	return all_streams_sum(run, all_streams, STREAMS, begin_ns, end_ns, &sink, NULL, &error) == 1;
}

static unsigned check_made(const struct made *made)
{
	const struct run_options no_rollups = {.no_rollups = true};
	struct run *naive, *rolled = made->small.run;
	struct error error = {0};
	uint64_t begin_ns = run_begin_ns(rolled), length_ns = run_end_ns(rolled) - begin_ns, rollups;
	unsigned answered = 0;

	if (run_open(&naive, made->small.path, &no_rollups, &error))
		fail_msg("%s", error.text);
	assert_int_equal(run_stream_count(rolled), STREAMS);
	for (int i = 0; i < WINDOWS; i++) {
		uint64_t a = begin_ns + small_below(length_ns / 4), b = begin_ns + length_ns;

		if (small_below(4))
			b -= small_below(length_ns / 4);
		else if (small_below(2))
			b += small_below(length_ns);
		if (!small_below(4))
			a = begin_ns - small_below(begin_ns / 2 + 1);
		if (i == 0)
			a = 0, b = STORE_OPEN_NS;
		if (i == 1)
			a = begin_ns, b = begin_ns + length_ns;
		twin_check_times(rolled, naive, all_streams, STREAMS, a, b);
		answered += is_answered(rolled, a, b);
	}
	if (state_check(rolled, &rollups, &error))
		fail_msg("%s", error.text);
	run_close(naive);
	return answered;
}

static unsigned try(bool is_late)
{
	unsigned answered = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct made made;

		make(&made, is_late);
		answered += check_made(&made);
		small_end(&made.small);
	}
	printf("%u of %d windows answered by all streams' sums\n", answered, ROUNDS * WINDOWS);
	return answered;
}

static void test_in_order(void **state)
{
	(void)state;
	small_seed("in order");
	assert_true(try(false) > ROUNDS * WINDOWS / 2);
}

/* What late records spoil is asked of the streams, what they do not spoil is not. */
static void test_late(void **state)
{
	(void)state;
	small_seed("late");
	try(true);
}

/* Is there a bucket that holds this time? */
static int has_bucket(const struct made *made, const struct store_all_streams_head *head, uint64_t at_ns)
{
	const struct store_context_sums *sums;
	struct error error = {0};

	return store_all_streams_read(made->small.run->parts[0].reader, store_bucket_of(at_ns, head->shift),
		head->shift, &sums, &error);
}

/* Of few streams nothing is added up but of the very first: when there are more it begins, and what it has
 * missed is told by the streams. */
static void test_grown(void **state)
{
	(void)state;
	small_seed("grown");
	for (int round = 0; round < ROUNDS; round++) {
		struct store_all_streams_head head;
		struct error error = {0};
		struct made made;

		record(&made, round % 2, EARLY);
		small_ready(&made.small);
		check_made(&made);
		assert_int_equal(store_all_streams_head(made.small.run->parts[0].reader, &head, &error), 1);
		assert_false(head.is_whole);
		assert_int_equal(has_bucket(&made, &head, made.born_ns[0]), 0);
		assert_true(round % 2 || has_bucket(&made, &head, head.end_ns - 1) == 1);
		small_end(&made.small);
	}
}

/* A host whose clock lies so far off that part of its time is before all time: its sums are no sums of what
 * the run shows, and no damage. */
static void test_bent(void **state)
{
	const uint64_t wall_ns = UINT64_C(1) << 60;
	struct made made;
	struct store_writer *first;
	struct store_all_streams_head head;
	struct error error = {0};
	uint64_t rollups, end_ns = 0;

	(void)state;
	small_seed("bent");
	record(&made, false, 0);
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		end_ns = made.now_ns[stream] > end_ns ? made.now_ns[stream] : end_ns;
	store_writer_meta_number(made.small.writer, "wall_ns",
		wall_ns - made.begin_ns - 1 - small_below(end_ns - made.begin_ns));
	first = small_store(&made.small, "node-0");
	store_writer_meta_number(first, "wall_ns", wall_ns);
	small_close_writer(first);
	small_ready(&made.small);
	assert_int_equal(store_all_streams_head(made.small.run->parts[1].reader, &head, &error), 1);
	if (state_check(made.small.run, &rollups, &error))
		fail_msg("%s", error.text);
	assert_false(is_answered(made.small.run, 0, STORE_OPEN_NS));
	small_end(&made.small);
}

/* ---- lies that checksums do not tell ---- */

/* The bucket with one sample more or less, sealed anew; empty where that takes another size. */
static struct store_bytes lie(struct store_reader *reader, const struct store_key_rollup *key,
	const struct store_all_streams_head *head, size_t size)
{
	struct store_bytes bytes = {0};
	const struct store_context_sums *read;
	struct store_context_sums sums = {0};
	struct error error = {0};
	uint8_t key_bytes[STORE_KEY_ROLL_BYTES];

	if (store_all_streams_read(reader, key->begin_ns, key->shift, &read, &error) != 1 || !read->count)
		return bytes;
	for (uint32_t i = 0; i < read->count; i++)
		store_context_sums_push(&sums, &read->entries[i]);
	sums.entries[small_below(sums.count)].samples ^= 1;
	store_bytes_begin_sealed(&bytes);
	if (key->shift == STORE_SHIFT_MAX) {
		store_bytes_put_varint(&bytes, head->streams);
		store_bytes_put_varint(&bytes, head->begin_ns);
		store_bytes_put_varint(&bytes, head->end_ns);
		store_bytes_put_varint(&bytes, head->shift);
		store_bytes_put_varint(&bytes, 1);
	}
	store_context_sums_put(&sums, &bytes);
	store_key_rollup_put(key_bytes, key);
	store_bytes_seal(&bytes, key_bytes, sizeof key_bytes);
	if (bytes.size != size)
		store_bytes_fini(&bytes);
	store_context_sums_fini(&sums);
	return bytes;
}

/* The run with a lie in the place of what stands there, and a head that says this; NULL: nothing of that size
 * could be changed. */
static struct run *lied_to(const struct made *made, const struct store_key_rollup *key,
	const struct store_all_streams_head *head)
{
	struct store_reader *reader = made->small.run->parts[0].reader;
	struct store_slice value;
	struct store_bytes bytes = {0};
	struct error error = {0};
	uint8_t key_bytes[STORE_KEY_ROLL_BYTES], *old;
	char path[128];
	struct run *run;

	store_key_rollup_put(key_bytes, key);
	if (store_tree_get(&reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL], key_bytes,
		    sizeof key_bytes, &value, &error) != 1)
		return NULL;
	for (int tries = 0; !bytes.size && tries < 40; tries++)
		bytes = lie(reader, key, head, value.size);
	if (!bytes.size)
		return NULL;
	old = malloc(value.size);
	memcpy(old, value.bytes, value.size);
	snprintf(path, sizeof path, "%s/node-1.mdb", made->small.path);
	small_overwrite(path, (struct store_slice){old, value.size}, &bytes);
	free(old);
	store_bytes_fini(&bytes);
	if (run_open(&run, made->small.path, NULL, &error))
		fail_msg("%s", error.text);
	return run;
}

/* False: nothing of that size could be changed. */
static bool check_lie(const struct made *made, unsigned shift)
{
	struct store_all_streams_head head;
	struct store_key_rollup key = {.stream = STORE_ROLLUP_ALL, .kind = STORE_ROLLUP_ALL_STREAMS};
	struct error error = {0};
	struct run *run;
	uint64_t rollups;

	if (store_all_streams_head(made->small.run->parts[0].reader, &head, &error) != 1)
		return false;
	key.shift = (uint8_t)(shift ? shift : head.shift);
	if (!shift)
		key.begin_ns = store_bucket_of(head.begin_ns / 2 + head.end_ns / 2, head.shift);
	run = lied_to(made, &key, &head);
	if (!run)
		return false;
	/* The seal is right: the store itself finds nothing. */
	if (store_reader_check(run->parts[0].reader, &error))
		fail_msg("%s", error.text);
	assert_int_equal(state_check(run, &rollups, &error), -ERROR_RUN);
	assert_non_null(strstr(error.text, "are not what their records say"));
	run_close(run);
	return true;
}

static void test_lie(void **state)
{
	unsigned lies[2] = {0, 0};

	(void)state;
	small_seed("lie");
	for (int round = 0; round < 2 * ROUNDS; round++) {
		struct made made;

		make(&made, false);
		lies[round % 2] += check_lie(&made, round % 2 ? STORE_SHIFT_MAX : 0);
		small_end(&made.small);
	}
	printf("%u buckets and %u heads told a lie\n", lies[0], lies[1]);
	assert_true(lies[0] && lies[1]);
}

/* Of so many buckets that nobody could look for them all. */
static bool check_fine(const struct made *made)
{
	const struct store_key_rollup key = {
		.stream = STORE_ROLLUP_ALL, .kind = STORE_ROLLUP_ALL_STREAMS, .shift = STORE_SHIFT_MAX};
	struct store_all_streams_head head;
	struct error error = {0};
	struct window *window;
	struct run *run;

	if (store_all_streams_head(made->small.run->parts[0].reader, &head, &error) != 1)
		return false;
	head.shift = 1;
	run = lied_to(made, &key, &head);
	if (!run)
		return false;
	assert_int_equal(window_new(&window, run, &error), 0);
	alarm(PATIENCE_S); /* who looks for them all dies */
	assert_int_equal(
		window_add_times(window, all_streams, STREAMS, head.begin_ns + 1, head.end_ns, &error),
		-ERROR_RUN);
	alarm(0);
	assert_non_null(strstr(error.text, "the head of all streams' sums"));
	window_free(window);
	run_close(run);
	return true;
}

static void test_too_fine(void **state)
{
	unsigned lies = 0;

	(void)state;
	small_seed("too fine");
	for (int round = 0; round < ROUNDS && !lies; round++) {
		struct made made;

		make(&made, false);
		lies += check_fine(&made);
		small_end(&made.small);
	}
	assert_true(lies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_order), cmocka_unit_test(test_late),
		cmocka_unit_test(test_grown), cmocka_unit_test(test_bent), cmocka_unit_test(test_lie),
		cmocka_unit_test(test_too_fine)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
