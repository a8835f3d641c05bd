/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_state_sum.c - what rollups of lines answer against a walk over the records: random streams that
 * are switched out, wait, lose and end, recorded as a collector does it (commits behind a watermark, spans
 * still open, records that come late), asked while they are recorded and after. And that they are there: a
 * writer that made none would pass the rest.
 */
#include "tests/unit/timeline_twin.h"

#include "store/states/state_rollup.h"
#include "timeline/sum/state_check.h"
#include "timeline/sum/state_sum.h"

#define ROUNDS 10
#define STEPS 60
#define STREAMS 3u
#define CONTEXTS 40u
#define WINDOWS 16
#define TILES 24
#define PERIOD_NS 1000000u

struct made {
	struct small_run small;
	uint32_t contexts[CONTEXTS];
	uint64_t begin_ns, now_ns[STREAMS];
	bool is_gpu[STREAMS];
	uint32_t attributes[STREAMS];
	unsigned late_chance;
};

static uint32_t draw_context(const struct made *made)
{
	return small_below(8) ? made->contexts[small_below(4)] : made->contexts[small_below(CONTEXTS)];
}

/* ---- recording ---- */

static void begin_stream(struct made *made, uint32_t stream)
{
	struct store_writer *writer = made->small.writer;
	static const unsigned periods[] = {0, 40, 1000, 30000, PERIOD_NS};
	char attributes[80];

	made->is_gpu[stream] = stream == 2;
	made->now_ns[stream] = made->begin_ns + small_below(5) * small_below(100000000);
	if (made->is_gpu[stream])
		small_gpu(writer, stream, made->now_ns[stream], STORE_OPEN_NS);
	else
		small_cpu(writer, stream, made->now_ns[stream], STORE_OPEN_NS);
	/* Short periods make small buckets. */
	snprintf(attributes, sizeof attributes, "metric=CPUTIME,period_ns=%u%s", periods[small_below(5)],
		small_below(2) ? ",switches=1" : "");
	made->attributes[stream] = small_text(writer, attributes);
	small_span(writer, stream, made->now_ns[stream], STORE_OPEN_NS, STORE_OP_MONITORED, 0, attributes);
}

static void begin_made(struct made *made)
{
	*made = (struct made){.late_chance = (unsigned)small_below(3) * 60};
	small_begin(&made->small);
	store_writer_metric(made->small.writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		made->contexts[i] = small_path(made->small.writer, (char[]){(char)('0' + i), '\0'});
	made->begin_ns = small_below((uint64_t)1 << (30 + small_below(20)));
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		begin_stream(made, stream);
}

static void append_cpu(struct made *made, uint32_t stream, uint64_t at_ns, uint64_t length_ns)
{
	static const uint32_t ops[] = {STORE_OP_BLOCKED, STORE_OP_BLOCKED, STORE_OP_RUNNABLE, STORE_OP_SYNC,
		STORE_OP_LOST, STORE_OP_MPI, STORE_OP_UNMONITORED};
	struct store_writer *writer = made->small.writer;

	for (uint64_t t = at_ns; t < at_ns + length_ns; t += 1 + small_below(2 * PERIOD_NS)) {
		small_sample(writer, stream, t, draw_context(made), 0, PERIOD_NS);
		if (!small_below(3))
			small_span(writer, stream, t + small_below(PERIOD_NS), t + small_below(3 * PERIOD_NS),
				ops[small_below(small_below(20) ? 4 : 7)],
				small_below(2) ? draw_context(made) : 0, "");
		if (made->late_chance && !small_below(made->late_chance) && t > made->begin_ns) {
			uint64_t late_ns = t - small_below(t - made->begin_ns) / (1 + small_below(100));

			if (small_below(2))
				small_sample(writer, stream, late_ns, draw_context(made), 0, PERIOD_NS);
			else
				small_span(writer, stream, late_ns,
					late_ns + small_below(t - late_ns + PERIOD_NS),
					small_below(2) ? STORE_OP_LOST : STORE_OP_BLOCKED, draw_context(made),
					"");
		}
	}
}

static void append_gpu(struct made *made, uint32_t stream, uint64_t at_ns, uint64_t length_ns)
{
	static const uint32_t ops[] = {STORE_OP_KERNEL, STORE_OP_COPY, STORE_OP_SET, STORE_OP_SYNC};
	static const char *const kinds[] = {"", "kind=HtoD", "kind=D2H"};

	for (uint64_t t = at_ns; t < at_ns + length_ns; t += 1 + small_below(PERIOD_NS))
		small_span(made->small.writer, stream, t, t + small_below(2 * PERIOD_NS), ops[small_below(4)],
			draw_context(made), kinds[small_below(3)]);
}

/* Some time goes by in the stream; the watermark follows, behind what is still open. */
static void go_on(struct made *made, uint32_t stream)
{
	uint64_t length_ns = 1 + small_below(small_below(6) ? 20 * PERIOD_NS : 3000 * (uint64_t)PERIOD_NS);
	uint64_t at_ns = made->now_ns[stream];
	struct store_stream *properties = store_writer_stream_edit(made->small.writer, stream);

	if (!small_below(10)) /* nothing happens */
		length_ns *= 20;
	else if (made->is_gpu[stream])
		append_gpu(made, stream, at_ns, length_ns);
	else
		append_cpu(made, stream, at_ns, length_ns);
	made->now_ns[stream] = at_ns + length_ns;
	properties = store_writer_stream_edit(made->small.writer, stream);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		properties->complete_ns[track] = at_ns + length_ns / (1 + small_below(3));
}

static void close_made(struct made *made)
{
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		uint64_t begin_ns = store_writer_stream_edit(made->small.writer, stream)->begin_ns;
		uint64_t end_ns = made->now_ns[stream] + 4 * PERIOD_NS;
		struct store_record span = {.begin_ns = begin_ns,
			.end_ns = end_ns,
			.what = STORE_OP_MONITORED,
			.attributes = made->attributes[stream]};

		if (small_below(8)) {
			store_writer_stream_edit(made->small.writer, stream)->end_ns = end_ns;
			store_writer_span_close(
				made->small.writer, stream, begin_ns << 8 | STORE_OP_MONITORED, &span);
		}
	}
	small_ready(&made->small);
}

/* ---- asking ---- */

static unsigned count_rolls(struct run *run)
{
	struct store_state_rollup roll;
	struct error error = {0};
	unsigned count = 0;

	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		uint64_t from_ns = 0;
		unsigned shift = STORE_SHIFT_MAX;

		while (store_state_rollup_find(run->parts[0].reader, stream, from_ns, shift, &roll, &error) ==
			1) {
			from_ns = roll.key.begin_ns;
			shift = roll.key.shift - 1u;
			count++;
		}
	}
	return count;
}

static void check_sound(struct run *run)
{
	struct error error = {0};
	uint64_t rollups;

	if (state_check(run, &rollups, &error))
		fail_msg("%s", error.text);
}

static unsigned check_made(const struct made *made)
{
	const struct run_options no_rollups = {.no_rollups = true};
	struct run *rolled, *naive;
	struct error error = {0};
	unsigned count;

	if (run_open(&rolled, made->small.path, NULL, &error) ||
		run_open(&naive, made->small.path, &no_rollups, &error))
		fail_msg("%s", error.text);
	for (int i = 0; i < WINDOWS; i++) {
		uint32_t stream = (uint32_t)small_below(STREAMS);
		uint64_t length_ns = made->now_ns[stream] - made->begin_ns + 2;
		uint64_t a = made->begin_ns + small_below(length_ns),
			 b = made->begin_ns + small_below(length_ns);
		unsigned shift = 15 + (unsigned)small_below(25);

		if (i == 0)
			a = 0, b = STORE_OPEN_NS;
		twin_check_times(rolled, naive, &stream, 1, a < b ? a : b, a < b ? b : a);
		twin_check_tiles(rolled, naive, stream, shift,
			(made->begin_ns + small_below(length_ns)) >> shift, TILES);
		twin_check_cells(rolled, naive, stream, shift,
			(made->begin_ns + small_below(length_ns)) >> shift, TILES);
	}
	count = count_rolls(rolled);
	check_sound(rolled);
	run_close(rolled);
	run_close(naive);
	return count;
}

static void test_random(void **state)
{
	unsigned rolls = 0;

	(void)state;
	small_seed("line_roll");
	for (int round = 0; round < ROUNDS; round++) {
		struct made made;

		begin_made(&made);
		for (int step = 0; step < STEPS; step++) {
			go_on(&made, (uint32_t)small_below(STREAMS));
			if (!small_below(3))
				small_commit(&made.small);
			if (!small_below(30)) {
				small_commit(&made.small);
				check_made(&made);
			}
		}
		store_rollup_prune_none = round % 4 != 0;
		close_made(&made);
		rolls += check_made(&made);
		small_end(&made.small);
	}
	printf("%u rollups\n", rolls);
	assert_true(rolls > 10 * ROUNDS);
}

/* A loss told late ends the force of the sample before it: what follows, long after, is unknown. */
static void test_late_loss(void **state)
{
	const uint64_t second = 1000000000;
	struct made made = {.small = {{0}, NULL, NULL}, .now_ns = {100 * second, 1, 1}};
	struct store_stream *properties;
	uint32_t context;

	(void)state;
	small_seed("late_loss");
	small_begin(&made.small);
	store_writer_metric(made.small.writer, "CPUTIME", "ns", false);
	context = small_path(made.small.writer, "main");
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		small_cpu(made.small.writer, stream, 0, STORE_OPEN_NS);
		small_span(made.small.writer, stream, 0, STORE_OPEN_NS, STORE_OP_MONITORED, 0,
			"metric=CPUTIME,period_ns=1000000,switches=1");
	}
	for (uint64_t t = 0; t < second; t += PERIOD_NS)
		small_sample(made.small.writer, 0, t, context, 0, PERIOD_NS);
	properties = store_writer_stream_edit(made.small.writer, 0);
	properties->complete_ns[STORE_SAMPLES] = properties->complete_ns[STORE_SPANS] = second;
	small_commit(&made.small);
	small_span(made.small.writer, 0, second - 500000, second - 100000, STORE_OP_LOST, 0, "");
	properties = store_writer_stream_edit(made.small.writer, 0);
	properties->complete_ns[STORE_SAMPLES] = properties->complete_ns[STORE_SPANS] = 100 * second;
	small_commit(&made.small);
	check_made(&made);
	small_end(&made.small);
}

/* ---- a rollup that lies ---- */

/* The value with one record more or less in an entry, sealed as the writer seals; empty when its bytes would
 * not fit where it lay. */
static struct store_bytes lie(struct run *run, const struct store_state_rollup *roll, bool more)
{
	struct store_bytes bytes = {0};
	struct store_context_sums sums = {0};
	uint8_t key[STORE_KEY_ROLL_BYTES];
	struct store_input input;
	const uint8_t *rules;

	store_key_rollup_put(key, &roll->key);
	input = store_input_sealed(roll->value, key, sizeof key);
	rules = input.at;
	for (int i = 0; i < 6; i++)
		store_input_varint(&input);
	store_bytes_begin_sealed(&bytes);
	store_bytes_put(&bytes, rules, (size_t)(input.at - rules));
	store_context_sums_get(
		&sums, &input, run->parts[0].context_count, UINT32_MAX, 1u << STORE_CONTEXT_SUMS_WEIGHT);
	assert_false(input.bad);
	sums.entries[small_below(sums.count)].samples += more ? 1 : UINT64_MAX;
	store_context_sums_put(&sums, &bytes);
	store_bytes_seal(&bytes, key, sizeof key);
	store_context_sums_fini(&sums);
	if (bytes.size != roll->value.size)
		bytes.size = 0;
	return bytes;
}

/* A rollup that readers believe, of a random size. */
static bool find_roll(struct run *run, uint32_t stream, struct store_state_rollup *roll)
{
	struct state_rules rules;
	struct error error = {0};
	const struct store_context_sums *sums;
	uint64_t from_ns = run->begin_ns + run->origin_ns + small_below(run->end_ns - run->begin_ns);

	assert_false(state_sum_rollup_rules(run, stream, &rules, &error));
	from_ns = small_below(3) ? store_bucket_of(from_ns, 33) : from_ns;
	return store_state_rollup_find(run->parts[0].reader, stream, from_ns,
		       small_below(2) ? STORE_SHIFT_MAX : 30, roll, &error) == 1 &&
	       store_state_rollup_read(run->parts[0].reader, roll, &rules, &sums, &error) == 1;
}

/* False: none was found to be changed. */
static bool check_lie(const struct small_run *small)
{
	struct store_state_rollup roll;
	struct store_bytes bytes;
	struct error error = {0};
	char path[128];
	struct run *run;
	uint64_t rollups;
	bool is_changed;
	uint8_t *old;

	if (run_open(&run, small->path, NULL, &error))
		fail_msg("%s", error.text);
	snprintf(path, sizeof path, "%s/node-1.mdb", small->path);
	if (!find_roll(run, (uint32_t)small_below(STREAMS), &roll)) {
		run_close(run);
		return false;
	}
	bytes = lie(run, &roll, small_below(2));
	is_changed = bytes.size > 0;
	old = malloc(roll.value.size); /* the value itself lies in the file's map */
	memcpy(old, roll.value.bytes, roll.value.size);
	run_close(run);
	if (is_changed)
		small_overwrite(path, (struct store_slice){old, roll.value.size}, &bytes);
	free(old);
	store_bytes_fini(&bytes);
	if (!is_changed)
		return false;
	if (run_open(&run, small->path, NULL, &error))
		fail_msg("%s", error.text);
	/* The seal is right: the store itself finds nothing. */
	if (store_reader_check(run->parts[0].reader, &error))
		fail_msg("%s", error.text);
	assert_int_equal(state_check(run, &rollups, &error), -ERROR_RUN);
	assert_non_null(strstr(error.text, "is not what its records say"));
	run_close(run);
	return true;
}

static void test_lie(void **state)
{
	unsigned lies = 0;

	(void)state;
	small_seed("line_lie");
	for (int round = 0; round < ROUNDS; round++) {
		struct made made;

		begin_made(&made);
		for (int step = 0; step < STEPS; step++)
			go_on(&made, (uint32_t)small_below(STREAMS));
		close_made(&made);
		for (int try = 0; try < 40; try++)
			if (check_lie(&made.small)) {
				lies++;
				break;
			}
		small_end(&made.small);
	}
	printf("%u of %u rounds told a lie\n", lies, (unsigned)ROUNDS);
	assert_true(lies > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_loss), cmocka_unit_test(test_random), cmocka_unit_test(test_lie)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
