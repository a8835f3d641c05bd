/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_asked.h - a trace of a few records, a question about it, and what both need:
 *
 *   asked_begin(), trace_...() into asked.small.writer, asked_ready(), the operator, asked_row() ...,
 * asked_end()
 */
#ifndef TESTS_BLAME_ASKED_H
#define TESTS_BLAME_ASKED_H

#include "tests/unit/blame_trace.h"

#include "blame/idle/idle.h"

/* A question about all streams of a trace, of its first 100 ns unless the test says otherwise. */
struct asked {
	struct small_run small;
	struct idle_question question;
	struct idle idle; /* the answer, where the question is that of idle_sweep() */
	struct arena arena;
	struct error error;
	int result;
	uint32_t streams[16];
};

/* From here on asked->small.writer takes the trace. */
static inline void asked_begin(struct asked *asked)
{
	*asked = (struct asked){.question.end_ns = 100};
	small_begin(&asked->small);
}

/* The trace is complete, or more has come to it. */
static inline void asked_ready(struct asked *asked)
{
	struct idle_question *question = &asked->question;

	if (!asked->small.run)
		small_ready(&asked->small);
	question->stream_count = run_stream_count(asked->small.run);
	for (uint32_t i = 0; i < question->stream_count; i++)
		asked->streams[i] = i;
	question->streams = asked->streams;
	if (!question->waits)
		assert_int_equal(
			wait_functions_new(&question->waits, asked->small.run, NULL, &asked->error), 0);
}

static inline void asked_end(struct asked *asked)
{
	wait_functions_free(asked->question.waits);
	arena_fini(&asked->arena);
	small_end(&asked->small);
}

/* The time that the path has among the shares; 0: none. */
static inline uint64_t asked_row(
	struct asked *asked, const struct exact_share *shares, size_t count, const char *path)
{
	struct exact_share_rows rows;

	assert_int_equal(exact_share_rows_make(&rows, asked->small.run, shares, count, NULL, ROW_KEY_PATH,
				 UINT32_MAX, NULL, &asked->arena, &asked->error),
		0);
	for (size_t i = 0; i < rows.count; i++)
		if (strcmp(rows.rows[i].key, path) == 0)
			return rows.rows[i].time_ns;
	return 0;
}

#endif
