/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_parallel_sum.c - processes that share a sum, where one of them fails: the others have more rows
 * than a pipe holds, and nobody reads them.
 */
#include "tests/unit/timeline_small_run.h"

#include <sys/wait.h>

#include "timeline/base/progress.h"
#include "timeline/sum/parallel_sum.h"

#define STREAMS 4u
#define ROWS 20000u /* of each stream; a pipe holds some 2000 */
#define PATIENCE_S 240

struct wish {
	uint32_t fails; /* the stream that cannot be added; UINT32_MAX: none */
};

static int add_rows(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	const struct wish *wish = own;
	int code = 0;

	(void)begin_ns, (void)end_ns;
	if (stream == wish->fails)
		return error_set(error, ERROR_RUN, "stream %u cannot be read", stream);
	for (uint32_t i = 0; i < ROWS && !code; i++)
		code = window_put_time(window,
			&(struct window_time){
				.context = stream * ROWS + i, .op = STORE_OP_NONE, .time_ns = 1},
			error);
	return code;
}

static void make(struct small_run *small)
{
	small_begin(small);
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t stream = small_cpu(small->writer, i, 1, 1000);

		small_span(small->writer, stream, 1, 1000, STORE_OP_MONITORED, 0, "");
	}
	small_ready(small);
	run_close(small->run);
}

/* Rows, or the error's code. */
static long ask_by(parallel_sum_add *add, const struct small_run *small, uint32_t fails, struct error *error)
{
	const struct run_options options = {.jobs = STREAMS};
	const uint32_t streams[STREAMS] = {0, 1, 2, 3};
	struct wish wish = {fails};
	struct window *window;
	struct run *run;
	size_t rows = 0;
	int code;

	if (run_open(&run, small->path, &options, error) || window_new(&window, run, error))
		fail_msg("%s", error->text);
	code = parallel_sum_streams(window, run, streams, STREAMS, 0, 1000, add, &wish, error);
	window_times(window, &rows);
	window_free(window);
	run_close(run);
	return code ? code : (long)rows;
}

static long ask(const struct small_run *small, uint32_t fails, struct error *error)
{
	return ask_by(add_rows, small, fails, error);
}

static void test_failures(void **state)
{
	struct error error = {0};
	struct small_run small;
	char text[40];

	(void)state;
	make(&small);
	alarm(PATIENCE_S); /* who waits for a process that waits dies */
	assert_int_equal(ask(&small, UINT32_MAX, &error), STREAMS * ROWS);
	for (uint32_t fails = 0; fails < STREAMS; fails++) {
		assert_int_equal(ask(&small, fails, &error), -ERROR_RUN);
		snprintf(text, sizeof text, "stream %u cannot be read", fails);
		assert_string_equal(error.text, text);
	}
	alarm(0);
	small.run = NULL;
	small_remove(small.path);
}

/* ---- who watches ---- */

static int asked_by; /* end of a pipe: pids of who asked */

static int add_asking(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	if (!progress_at("adding", stream, STREAMS))
		return progress_refuse(error);
	return add_rows(own, window, stream, begin_ns, end_ns, error);
}

/* Wants no more at the n-th question, counted down. */
static bool watch(void *own, const char *what, uint64_t done, uint64_t all)
{
	pid_t pid = getpid();
	int *left = own;

	assert_non_null(what);
	assert_true(done <= all);
	assert_int_equal(write(asked_by, &pid, sizeof pid), sizeof pid);
	return --*left != 0;
}

/* Only the process that a terminal belongs to asks; and when nothing is wanted any more, no child is left. */
static void test_watch(void **state)
{
	struct error error = {0};
	struct small_run small;
	int ends[2], left;
	pid_t pid;

	(void)state;
	make(&small);
	assert_int_equal(pipe(ends), 0);
	asked_by = ends[1];
	alarm(PATIENCE_S);
	for (int stop = 0; stop < 3; stop++) {
		left = stop;
		progress_watch(watch, &left, 0);
		assert_int_equal(ask_by(add_asking, &small, UINT32_MAX, &error),
			stop ? -ERROR_IO : (long)(STREAMS * ROWS));
		progress_watch(NULL, NULL, 0);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none */
	}
	alarm(0);
	close(ends[1]);
	while (read(ends[0], &pid, sizeof pid) == sizeof pid)
		assert_int_equal(pid, getpid());
	close(ends[0]);
	small.run = NULL;
	small_remove(small.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures), cmocka_unit_test(test_watch)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
