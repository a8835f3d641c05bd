/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - the common half of every reader's main: only here and in a main() are errors printed and exit
 * codes chosen.
 */
#include "timeline/report/program.h"
#include "timeline/names/names_fill.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "timeline/base/progress.h"
#include "timeline/base/sigbus.h"
#include "timeline/report/program_help.h"
#include "timeline/report/program_words.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"
#include "timeline/sum/mpi_ranks.h"

#define PROGRESS_AFTER_NS 1000000000ull
#define KEPT_BYTES (4 << 20)
#define MAPPED_BYTES (1 << 20) /* and more: mapped alone */

static int open_run(struct program_words *words, struct error *error)
{
	struct program_call *call = words->call;
	int rc;

	if (words->program->uses & PROGRAM_RUN) {
		rc = names_run_open(&call->run, call->run_path, &call->run_options, error);
		if (rc < 0)
			return rc;
		call->is_newest = !call->run_path;
		if (call->is_newest)
			fprintf(stderr, "%s: reading %s\n", words->program->name, run_path(call->run));
	}
	if (call->select && words->program->uses & PROGRAM_BESIDE && call->operand_count)
		select_bind_time_later(call->select);
	return call->run && call->select ? select_bind(call->select, call->run, error) : 0;
}

/* What parsing fills: room for as many operands and paths as there are words, and the selector. */
static int prepare(struct program_words *words, struct error *error)
{
	unsigned uses = words->program->uses;
	struct program_call *call = words->call;
	size_t count = (size_t)words->argc + 1;
	int rc;

	call->operands = arena_calloc(&call->arena, count, sizeof *call->operands);
	words->debug_paths = arena_calloc(&call->arena, count, sizeof *words->debug_paths);
	if (!call->operands || !words->debug_paths)
		return error_memory(error);
	call->run_options.debug_paths = words->debug_paths;
	if (!(uses & PROGRAM_SELECT))
		return 0;
	rc = select_new(&call->select, error);
	if (rc < 0)
		return rc;
	if (uses & PROGRAM_STATE_METRICS)
		select_take_state_metrics(call->select);
	if (uses & PROGRAM_GPU)
		select_take_gpu(call->select);
	if (uses & (PROGRAM_FORMULAS | PROGRAM_ROW_FORMULAS))
		select_take_formulas(call->select);
	if (uses & PROGRAM_ROW_FORMULAS && program_refuses(words->program, "metric", strlen("metric")))
		select_take_only_formulas(call->select);
	if (uses & PROGRAM_ROW_FORMULAS)
		report_take_formulas(call->select, true);
	select_take_metric(call->select, words->program->metric);
	return 0;
}

/* A header alone is no answer that explains itself. */
static void say_empty(const struct program *program, struct program_call *call)
{
	const char *filters;

	if (!report_was_empty() || (call->select && !select_top(call->select)))
		return;
	filters = call->select ? select_command(call->select, "context op metric min", &call->arena) : NULL;
	if (filters && *filters)
		fprintf(stderr, "%s: nothing in this window matches %s\n", program->name, filters);
	else
		fprintf(stderr, "%s: no rows: nothing recorded in this window matches\n", program->name);
}

/* A terminal gets what a reader sees at once: colours, the first rows, a pager. */
static void use_terminal(struct program_words *words)
{
	const struct program *program = words->program;
	struct program_call *call = words->call;

	if (call->is_format_given)
		terminal_refuse();
	else if (program->uses & PROGRAM_FORMAT)
		terminal_begin(!call->no_pager && mpi_ranks_count() <= 1);
}

/* Whether a terminal's default holds. */
static bool is_cut(const struct program_call *call)
{
	return terminal_is_ours() && select_top(call->select) == UINT64_MAX;
}

uint64_t program_top(const struct program_call *call)
{
	return is_cut(call) ? PROGRAM_TERMINAL_ROWS : select_top(call->select);
}

void program_say_left_out(const struct program_call *call, uint64_t count)
{
	const char *faint = terminal_style(stdout, TERMINAL_FAINT),
		   *plain = terminal_style(stdout, TERMINAL_PLAIN);

	if (is_cut(call) && count > PROGRAM_TERMINAL_ROWS)
		report_fit_say("%s%llu more rows; --top %llu shows all%s", faint,
			(unsigned long long)(count - PROGRAM_TERMINAL_ROWS), (unsigned long long)count,
			plain);
}

static int work(struct program_words *words, struct error *error)
{
	const struct program *program = words->program;
	int rc;

	if (program->prepare)
		program->prepare(words->call);
	use_terminal(words);
	if (program->uses & PROGRAM_FORMAT)
		progress_begin(program->name, STDERR_FILENO, PROGRESS_AFTER_NS);
	rc = open_run(words, error);
	if (rc == 0)
		rc = program->work(words->call, error);
	if (rc == 0 && words->call->run)
		rc = run_names_check(words->call->run, error);
	progress_end();
	if (rc == 0)
		say_empty(program, words->call);
	return rc;
}

static int parse_and_work(struct program_words *words, struct error *error)
{
	const struct program *program = words->program;
	int rc = prepare(words, error);

	if (rc == 0)
		rc = program_parse(words, error);
	if (rc < 0)
		return rc;
	if (words->help)
		return program_print_help(program, error);
	if (words->version) {
		printf("%s %s\n", program->name, HPCT_VERSION);
		return 0;
	}
	return work(words, error);
}

void program_standard_reserve(void)
{
	int null;

	do
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	if (null >= 0)
		close(null);
	signal(SIGXFSZ, SIG_IGN);
}

int program_standard_flush(struct error *error)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return error_unwritten(error);
}

/* Who walks along one stream after another takes and frees the same some hundred KB: left to itself malloc
 * gives them to the system each time, and the system's zeroed pages cost ten times the walk along a short
 * stream. */
static void keep_freed(void)
{
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
}

int program_main(const struct program *program, void *own, int argc, char **argv)
{
	struct program_call call = {.own = own};
	struct program_words words = {.program = program, .call = &call, .argc = argc, .argv = argv};
	struct error error = {0};
	int rc;

	keep_freed();
	program_standard_reserve();
	sigbus_watch(program->name);
	rc = (program->uses & (PROGRAM_RUN | PROGRAM_RUNS)) ? mpi_ranks_begin(&error) : 0;
	if (rc == 0)
		rc = parse_and_work(&words, &error);
	terminal_end();
	report_take_formulas(NULL, true);
	if (rc == 0)
		rc = program_standard_flush(&error);

	if (call.select)
		select_free(call.select);
	if (call.run)
		run_close(call.run);
	arena_fini(&call.arena);
	return mpi_ranks_end(rc < 0 ? error_report(&error, program->name) : 0);
}
