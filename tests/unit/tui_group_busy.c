/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_group_busy.c - the union of a device's queues that is stopped in the middle is not complete, and is the
 * same in the end as one that was not. A process of many threads is what its threads are together: exact from
 * the sums of all streams, about so (and marked as that) where only longer times or a choice of threads are
 * read. A device of many spans without sums of its union is about so, too.
 */
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "tests/unit/timeline_small_run.h"
#include "timeline/base/progress.h"
#include "timeline/sum/all_streams_columns.h"
#include "tui/timeline/group_busy.h"

#define WIDTH 40u
#define FEW 8u /* columns as wide as the sums that a short run has */

static int make(void **state)
{
	struct simulate_options options = {
		.run = run_a, .shape = "gpu", .streams = 4, .records = 600000, .seed = 5};
	struct error error;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(run_a, sizeof(run_a), "%s/a.hpct", directory);
	return simulate_run(&options, &error);
}

static bool never(void *own, const char *what, uint64_t done, uint64_t all)
{
	(void)what, (void)done, (void)all;
	++*(int *)own;
	return false;
}

static void lay(struct session *session, uint32_t width)
{
	struct error error;

	assert_int_equal(frame_renew(&session->frame, &error), 0);
	assert_int_equal(frame_lay(&session->frame, run_begin_ns(session->run), run_end_ns(session->run),
				 width, &error),
		0);
}

static void step_to_end(struct session *session, uint32_t node)
{
	struct error error;
	bool is_done = false;

	while (!is_done)
		assert_int_equal(group_busy_step(&session->frame, &session->rows, node, &is_done, &error), 0);
}

static void test_stopped(void **state)
{
	struct run_options options = {
		.no_cache = true, .no_rollups = true}; /* a union from rollups is quick */
	float whole[WIDTH + 1] = {0};
	struct session *session;
	struct run *run;
	uint32_t device = 0, columns;
	struct error error;
	bool is_done = false;
	int asked = 0;

	(void)state;
	assert_int_equal(run_open(&run, run_a, &options, &error), 0);
	assert_int_equal(session_open(&session, run, NULL, (struct session_looks){0}, &error), 0);
	while (device < session->rows.node_count && session->rows.nodes[device].kind != ROWS_DEVICE)
		device++;
	assert_true(device < session->rows.node_count);
	lay(session, WIDTH);
	step_to_end(session, device);
	columns = session->frame.columns.count;
	memcpy(whole, group_busy_of(&session->frame, &session->rows, device), columns * sizeof(*whole));

	lay(session, WIDTH);
	assert_false(group_busy_is_uniting(&session->frame, &session->rows, device));
	while (!group_busy_is_uniting(&session->frame, &session->rows, device))
		assert_int_equal(
			group_busy_step(&session->frame, &session->rows, device, &is_done, &error), 0);
	progress_watch(never, &asked, 0);
	assert_true(group_busy_step(&session->frame, &session->rows, device, &is_done, &error) < 0);
	progress_watch(NULL, NULL, 0);
	assert_int_equal(asked, 1);
	assert_null(group_busy_of(&session->frame, &session->rows, device));
	step_to_end(session, device);
	assert_memory_equal(
		whole, group_busy_of(&session->frame, &session->rows, device), columns * sizeof(*whole));
	session_close(session);
	run_close(run);
}

/* ---- a device that is read in part ---- */

#define PERIOD_NS 1000u
#define SECOND_NS 200u /* the second queue's span begins so long after the first one's */
#define QUEUES 2u

/* What both queues do in each period: long overlaps, growing; and for a while in the middle nothing. */
static bool is_idle(uint32_t period, uint32_t periods)
{
	return period >= periods / 2 && period < periods / 2 + periods / 50;
}

static uint64_t length_of(uint32_t queue, uint32_t period, uint32_t periods)
{
	return (queue ? 300 : 400) + (uint64_t)300 * period / periods;
}

/* One queue behind the other, so that the store keeps no sums of their union. */
static void open_device(struct small_run *small, struct session **session, uint32_t periods)
{
	uint64_t end_ns = (uint64_t)periods * PERIOD_NS;
	struct error error;

	small_begin(small);
	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		small_gpu(small->writer, queue, 0, end_ns);
		small_span(small->writer, queue, 0, end_ns, STORE_OP_MONITORED, 0, "");
		for (uint32_t i = 0; i < periods; i++) {
			uint64_t at_ns = (uint64_t)i * PERIOD_NS + queue * SECOND_NS;

			if (!is_idle(i, periods))
				small_span(small->writer, queue, at_ns, at_ns + length_of(queue, i, periods),
					STORE_OP_KERNEL, 0, "");
		}
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			store_writer_stream_edit(small->writer, queue)->complete_ns[track] = end_ns;
		small_commit(small);
	}
	small_ready(small);
	assert_int_equal(session_open(session, small->run, NULL, (struct session_looks){0}, &error), 0);
}

static uint64_t overlap_ns(uint64_t begin_ns, uint64_t end_ns, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t from = begin_ns > from_ns ? begin_ns : from_ns,
		 until = end_ns < until_ns ? end_ns : until_ns;

	return until > from ? until - from : 0;
}

/* The twin: the union of a column, period by period, and the sum of both queues. */
static uint64_t united_ns(uint32_t periods, uint64_t from_ns, uint64_t until_ns, uint64_t *sum_ns)
{
	uint64_t busy_ns = 0;

	*sum_ns = 0;
	for (uint32_t i = 0; i < periods; i++) {
		uint64_t at_ns = (uint64_t)i * PERIOD_NS, a_ns = at_ns + length_of(0, i, periods),
			 b_ns = at_ns + SECOND_NS + length_of(1, i, periods);

		if (is_idle(i, periods))
			continue;
		busy_ns += overlap_ns(at_ns, a_ns > b_ns ? a_ns : b_ns, from_ns, until_ns);
		*sum_ns += overlap_ns(at_ns, a_ns, from_ns, until_ns) +
			   overlap_ns(at_ns + SECOND_NS, b_ns, from_ns, until_ns);
	}
	return busy_ns;
}

/* Exact, or within a hundredth where the column is alike all over; never outside of what the sum allows.
 * Returns how many columns only the sum held. */
static uint32_t check_union(struct session *session, uint32_t device, uint32_t periods, bool is_about)
{
	const float *shares = group_busy_of(&session->frame, &session->rows, device);
	uint32_t held = 0;

	assert_non_null(shares);
	for (uint32_t c = 0; c < session->frame.columns.count; c++) {
		uint64_t begin_ns = frame_column_ns(&session->frame, c), sum_ns;
		double length_ns = (double)frame_column_length(&session->frame, c);
		double share = (double)united_ns(periods, begin_ns, begin_ns + (uint64_t)length_ns, &sum_ns) /
			       length_ns;
		double sum = (double)sum_ns / length_ns, error = share - (double)shares[c];

		assert_true((double)shares[c] >= sum / QUEUES - 1e-6 && (double)shares[c] <= sum + 1e-6);
		if (is_about && sum < 0.7 && sum > 0) /* in part idle */
			held += (double)shares[c] < sum / QUEUES + 1e-6;
		else
			assert_true(error < (is_about ? 0.01 : 1e-6) && error > (is_about ? -0.01 : -1e-6));
	}
	return held;
}

static void test_device(void **state, uint32_t periods, bool is_about)
{
	struct session *session;
	struct small_run small;
	uint32_t device = 0;

	(void)state;
	open_device(&small, &session, periods);
	while (device < session->rows.node_count && session->rows.nodes[device].kind != ROWS_DEVICE)
		device++;
	assert_true(device < session->rows.node_count);
	lay(session, WIDTH);
	step_to_end(session, device);
	assert_int_equal(group_busy_is_about(&session->frame, &session->rows, device), is_about);
	assert_int_equal(check_union(session, device, periods, is_about) > 0, is_about);
	session_close(session);
	small_end(&small);
}

static void test_middles(void **state)
{
	test_device(state, (uint32_t)GROUP_BUSY_UNION_SPANS / QUEUES * 12 / 10, true);
}

static void test_union(void **state)
{
	test_device(state, (uint32_t)GROUP_BUSY_UNION_SPANS / QUEUES / 10, false);
}

/* ---- threads ---- */

static void open_threads(struct session **session, struct run **run, unsigned streams, unsigned records)
{
	struct run_options options = {.no_cache = true};
	char path[64];
	struct simulate_options make = {
		.run = path, .shape = "cpu", .streams = streams, .records = records, .seed = 5};
	struct error error;

	snprintf(path, sizeof(path), "%s/threads-%u.hpct", directory, streams);
	assert_int_equal(simulate_run(&make, &error), 0);
	assert_int_equal(run_open(run, path, &options, &error), 0);
	assert_int_equal(session_open(session, *run, NULL, (struct session_looks){0}, &error), 0);
	assert_int_equal((*session)->rows.nodes[0].kind, ROWS_PROCESS);
}

/* Every thread, one by one. */
static void add_all(struct session *session, uint64_t *busy_ns, uint64_t *there_ns)
{
	struct error error;

	memset(busy_ns, 0, WIDTH * sizeof(*busy_ns));
	memset(there_ns, 0, WIDTH * sizeof(*there_ns));
	for (uint32_t i = 0; i < run_stream_count(session->run); i++)
		assert_int_equal(frame_busy_read(&session->frame, i, busy_ns, there_ns, &error), 0);
}

static void check_shares(struct session *session, double error_most)
{
	uint64_t busy_ns[WIDTH], there_ns[WIDTH];
	const float *shares;

	step_to_end(session, 0);
	shares = group_busy_of(&session->frame, &session->rows, 0);
	assert_non_null(shares);
	add_all(session, busy_ns, there_ns);
	for (uint32_t c = 0; c < session->frame.columns.count; c++) {
		double share = there_ns[c] ? (double)busy_ns[c] / (double)there_ns[c] : -1;
		double error = share - (double)shares[c];

		/* a column that is almost empty has no share to speak of */
		if (there_ns[c] >
			frame_column_length(&session->frame, c) * run_stream_count(session->run) / 4)
			assert_true(error <= error_most && error >= -error_most);
	}
}

/* Stored sums of all streams: the same as each stream's, and the group is made of them. */
static void test_all_streams(void **state)
{
	struct all_streams_column columns[WIDTH];
	uint64_t busy_ns[WIDTH], there_ns[WIDTH], sum_ns = 0, twin_ns = 0;
	struct session *session;
	struct frame *frame;
	bool is_spread;
	struct run *run;
	struct error error;

	(void)state;
	open_threads(&session, &run, 2000, 200000);
	frame = &session->frame;
	lay(session, FEW);
	assert_int_equal(all_streams_columns(run, frame->columns.edges, frame->columns.shift,
				 frame->columns.count, columns, &is_spread, &error),
		1);
	assert_false(is_spread);
	add_all(session, busy_ns, there_ns);
	for (uint32_t c = 0; c < frame->columns.count; c++) {
		assert_int_equal(columns[c].busy_ns, busy_ns[c]);
		assert_int_equal(columns[c].there_ns, there_ns[c]);
	}
	check_shares(session, 1e-6);
	assert_false(group_busy_is_about(frame, &session->rows, 0));

	/* columns that are narrower than the sums: spread, and nothing is lost */
	lay(session, WIDTH);
	assert_int_equal(all_streams_columns(run, frame->columns.edges, frame->columns.shift,
				 frame->columns.count, columns, &is_spread, &error),
		1);
	assert_true(is_spread);
	add_all(session, busy_ns, there_ns);
	for (uint32_t c = 0; c < frame->columns.count; c++)
		sum_ns += columns[c].busy_ns, twin_ns += busy_ns[c];
	assert_true(sum_ns > twin_ns / 100 * 98 && sum_ns < twin_ns / 100 * 102);
	step_to_end(session, 0);
	assert_true(group_busy_is_about(frame, &session->rows, 0));
	session_close(session);
	run_close(run);
}

/* Dense threads without such sums (they were written one behind the other): in longer times. */
static void test_dense(void **state)
{
	struct session *session;
	struct run *run;

	(void)state;
	open_threads(&session, &run, 24, 24 * 24000);
	lay(session, WIDTH);
	assert_true(frame_is_dense(&session->frame, 0));
	check_shares(session, 0.1);
	assert_true(group_busy_is_about(&session->frame, &session->rows, 0));
	session_close(session);
	run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped), cmocka_unit_test(test_all_streams),
		cmocka_unit_test(test_dense), cmocka_unit_test(test_middles), cmocka_unit_test(test_union)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
