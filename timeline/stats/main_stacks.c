/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_stacks.c - hpct-stacks: each stream's state and call path at one moment, of a run or of processes that
 * run now.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/report/program.h"
#include "timeline/stats/stacks.h"
#include "timeline/stats/stacks_now.h"

#define EXIT_NOW 4 /* there is no run: hpct-record has said why */

struct choice {
	const char *at;
	const char *pids; /* never set: main takes it out of the command line */
};

/* The option that was given, in a sentence about the one that it became. */
static void name_option(struct error *error)
{
	char text[sizeof error->text];

	if (strncmp(error->text, "--time", 6))
		return;
	snprintf(text, sizeof text, "--at%.*s", (int)(sizeof text - 5), error->text + 6);
	strcpy(error->text, text);
}

/* The moment is a window that begins there, be it behind the run's end: one syntax of time for all. */
static int find_moment(struct program_call *call, const char *at, uint64_t *time_ns, struct error *error)
{
	char *window;
	int rc;

	if (!at) {
		*time_ns = run_end_ns(call->run) - (run_end_ns(call->run) > run_begin_ns(call->run));
		return 0;
	}
	if (!*at || strstr(at, ".."))
		return error_set(error, ERROR_USAGE,
			"--at '%s': write one moment: 1.5s, 200ms, -10s (from the end), "
			"@MARK, 14:32:05 or an ISO 8601 date",
			at);
	window = arena_printf(&call->arena, "%s..+1ns", at);
	if (!window)
		return error_memory(error);
	rc = select_option(call->select, "time", window, error);
	if (rc == 0)
		rc = select_bind(call->select, call->run, error);
	if (rc < 0)
		name_option(error);
	*time_ns = select_begin_ns(call->select);
	return rc;
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	uint64_t time_ns = 0;
	int rc = find_moment(call, choice->at, &time_ns, error);

	return rc < 0 ? rc : stacks_print(call->run, call->select, time_ns, call->format, stdout, error);
}

static const struct program_option options[] = {
	{0, "at", "T", "the moment, like A of --time; default: the last one",
		.to = offsetof(struct choice, at)},
	{'p', "pid", "PID,...", "instead of a run: what these processes do now",
		.to = offsetof(struct choice, pids)}};

static const struct program program = {
	.name = "hpct-stacks",
	.about = "each stream's state and call path at one moment",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_ROW_FORMULAS,
	.refused = "time context op metric min by top",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.work = work,
};

/* The run of a look takes the place of the operand. */
static int look(const char *pids, int argc, char **argv)
{
	struct choice choice = {0};
	char run[4096], **words = calloc((size_t)argc + 2, sizeof *words);
	struct error error = {.text = ""};
	int code;

	if (stacks_now_pids_check(pids, &error)) {
		free(words);
		return error_report(&error, "hpct-stacks");
	}
	if (!words || stacks_now_record(pids, run, sizeof run, &error) < 0) {
		if (error.text[0])
			fprintf(stderr, "hpct-stacks: %s\n", error.text);
		free(words);
		return EXIT_NOW;
	}
	memcpy(words, argv, (size_t)argc * sizeof *words);
	words[argc] = run;
	setenv("HPCT_PAGER", "", 1); /* the run is removed behind the report */
	code = program_main(&program, &choice, argc + 1, words);
	stacks_now_remove(run);
	free(words);
	return code;
}

int main(int argc, char **argv)
{
	struct choice choice = {0};
	const char *pids = stacks_now_pids(&argc, argv);

	return pids ? look(pids, argc, argv) : program_main(&program, &choice, argc, argv);
}
