/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_info.c - hpct-info: provenance, streams, coverage, losses, sizes.
 */
#include "timeline/report/program.h"
#include "timeline/stats/info.h"

enum question {
	ABOUT_RUN,
	ABOUT_STREAMS,
	ABOUT_PROCESSES,
	ABOUT_MODULES,
	ABOUT_METRICS,
	ABOUT_SIZES,
	ABOUT_DAMAGE
};

struct choice {
	enum question question;
};

static int choose(struct choice *choice, enum question question, struct error *error)
{
	static const char *const names[] = {[ABOUT_STREAMS] = "--streams",
		[ABOUT_PROCESSES] = "--processes",
		[ABOUT_MODULES] = "--modules",
		[ABOUT_METRICS] = "--metrics",
		[ABOUT_SIZES] = "--sizes",
		[ABOUT_DAMAGE] = "--check"};

	if (choice->question != ABOUT_RUN && choice->question != question)
		return error_set(error, ERROR_USAGE, "%s and %s are two answers: ask for one of them",
			names[choice->question], names[question]);
	choice->question = question;
	return 0;
}

static int take_streams(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_STREAMS, error);
}

static int take_processes(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_PROCESSES, error);
}

static int take_modules(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_MODULES, error);
}

static int take_metrics(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_METRICS, error);
}

static int take_sizes(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_SIZES, error);
}

static int take_check(void *own, const char *value, struct error *error)
{
	(void)value;
	return choose(own, ABOUT_DAMAGE, error);
}

/* Everything. A run without streams is none of the selector's, but has something to say. */
static int select_all(struct program_call *call, struct error *error)
{
	int rc = select_new(&call->select, error);

	if (rc == 0)
		rc = select_bind(call->select, call->run, error);
	return rc == -ERROR_EMPTY ? 0 : rc;
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	int rc = select_all(call, error);

	if (rc < 0)
		return rc;
	switch (choice->question) {
	case ABOUT_STREAMS:
		return info_print_streams(call->run, call->select, call->format, stdout, error);
	case ABOUT_PROCESSES:
		return info_print_processes(call->run, call->format, stdout, error);
	case ABOUT_MODULES:
		return info_print_modules(call->run, call->format, stdout, error);
	case ABOUT_METRICS:
		return info_print_metrics(call->run, call->select, call->format, stdout, error);
	case ABOUT_SIZES:
		return info_print_sizes(call->run, call->format, stdout, error);
	case ABOUT_DAMAGE:
		return info_check(call->run, call->format, stdout, error);
	default:
		return info_print(call->run, call->select, call->format, stdout, error);
	}
}

static const struct program_option options[] = {{0, "streams", NULL, "one row for each stream", take_streams},
	{0, "processes", NULL, "one row for each process: who started it, command, exit code",
		take_processes},
	{0, "modules", NULL, "one row for each module", take_modules},
	{0, "metrics", NULL, "one row for each metric: its unit, and what it is read off", take_metrics},
	{0, "sizes", NULL, "size of each part, and how much of the files is payload", take_sizes},
	{0, "check", NULL, "read and verify everything; exit code 4 if it is damaged", take_check}};

static const struct program program = {
	.name = "hpct-info",
	.about = "facts about a run: provenance, streams, coverage, losses, sizes",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_RUN,
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	return program_main(&program, &choice, argc, argv);
}
