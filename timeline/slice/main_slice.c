/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_slice.c - hpct-slice: the records of a selection, as rows or as a smaller run.
 */
#include "timeline/report/coverage.h"
#include "timeline/report/program.h"
#include "timeline/slice/slice.h"
#include "timeline/sum/mpi_ranks.h"

struct choice {
	const char *output;
	bool is_archive;
};

/* Rollups of what a flight recording dropped do not go into a part: windows and contexts do not cut them. */
static void say_thinned(const struct program_call *call, const struct choice *choice)
{
	struct coverage coverage;

	coverage_count(&coverage, call->run, call->select);
	if (coverage.thinned_ns)
		fprintf(stderr,
			"hpct-slice: of what %s dropped (--keep) its sums do not go along: %s has the "
			"records "
			"that are left, and says thinned for the rest; -o OUT --archive of the whole run "
			"keeps "
			"them\n",
			run_path(call->run), choice->output);
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	size_t formulas;
	int rc;

	if (choice->is_archive && !choice->output)
		return error_set(
			error, ERROR_USAGE, "--archive needs a name for the archive, such as -o old.hpct");
	select_formulas(call->select, &formulas);
	if (choice->output && formulas)
		return error_set(error, ERROR_USAGE,
			"--metric 'NAME = FORMULA' adds a column to rows, and -o writes none; leave out one "
			"of both");
	report_take_formulas(call->select, false);
	if (!choice->output)
		return slice_print(call->run, call->select, call->format, stdout, error);
	if (mpi_ranks_count() > 1)
		return error_set(error, ERROR_USAGE,
			"-o writes one run, which ranks cannot share: start hpct-slice without mpirun");
	if (select_depth(call->select) != UINT32_MAX || select_top(call->select) != UINT64_MAX)
		return error_set(
			error, ERROR_USAGE, "-o copies whole records: --depth and --top do not go with it");
	rc = (choice->is_archive ? slice_archive : slice_copy)(
		call->run, call->select, choice->output, error);
	if (rc == 0 && !(choice->is_archive && slice_is_everything(call->run, call->select)))
		say_thinned(call, choice);
	return rc;
}

static const struct program_option options[] = {
	{'o', "output", "OUT", "write a smaller run, such as part.hpct, instead of rows",
		.to = offsetof(struct choice, output)},
	{0, "archive", NULL, "with -o: compressed for keeping; readers read it like any run",
		.to = offsetof(struct choice, is_archive)}};

static const struct program program = {
	.name = "hpct-slice",
	.about = "records of a run, as rows or as a smaller run",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_FORMULAS,
	.refused = "by",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "--time cuts spans at the window, and each stream begins with a zero-weight "
		 "sample of the context that holds there. hpct-import --from tsv reads what --format tsv "
		 "writes.\n"
		 "--metric 'rate = $bytes / ($end_ns - $begin_ns)' adds a column.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	return program_main(&program, &choice, argc, argv);
}
