/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_export.c - hpct-export: a run, or a selection of it, as another tool's file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "formats/choice.h"
#include "formats/left_out.h"
#include "timeline/report/program.h"
#include "timeline/sum/state_metrics.h"

static int put_file(const struct program_call *call, const struct choice *choice,
	struct format_output *output, struct error *error)
{
	FILE *out = output->out = fopen(choice->output, "wx");
	int rc, reason;
	bool is_cut;

	if (!out && errno == EEXIST)
		return error_set(error, ERROR_USAGE,
			"%s exists and is not overwritten; remove it, or choose another name with -o",
			choice->output);
	if (!out)
		return error_set(error, ERROR_IO, "cannot write %s: %s%s", choice->output, strerror(errno),
			error_place(errno));
	errno = 0;
	rc = choice->format->put(call->run, call->select, output, error);
	reason = errno;
	is_cut = ferror(out);
	if (fclose(out) != 0) {
		is_cut = true;
		reason = errno;
	}
	if (is_cut) /* whatever the format said of it: it knows no name */
		rc = error_set(error, ERROR_IO, "cannot write all of %s: %s%s", choice->output,
			strerror(reason ? reason : EIO), error_place(reason));
	if (rc < 0)
		unlink(choice->output);
	return rc;
}

static int say_left_out(const struct program_call *call, const struct format *format,
	struct format_output *output, struct error *error)
{
	struct store_bytes *list = &output->left_out;
	int code = left_out_list(call->run, call->select, format, list, error);

	if (list->size)
		fprintf(stderr, "hpct-export: left out: %.*s\n", (int)list->size, (const char *)list->data);
	return code;
}

/* An empty file explains itself as little as an empty table. */
static int say_nothing(const struct choice *choice, int rc)
{
	if (rc > 0)
		fprintf(stderr, "hpct-export: nothing in this window matches: --to %s wrote no record\n",
			choice->format->name);
	return rc < 0 ? rc : 0;
}

static int put(
	const struct program_call *call, const struct choice *choice, bool is_file, struct error *error)
{
	bool is_directory = choice->format->is_directory;
	struct format_output output = {.out = is_file ? NULL : stdout, .path = choice->output};
	int rc = is_file && !is_directory ? put_file(call, choice, &output, error)
					  : choice->format->put(call->run, call->select, &output, error);
	int code = 0;

	if (rc >= 0 && !is_file && fflush(stdout) != 0)
		rc = error_unwritten(error);
	if (rc >= 0)
		code = say_left_out(call, choice->format, &output, error);
	store_bytes_fini(&output.left_out);
	return code < 0 ? code : rc;
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	char names[FORMAT_TEXT_MAX];
	bool is_file;
	int rc = 0;

	if (!choice->format) {
		format_names(names, FORMAT_PUTS);
		return error_set(error, ERROR_USAGE, "say what to export to: --to %s", names);
	}
	if (select_state_metrics(call->select) && !choice->format->takes_state_metrics) {
		format_names(names, FORMAT_PUTS_STATE_METRICS);
		return error_set(error, ERROR_USAGE,
			"--to %s exports what was recorded; %s are metrics for --to %s", choice->format->name,
			STATE_METRICS_NAMES, names);
	}
	snprintf(names, sizeof names, "--to %s", choice->format->name);
	if (choice->format->refused)
		rc = select_refuse(call->select, choice->format->refused, names, error);
	if (rc < 0)
		return rc;
	is_file = choice->output && strcmp(choice->output, "-") != 0;
	if (choice->format->is_directory && !is_file)
		return error_set(error, ERROR_USAGE, "--to %s writes a directory: name it with -o",
			choice->format->name);
	if (!is_file && choice->format->is_binary && isatty(STDOUT_FILENO))
		return error_set(error, ERROR_USAGE,
			"--to %s is no text for a terminal: name a file with -o, or send it into a pipe",
			choice->format->name);
	rc = put(call, choice, is_file, error);
	return say_nothing(choice, rc);
}

static char notes[FORMAT_TEXT_MAX];

static const struct program_option options[] = {
	{0, "to", "NAME", "the format: one of those below", choice_take_to},
	{'o', "output", "FILE", "write there instead of stdout (-)", .to = offsetof(struct choice, output)}};

static const struct program program = {
	.name = "hpct-export",
	.about = "a run, or a selection of it, as another tool's file",
	.operands = "--to NAME [RUN]",
	.uses = PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_STATE_METRICS,
	.refused = "by top",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = notes,
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	format_help(notes, FORMAT_PUTS);
	return program_main(&program, &choice, argc, argv);
}
