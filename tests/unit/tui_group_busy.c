/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_group_busy.c - the union of a device's queues that is stopped in the middle is not complete, and is the
 * same in the end as one that was not.
 */
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "timeline/base/progress.h"
#include "tui/timeline/group_busy.h"

#define WIDTH 40u

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

static void lay(struct session *session)
{
	struct error error;

	assert_int_equal(frame_renew(&session->frame, &error), 0);
	assert_int_equal(frame_lay(&session->frame, run_begin_ns(session->run), run_end_ns(session->run),
				 WIDTH, &error),
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
	lay(session);
	step_to_end(session, device);
	columns = session->frame.columns.count;
	memcpy(whole, group_busy_of(&session->frame, &session->rows, device), columns * sizeof(*whole));

	lay(session);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
