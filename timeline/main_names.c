/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_names.c - hpct-names: addresses to functions, inlined calls and lines. During a recording it answers
 * the collector's requests (store/catalog/symbol_protocol.h) on its standard streams; on the command line it
 * prints a table.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/user_cache.h"
#include "store/store.h"
#include "timeline/debug/debug_files.h"
#include "timeline/names/names_addr2line.h"
#include "timeline/names/names_fill.h"
#include "timeline/names/names_library_cache.h"
#include "timeline/names/names_pool.h"
#include "timeline/names/names_stream.h"
#include "timeline/names_calls.h"
#include "timeline/report/program.h"
#include "timeline/run/names_run_cache.h"
#include "timeline/run/run_find.h"

#define NICE 10
#define PIPE_CPU_NS 2000000000u	  /* of one request: the collector's user waits for it */
#define PREFETCH_CPU_NS 25000000u /* at the end, for other runs */
#define DEBUG_PATHS_MAX 64
#define OUT_BYTES 65536u

static const char help[] =
	"usage: hpct-names [options] RUN             names that the recording lacks\n"
	"       hpct-names [options] FILE OFFSET...  addresses of a program or library\n"
	"       hpct-names [options] -e FILE         the same, from stdin\n"
	"       hpct-names --calls FILE|RUN          calls in GPU code\n"
	"       hpct-names [options] --pipe          answers the collector\n"
	"\n"
	"  -e, --exe FILE    read addresses from stdin, separated by white space\n"
	"  --debug-path DIR  search DIR for binaries and debug files too (repeatable)\n"
	"  --debuginfod      query the servers of DEBUGINFOD_URLS for missing files\n"
	"  --jobs N          use N processes for many names (default: half the CPUs)\n"
	"  --no-loops        functions and inlined calls only\n"
	"  --no-shared       neither read nor write the cache shared between runs\n"
	"  -h, --help   -V, --version\n"
	"\n"
	"An address is hexadecimal, as in the file's program headers and for addr2line.\n"
	"Output is TSV, a row for each function, each call inlined into it and each loop,\n"
	"outermost (depth 0) first; man hpct-names describes the columns. The line of an\n"
	"outer row is the position of the next inner one; code without a symbol reads\n"
	"MODULE+0xSTART. Names of a RUN go to its cache.mdb, or to the user's cache\n"
	"directory if it is read-only.\n"
	"\n"
	"Exit codes: 0 done, 2 wrong usage, 4 no such run, 5 the file cannot be read.\n";

enum mode { MODE_ARGUMENTS, MODE_STDIN, MODE_PIPE, MODE_RUN, MODE_CALLS };

struct invocation {
	enum mode mode;
	const char *file;
	const char *debug_paths[DEBUG_PATHS_MAX];
	size_t debug_path_count;
	bool debuginfod, no_loops, no_shared;
	unsigned jobs;
	char **offsets; /* rest of argv */
	int offset_count;
};

enum {
	OPTION_CALLS = 256,
	OPTION_DEBUG_PATH,
	OPTION_DEBUGINFOD,
	OPTION_JOBS,
	OPTION_PIPE,
	OPTION_NO_LOOPS,
	OPTION_NO_SHARED
};

static const struct option options[] = {
	{"exe", required_argument, NULL, 'e'},
	{"calls", required_argument, NULL, OPTION_CALLS},
	{"debug-path", required_argument, NULL, OPTION_DEBUG_PATH},
	{"debuginfod", no_argument, NULL, OPTION_DEBUGINFOD},
	{"jobs", required_argument, NULL, OPTION_JOBS},
	{"pipe", no_argument, NULL, OPTION_PIPE},
	{"no-loops", no_argument, NULL, OPTION_NO_LOOPS},
	{"no-shared", no_argument, NULL, OPTION_NO_SHARED},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{0},
};

static int jobs_parse(struct invocation *call, const char *text, struct error *error)
{
	char *end;
	unsigned long jobs = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || jobs == 0 || jobs > NAMES_POOL_MAX)
		return error_set(error, ERROR_USAGE, "--jobs %s: say how many processes, 1 to %u", text,
			NAMES_POOL_MAX);
	call->jobs = (unsigned)jobs;
	return 0;
}

/* 0: go on; 1: all is said; negative: wrong usage. */
static int option_take(struct invocation *call, int option, struct error *error)
{
	switch (option) {
	case 'e':
		call->mode = MODE_STDIN;
		call->file = optarg;
		return 0;
	case OPTION_CALLS:
		call->mode = MODE_CALLS;
		call->file = optarg;
		return 0;
	case OPTION_DEBUG_PATH:
		if (call->debug_path_count == DEBUG_PATHS_MAX)
			return error_set(error, ERROR_USAGE, "at most %d --debug-path", DEBUG_PATHS_MAX);
		call->debug_paths[call->debug_path_count++] = optarg;
		return debug_files_search_check(optarg, error);
	case OPTION_DEBUGINFOD:
		call->debuginfod = true;
		return 0;
	case OPTION_JOBS:
		return jobs_parse(call, optarg, error);
	case OPTION_PIPE:
		call->mode = MODE_PIPE;
		return 0;
	case OPTION_NO_LOOPS:
		call->no_loops = true;
		return 0;
	case OPTION_NO_SHARED:
		call->no_shared = true;
		return 0;
	case 'h':
		fputs(help, stdout);
		return 1;
	case 'V':
		puts("hpct-names " HPCT_VERSION);
		return 1;
	case ':':
		return error_set(
			error, ERROR_USAGE, "%s needs a value; hpct-names --help says which", optarg);
	default:
		return error_set(error, ERROR_USAGE, "wrong option %s; hpct-names --help lists them", optarg);
	}
}

static int invocation_read(struct invocation *call, int argc, char **argv, struct error *error)
{
	int option, rc;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":e:hV", options, NULL)) >= 0) {
		if (option == '?' || option == ':')
			optarg = argv[optind - 1];
		rc = option_take(call, option, error);
		if (rc)
			return rc;
	}
	call->offsets = argv + optind;
	call->offset_count = argc - optind;
	if (call->mode == MODE_ARGUMENTS) {
		if (call->offset_count < 1)
			return error_set(error, ERROR_USAGE,
				"a run, or a file and addresses are needed; hpct-names --help says more");
		if (call->offset_count == 1)
			call->mode = MODE_RUN;
		call->file = *call->offsets++;
		call->offset_count--;
	} else if (call->offset_count) {
		return error_set(error, ERROR_USAGE, "%s is one argument too many", call->offsets[0]);
	}
	if (call->debuginfod && !getenv("DEBUGINFOD_URLS"))
		fputs("hpct-names: --debuginfod has no effect: DEBUGINFOD_URLS is not set\n", stderr);
	return 0;
}

/* ---- beside a recording ---- */

static int pipe_take(void *context, const struct symbol_answer *answer)
{
	struct store_bytes *out = context;

	if (symbol_answer_put(out, answer, NULL))
		return -1;
	return out->size < OUT_BYTES ? 0 : names_stream_write(STDOUT_FILENO, out, NULL);
}

static int pipe_answer(struct names_worker *worker, const struct symbol_frame *frame, struct error *error)
{
	struct store_bytes out = {0};
	struct symbol_request request;
	struct symbol_done done;
	char note[NAMES_NOTE_BYTES];
	uint64_t *offsets;
	int rc = symbol_request_parse(frame->bytes, frame->size, &request, &offsets, error);

	if (rc)
		return rc;
	rc = names_worker_ask(worker, &request, pipe_take, &out, note, error);
	done = (struct symbol_done){request.module, note};
	rc = rc ? rc : symbol_done_put(&out, &done, error);
	rc = rc ? rc : names_stream_write(STDOUT_FILENO, &out, error);
	store_bytes_fini(&out);
	free(offsets);
	return rc;
}

/* Ends in order when the asker closes its end; an asker that does not listen any more is an end too. */
static int run_pipe(struct names_worker *worker, struct error *error)
{
	struct names_stream asker = {.fd = STDIN_FILENO};
	struct symbol_frame frame;
	int rc;

	setpriority(PRIO_PROCESS, 0, NICE);
	while ((rc = names_stream_next(&asker, &frame, error)) > 0) {
		rc = pipe_answer(worker, &frame, error);
		if (rc)
			break;
	}
	store_bytes_fini(&asker.in);
	return rc;
}

/* ---- a run ---- */

static void note_print(const char *sentence)
{
	fprintf(stderr, "hpct-names: %s\n", sentence);
}

static int run_fill(const struct invocation *call, const struct names_options *names, struct error *error)
{
	struct names_fill result;
	struct stat status;
	char *path;
	int rc;

	if (!stat(call->file, &status) && !S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE, "%s is a file: add addresses of it", call->file);
	rc = run_find(call->file, &path, error);
	if (rc)
		return rc;
	rc = names_fill(path, names, &result, note_print, error);
	if (!rc)
		printf("%llu of %llu frames without a name or a line now have one (%llu modules)\n",
			(unsigned long long)result.found, (unsigned long long)result.missing,
			(unsigned long long)result.modules);
	free(path);
	return rc;
}

static int invocation_run(struct invocation *call, const struct names_options *names, struct error *error)
{
	struct names_worker *worker;
	int rc;

	if (call->mode == MODE_RUN)
		return run_fill(call, names, error);
	if (call->mode == MODE_CALLS)
		return names_calls_print(call->file, stdout, note_print, error);
	if (call->mode != MODE_PIPE)
		return names_addr2line(
			call->file, call->mode == MODE_STDIN ? NULL : call->offsets, names, error);
	rc = names_worker_open(&worker, names, error);
	rc = rc ? rc : run_pipe(worker, error);
	names_worker_close(worker);
	return rc;
}

int main(int argc, char **argv)
{
	struct invocation call = {0};
	struct names_options names = {0};
	char *shared;
	struct error error = {0};
	int rc;

	program_standard_reserve();
	rc = invocation_read(&call, argc, argv, &error);
	if (rc > 0)
		return program_standard_flush(&error) ? error_report(&error, "hpct-names") : 0;
	names.search.debug_paths = call.debug_paths;
	names.search.debug_path_count = call.debug_path_count;
	names.search.debuginfod = call.debuginfod;
	names.no_loops = call.no_loops;
	names.jobs = call.jobs;
	names.cpu_ns = call.mode == MODE_PIPE ? PIPE_CPU_NS : 0;
	names.ahead_ns = call.mode == MODE_PIPE ? PREFETCH_CPU_NS : 0;
	shared = call.no_shared ? NULL : store_user_cache_directory();
	names.shared = shared;
	rc = rc ? rc : invocation_run(&call, &names, &error);
	rc = rc ? rc : program_standard_flush(&error);
	free(shared);
	return rc ? error_report(&error, "hpct-names") : 0;
}
