/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_state_edges.c - windows that begin and end among a thread's samples: what is in force at their
 * edges is told from the rows beside them, or looked for, and is the same. Samples that own nothing, several
 * of one moment, that come late and in buckets of other sizes, that lie before what is monitored, behind what
 * was lost and at the end of the life.
 */
#include "tests/unit/timeline_twin.h"

#define ROUNDS 12
#define STREAMS 12u
#define SAMPLES 1500u
#define WINDOWS 60
#define STEP_NS 1000u
#define PERIOD "metric=CPUTIME,period_ns=1000"

static uint32_t contexts[5];
static uint64_t times[STREAMS][SAMPLES], begins_ns[STREAMS], ends_ns[STREAMS];

/* Steps of about one size, and now and then much larger or smaller ones: so buckets are of several sizes.
 * Some samples are of one moment. */
static void draw_times(uint32_t stream)
{
	uint64_t at_ns = UINT64_C(1) << 34 | small_below(STEP_NS);
	unsigned finer = 0;

	begins_ns[stream] = at_ns;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		if (!small_below(300))
			finer = (unsigned)small_below(30);
		times[stream][i] = at_ns;
		if (small_below(12))
			at_ns += (STEP_NS + small_below(STEP_NS) + (small_below(9) ? 0 : 3 * STEP_NS))
				 << (stream % 3 ? 0 : finer);
	}
	ends_ns[stream] = times[stream][SAMPLES - 1] + small_below(2) * small_below(STEP_NS);
	if (stream % 4 == 1)
		begins_ns[stream] += small_below(SAMPLES * STEP_NS / 2);
}

static void put_sample(struct store_writer *writer, uint32_t stream, uint32_t i)
{
	struct store_record record = {.begin_ns = times[stream][i],
		.end_ns = times[stream][i],
		.amount = 1,
		.context = contexts[small_below(5)],
		.flags = stream % 3 == 2 && !small_below(8) ? 0 : STORE_RECORD_EXTENT};

	store_writer_append(writer, stream, STORE_SAMPLES, &record, 1);
}

/* What is lost, waited or not monitored; two `monitored` in place of one. */
static void put_spans(struct store_writer *writer, uint32_t stream)
{
	static const uint32_t ops[] = {
		STORE_OP_LOST, STORE_OP_UNMONITORED, STORE_OP_SYNC, STORE_OP_BLOCKED, STORE_OP_KERNEL};
	const char *attributes = stream % 2 ? PERIOD : "metric=CPUTIME";
	uint64_t middle_ns = times[stream][SAMPLES / 3] + small_below(STEP_NS);

	if (stream < 6 || stream > 8) {
		small_span(writer, stream, begins_ns[stream], ends_ns[stream], STORE_OP_MONITORED, 0,
			stream < 9 ? attributes : "metric=CPUTIME,switches=1");
		if (stream < 6)
			return;
	} else {
		small_span(writer, stream, times[stream][0], middle_ns, STORE_OP_MONITORED, 0, attributes);
		small_span(writer, stream, middle_ns + 5 * STEP_NS, ends_ns[stream], STORE_OP_MONITORED, 0,
			attributes);
	}
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t at_ns = times[stream][small_below(SAMPLES - 1)] + small_below(STEP_NS);

		small_span(writer, stream, at_ns, at_ns + small_below(4 * STEP_NS), ops[small_below(5)],
			contexts[0], "");
	}
}

/* One in `late` comes when the others have been committed. */
static void put_samples(struct small_run *small, uint32_t late)
{
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		for (uint32_t i = 0; i < SAMPLES; i++)
			if (!late || (i % 97) % late)
				put_sample(small->writer, stream, i);
	small_commit(small);
	for (uint32_t stream = 0; stream < STREAMS && late; stream++)
		for (uint32_t i = 0; i < SAMPLES; i++)
			if (!((i % 97) % late))
				put_sample(small->writer, stream, i);
}

/* Beside a sample, or anywhere. */
static uint64_t draw_edge(uint32_t stream)
{
	const uint64_t *of = times[stream];

	if (!small_below(8))
		return of[0] - STEP_NS + small_below(of[SAMPLES - 1] - of[0] + 2 * STEP_NS);
	if (!small_below(8))
		return begins_ns[stream] + small_below(STEP_NS);
	return of[small_below(SAMPLES)] + small_below(3) - 1 + (small_below(2) ? small_below(STEP_NS) : 0);
}

static void check_windows(const char *path)
{
	const struct run_options no_rollups = {.no_rollups = true};
	struct run *rolled, *naive;
	struct error error = {0};

	if (run_open(&rolled, path, NULL, &error) || run_open(&naive, path, &no_rollups, &error))
		fail_msg("%s", error.text);
	for (uint32_t i = 0; i < WINDOWS * STREAMS; i++) {
		uint32_t stream = i % STREAMS;
		uint64_t a = draw_edge(stream), b = i % 2 ? draw_edge(stream) : a + small_below(20 * STEP_NS);

		twin_check_times(rolled, naive, &stream, 1, a < b ? a : b, a < b ? b : a);
		if (i % 8 == 0) {
			unsigned shift = 9 + (unsigned)small_below(4);

			twin_check_tiles(rolled, naive, stream, shift, a >> shift, 5);
		}
	}
	run_close(rolled);
	run_close(naive);
}

static void check_round(uint32_t late)
{
	struct small_run small;

	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < 5; i++)
		contexts[i] = small_path(small.writer, (char[]){(char)('a' + i), '\0'});
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		draw_times(stream);
		small_cpu(small.writer, stream, times[stream][0] - small_below(2) * small_below(9 * STEP_NS),
			ends_ns[stream]);
		put_spans(small.writer, stream);
	}
	put_samples(&small, late);
	small_ready(&small);
	check_windows(small.path);
	small_end(&small);
}

static void check_rounds(void)
{
	for (uint32_t round = 0; round < ROUNDS; round++)
		check_round(round % 3 ? 5 + round % 7 : 0);
}

static void test_edges(void **unused)
{
	(void)unused;
	small_seed("line_edges");
	check_rounds();
}

/* What is in force at a window's begin lies in a late chunk, which holds nothing of the window itself. */
static void test_late_chunk_ahead(void **unused)
{
	(void)unused;
	small_state = 109159421; /* has it */
	check_rounds();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges), cmocka_unit_test(test_late_chunk_ahead)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
