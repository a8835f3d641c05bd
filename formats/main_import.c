/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_import.c - hpct-import: another tool's file as a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/packed_file.h"
#include "formats/choice.h"
#include "timeline/report/program.h"

/* rows.tsv and rows.tsv.gz become rows.hpct here; standard input import.hpct. */
static const char *run_name(const char *input, struct arena *arena)
{
	const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
	size_t size = strlen(base);
	const char *dot;

	if (size > 3 && strcmp(base + size - 3, ".gz") == 0)
		size -= 3;
	else if (size > 4 && strcmp(base + size - 4, ".zst") == 0)
		size -= 4;
	dot = memrchr(base, '.', size);
	size = dot && dot > base ? (size_t)(dot - base) : size;

	if (strcmp(input, "-") == 0)
		return "import" STORE_RUN_SUFFIX;
	return arena_printf(arena, "%.*s" STORE_RUN_SUFFIX, (int)size, base);
}

/* A format that is named needs no look at the content, for which a slow pipe would have to be waited. */
static int find_format(
	struct packed_file *file, const char *name, const struct format **format, struct error *error)
{
	char names[FORMAT_TEXT_MAX];
	const uint8_t *head;
	size_t size;

	if (*format)
		return 0;
	head = packed_file_head(file, &size);
	*format = format_guess(head, size);
	if (*format)
		return 0;
	format_names(names, FORMAT_TAKES);
	return error_set(
		error, ERROR_USAGE, "%s looks like no format that is known here: say --from %s", name, names);
}

/* Wall clock; all-zero: all is wanted. */
struct bounds {
	uint64_t begin_ns, end_ns;
};

/* The sentence of what is kept says what is damaged, too, and names --into's run. path: NULL for a stream. */
static int take(const struct choice *choice, struct packed_file *file, FILE *in, const char *name,
	const char *path, const char *output, const struct bounds *bounds, struct error *error)
{
	struct format_input input = {.in = in,
		.name = name,
		.path = path,
		.fd = packed_file_fd(file),
		.file = file,
		.finds_names = true,
		.begin_ns = bounds->begin_ns,
		.end_ns = bounds->end_ns,
		.binaries = choice->binaries,
		.binary_count = choice->binary_count};
	const struct format *format = choice->format;
	int rc = find_format(file, name, &format, error);
	char text[sizeof error->text];
	int damage;

	if (rc == 0 && choice->binary_count && !format->takes_binaries)
		rc = error_set(
			error, ERROR_USAGE, "--binary is of gpu-samples alone: %s is %s", name, format->name);
	if (rc == 0)
		rc = format->take(&input, output, error);
	if (input.left_out.size > 0 && (rc == 0 || input.is_kept))
		fprintf(stderr, "hpct-import: left out: %.*s\n", (int)input.left_out.size,
			(const char *)input.left_out.data);
	store_bytes_fini(&input.left_out);
	damage = packed_file_close(file, name, rc < 0 && input.is_kept ? NULL : error);
	if (damage && rc == 0) { /* the format had no use for what is missing, or did not see it */
		snprintf(text, sizeof text, "%s", error->text);
		error_set(error, ERROR_RUN, "%s; what was whole is in %s", text,
			choice->into ? choice->into : output);
	}
	return damage ? damage : rc;
}

/* ---- into a run that is there ---- */

#define SERIES_MOST 1000u

/* Which times are the run's, on the wall clock. */
static int bounds_find(
	struct program_call *call, const char *path, struct bounds *bounds, struct error *error)
{
	struct run *run;
	int rc = run_open(&run, path, &call->run_options, error);
	uint64_t wall_ns;

	if (rc < 0)
		return rc;
	wall_ns = bounds->begin_ns = run_wall_ns(run);
	bounds->end_ns = wall_ns + (run_end_ns(run) - run_origin_ns(run));
	run_close(run);
	return wall_ns ? 0
		       : error_set(error, ERROR_USAGE,
				 "%s does not say when it was recorded: series cannot be laid beside it",
				 path);
}

/* Its stores are read in the order of their names: the run's own are to come first, whose clock counts. */
static int store_move(const char *from, const char *run, struct arena *arena, struct error *error)
{
	const char *store = arena_printf(arena, "%s/import" STORE_SUFFIX, from), *to;
	int rc = -1;

	for (unsigned i = 1; store && i <= SERIES_MOST && rc; i++) {
		to = arena_printf(arena, "%s/zz-series-%u" STORE_SUFFIX, run, i);
		rc = to ? link(store, to) : -1;
		if (rc && (!to || errno != EEXIST))
			break;
	}
	if (rc)
		rc = error_set(error, ERROR_IO, "cannot add the series to %s: %s", run, strerror(errno));
	if (store)
		unlink(store);
	if (rmdir(from) && rc == 0)
		rc = error_set(error, ERROR_IO, "cannot remove %s: %s", from, strerror(errno));
	return rc;
}

static int take_into(
	struct program_call *call, struct packed_file *file, FILE *in, const char *name, struct error *error)
{
	struct choice choice = *(const struct choice *)call->own;
	const char *made =
		arena_printf(&call->arena, "%s/.series-%d" STORE_RUN_SUFFIX, choice.into, (int)getpid());
	struct bounds bounds = {0, 0};
	int rc = made ? 0 : error_memory(error);

	rc = rc ? rc : find_format(file, name, &choice.format, error);
	if (rc == 0 && !choice.format->is_series)
		rc = error_set(error, ERROR_USAGE,
			"--into takes figures over time alone, as of csv and prometheus: %s is a trace of "
			"its own",
			choice.format->name);
	rc = rc ? rc : bounds_find(call, choice.into, &bounds, error);
	if (rc) {
		packed_file_close(file, name, NULL);
		return rc;
	}
	rc = take(&choice, file, in, name, NULL, made, &bounds, error);
	if (rc == 0 || access(made, F_OK) == 0) { /* whole, or what was whole of a damaged file */
		int moved = store_move(made, choice.into, &call->arena, error);

		rc = moved ? moved : rc;
	}
	return rc;
}

static int work(struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	const char *input = call->operands[0];
	const char *output = choice->output ? choice->output : run_name(input, &call->arena);
	bool is_stdin = strcmp(input, "-") == 0;
	struct stat status;
	const char *name = is_stdin ? "standard input" : input;
	struct packed_file *file = NULL;
	FILE *in = NULL;
	char inside[PATH_MAX];
	int fd;

	if (!output)
		return error_memory(error);
	if (choice->into && choice->output)
		return error_set(error, ERROR_USAGE,
			"--into %s adds to a run and -o %s makes one: say one of them", choice->into,
			choice->output);
	if (!is_stdin && stat(input, &status) == 0 && S_ISDIR(status.st_mode)) {
		if (!format_directory(choice->format, input, inside))
			return error_set(error, ERROR_RUN,
				"%s is a directory: name a file, or an archive of OTF2, a database or "
				"measurements of HPCToolkit, which are one",
				input);
		input = name = inside;
	}
	fd = is_stdin ? dup(STDIN_FILENO) : open(input, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : packed_file_open(fd, &in);
	if (!file)
		return error_set(error, ERROR_RUN,
			"cannot read %s: %s; correct the name, or say - for standard input", input,
			strerror(errno));
	if (choice->into)
		return take_into(call, file, in, name, error);
	return take(choice, file, in, name, is_stdin ? NULL : name, output, &(struct bounds){0, 0}, error);
}

static char from_help[FORMAT_TEXT_MAX];

static const struct program_option options[] = {{0, "from", "NAME", from_help, choice_take_from},
	{'o', "output", "RUN", "the run to make; default FILE's name with .hpct",
		.to = offsetof(struct choice, output)},
	{0, "into", "RUN", "lay figures over time beside the trace of that run, by the wall clock",
		.to = offsetof(struct choice, into)},
	{0, "binary", "FILE", "GPU code that the samples are of; may be repeated", choice_take_binary}};

static const struct program program = {
	.name = "hpct-import",
	.about = "another tool's file as a run",
	.operands = "[--from NAME] FILE|-",
	.operands_min = 1,
	.operands_max = 1,
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "tsv: one header line, columns by name in any order: stream and begin_ns are "
		 "required; track end_ns path op bytes weight metric value attributes may be left out or "
		 "empty. A row without track is a value if it has one, a span if it has end_ns or op, "
		 "otherwise a sample.\n"
		 "Without --from the content tells. A file packed by gzip or zstd is unpacked, a byte order "
		 "mark passed over, lines may end in CR LF.\n"
		 "stream: cpu:HOST/RANK/PID.GENERATION/THREAD or "
		 "gpu:HOST/RANK/PID.GENERATION/DEVICE/CONTEXT/QUEUE, - for a missing part. Times are "
		 "ns.\n"
		 "gpu-samples: likewise; address or offset is required, kernel reason weight not_issued "
		 "time_ns may be left out. A row without address and offset is a launch: kernel, time_ns, "
		 "end_ns, attributes.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	format_names(from_help, FORMAT_TAKES);
	return program_main(&program, &choice, argc, argv);
}
