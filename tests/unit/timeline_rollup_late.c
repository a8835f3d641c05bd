/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_rollup_late.c - streams that come to have rollups of their line in the middle: all are swept for
 * the sums of all streams from their first record on, but where that was given up only from the first span on
 * that makes them have some. What was appended before is not read again, and must not be taken for nothing.
 */
#include "tests/unit/timeline_twin.h"

#include "timeline/sum/state_check.h"

#define STREAMS 3u
#define SPOILER STREAMS
#define UNIT_NS ((uint64_t)1 << 33)
#define END_NS (64 * UNIT_NS)
#define WINDOWS 40

static uint32_t contexts[3];

/* Which of these two readers go by depends on where they meet them: no sums of all streams. */
static void give_up_crowd(struct store_writer *writer)
{
	small_span(writer, SPOILER, 0, 10, STORE_OP_MONITORED, 0, "metric=CPUTIME,name=a");
	small_span(writer, SPOILER, 20, 30, STORE_OP_MONITORED, 0, "metric=CPUTIME,name=b");
}

/* A sample that lies behind the span is appended before it, one that lies between the two last. */
static void append_waiting(struct store_writer *writer, uint32_t stream)
{
	small_span(writer, stream, 0, END_NS, STORE_OP_MONITORED, 0, "metric=CPUTIME");
	small_sample(writer, stream, 40 * UNIT_NS, contexts[1], 0, 7);
	small_span(writer, stream, 5 * UNIT_NS, 6 * UNIT_NS, STORE_OP_SYNC, 0, "");
	small_sample(writer, stream, 20 * UNIT_NS, contexts[2], 0, 7);
}

/* Spans that alone make nobody roll. */
static void append_hidden(struct store_writer *writer, uint32_t stream)
{
	small_span(writer, stream, 0, 9 * UNIT_NS, STORE_OP_MONITORED, 0, "metric=CPUTIME,name=a");
	small_span(
		writer, stream, 12 * UNIT_NS, 30 * UNIT_NS, STORE_OP_MONITORED, 0, "metric=CPUTIME,name=b");
	small_span(writer, stream, 2 * UNIT_NS, 4 * UNIT_NS, STORE_OP_LOST, 0, "");
	small_span(writer, stream, 33 * UNIT_NS, END_NS, STORE_OP_MONITORED, 0, "metric=CPUTIME,switches=1");
	small_span(writer, stream, 34 * UNIT_NS, 50 * UNIT_NS, STORE_OP_BLOCKED, contexts[1], "");
}

/* A thread without samples works where its spans say so. */
static void append_calls(struct store_writer *writer, uint32_t stream)
{
	small_span(writer, stream, 0, END_NS, STORE_OP_MONITORED, 0, "");
	small_span(writer, stream, 3 * UNIT_NS, 4 * UNIT_NS, STORE_OP_MPI, contexts[1], "");
	small_span(writer, stream, 70, UNIT_NS, STORE_OP_SYNC, contexts[2], "");
}

/* Known to builders that the sums of all streams take along. */
static void append_known(struct store_writer *writer, bool is_swept)
{
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		small_span(writer, stream, 5 * UNIT_NS, 7 * UNIT_NS, STORE_OP_UNMONITORED, 0, "");
		if (stream != 2)
			small_sample(writer, stream, 1 + stream, contexts[0], 0, 7);
		if (is_swept)
			store_writer_stream_edit(writer, stream)->complete_ns[STORE_SAMPLES] =
				store_writer_stream_edit(writer, stream)->complete_ns[STORE_SPANS] = UNIT_NS;
	}
}

static void check_windows(const char *path)
{
	const struct run_options no_rollups = {.no_rollups = true};
	struct run *rolled, *naive;
	struct error error = {0};
	uint64_t rollups;

	if (run_open(&rolled, path, NULL, &error) || run_open(&naive, path, &no_rollups, &error) ||
		state_check(rolled, &rollups, &error))
		fail_msg("%s", error.text);
	for (uint32_t i = 0; i < WINDOWS; i++) {
		uint64_t a = small_below(END_NS), b = small_below(END_NS);
		uint32_t stream = i % STREAMS;

		if (i < STREAMS)
			a = 0, b = END_NS;
		twin_check_times(rolled, naive, &stream, 1, a < b ? a : b, a < b ? b : a);
	}
	run_close(rolled);
	run_close(naive);
}

/* `known`: so much is told before the sums of all streams are given up: nothing, some records, some that were
 * swept. */
static void check_late(int known)
{
	struct small_run small;

	small_begin(&small);
	store_writer_metric(small.writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < 3; i++)
		contexts[i] = small_path(small.writer, (char[]){(char)('a' + i), '\0'});
	for (uint32_t stream = 0; stream <= SPOILER; stream++)
		small_cpu(small.writer, stream, 0, END_NS);
	if (known)
		append_known(small.writer, known > 1);
	if (known > 1)
		small_commit(&small);
	give_up_crowd(small.writer);
	append_waiting(small.writer, 0);
	append_hidden(small.writer, 1);
	append_calls(small.writer, 2);
	small_ready(&small);
	check_windows(small.path);
	small_end(&small);
}

static void test_late(void **state)
{
	(void)state;
	small_seed("roll_late");
	store_rollup_prune_none = true;
	for (int known = 0; known < 3; known++)
		check_late(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_late)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
