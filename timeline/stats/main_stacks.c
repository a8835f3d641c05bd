/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_stacks.c - hpct-stacks: each stream's state and call path at one moment.
 */
#include <stdio.h>
#include <string.h>

#include "timeline/report/program.h"
#include "timeline/stats/stacks.h"

struct choice {
	const char *at;
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

static const struct program_option options[] = {{0, "at", "T",
	"the moment, like A of --time; default: the last one", .to = offsetof(struct choice, at)}};

static const struct program program = {
	.name = "hpct-stacks",
	.about = "each stream's state and call path at one moment",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN,
	.refused = "time context op metric min by top",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	return program_main(&program, &choice, argc, argv);
}
