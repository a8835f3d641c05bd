/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_advise.c - hpct-advise: what would make GPU kernels faster, from samples of their instructions.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "blame/advise/advise_print.h"
#include "blame/advise/annotate.h"
#include "blame/advise/compare_print.h"
#include "timeline/names/names_fill.h"
#include "timeline/report/coverage.h"

#define BINARIES_MAX 64u
#define ANNOTATE_WIDTH 110u

struct ask {
	const char *kernel, *before, *after;
	const char *binaries[BINARIES_MAX];
	size_t binary_count;
	bool is_annotated;
};

static int take_binary(void *own, const char *value, struct error *error)
{
	struct ask *ask = own;

	if (ask->binary_count == BINARIES_MAX)
		return error_set(error, ERROR_USAGE, "--binary: %u files are the most", BINARIES_MAX);
	ask->binaries[ask->binary_count++] = value;
	return 0;
}

static int annotate_print(struct program_call *call, const struct kernels *kernels, struct error *error)
{
	struct report *report;
	int rc;

	if (call->format == REPORT_TABLE)
		return annotate_text(stdout, kernels, ANNOTATE_WIDTH, error);
	rc = report_open(&report, stdout, call->format, "hpct-advise-annotate", annotate_columns,
		annotate_column_count, error);
	if (rc)
		return rc;
	annotate_rows(report, kernels);
	return report_close(report, error);
}

/* ---- --before A --after B: A is the call's run ---- */

static void prepare(struct program_call *call)
{
	const struct ask *ask = call->own;

	/* Of one alone the other is asked for, and no other run is looked for. */
	if (!call->run_path)
		call->run_path = ask->before ? ask->before : ask->after;
}

static int compare_check(const struct program_call *call, struct error *error)
{
	const struct ask *ask = call->own;

	if (!ask->before || !ask->after)
		return error_set(error, ERROR_USAGE,
			"--before RUN --after RUN: a comparison needs both, before and after the change");
	if (call->run_path != ask->before)
		return error_set(error, ERROR_USAGE,
			"%s is one run too many: --before and --after name the runs", call->run_path);
	if (ask->is_annotated)
		return error_set(
			error, ERROR_USAGE, "--annotate shows one run: leave out --before and --after");
	return 0;
}

static int after_open(
	struct run **run, struct kernels **kernels, struct program_call *call, struct error *error)
{
	const struct ask *ask = call->own;
	struct kernels_options options = {ask->kernel, ask->binaries, ask->binary_count, true};
	int rc = names_run_open(run, ask->after, &call->run_options, error);

	if (rc == 0)
		rc = select_bind(call->select, *run, error);
	return rc ? rc : kernels_open(kernels, *run, call->select, &options, error);
}

static int compare(struct program_call *call, struct error *error)
{
	const struct ask *ask = call->own;
	struct kernels_options options = {ask->kernel, ask->binaries, ask->binary_count, true};
	struct kernels *before = NULL, *after = NULL;
	struct run *run = NULL;
	int rc = compare_check(call, error);

	if (rc == 0)
		rc = kernels_open(&before, call->run, call->select, &options, error);
	if (rc == 0)
		rc = after_open(&run, &after, call, error);
	if (rc == 0)
		rc = compare_print(call, before, after, error);
	kernels_close(before);
	kernels_close(after);
	if (run)
		run_close(run);
	return rc;
}

static int work(struct program_call *call, struct error *error)
{
	const struct ask *ask = call->own;
	struct kernels_options options = {ask->kernel, ask->binaries, ask->binary_count, false};
	struct kernels *kernels = NULL;
	struct run_gains *gains = NULL;
	int rc;

	if (ask->before || ask->after)
		return compare(call, error);
	rc = kernels_open(&kernels, call->run, call->select, &options, error);
	if (rc == 0 && !ask->is_annotated && advise_top(call))
		rc = run_gains_new(&gains, call->run, call->select, kernels, error);
	if (rc == 0)
		rc = ask->is_annotated ? annotate_print(call, kernels, error)
				       : advise_print(call, kernels, gains, error);
	run_gains_free(gains);
	kernels_close(kernels);
	return rc;
}

static const struct program_option options[] = {
	{0, "kernel", "GLOB", "only kernels with such a name", .to = offsetof(struct ask, kernel)},
	{0, "binary", "FILE", "a GPU binary that the run does not keep; may be repeated", take_binary},
	{0, "annotate", NULL,
		"the instructions with their samples, and what they wait for, instead of advice",
		.to = offsetof(struct ask, is_annotated)},
	{0, "before", "RUN", "with --after: the run before a change; its advice beside what the change gave",
		.to = offsetof(struct ask, before)},
	{0, "after", "RUN", "the run after the change", .to = offsetof(struct ask, after)}};

static const struct program program = {
	.name = "hpct-advise",
	.about = "says what would make GPU kernels faster",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_ROW_FORMULAS,
	.refused = "metric op by depth min",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "It reads samples of instructions: record them with hpct-record -e gpu=nvidia,pc.\n"
		 "Kernels come by time, the five best pieces of advice for each (--top). An estimate is what "
		 "a complete "
		 "change would gain; its interval tells how little or much that may be.\n",
	.prepare = prepare,
	.work = work,
};

int main(int argc, char **argv)
{
	struct ask ask = {0};

	return program_main(&program, &ask, argc, argv);
}
