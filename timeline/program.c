/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - the shared half of every reader's main: the only place beside a main that prints an
 * error and decides on an exit code.
 */
#include "timeline/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timeline/program_help.h"
#include "timeline/progress.h"
#include "timeline/ranks.h"

#define PROGRESS_AFTER_NS 1000000000ull
#define MEM_LEAST (UINT64_C(16) << 20)

struct parse {
	const struct program *program;
	struct program_call *call;
	char **argv;
	int argc, at;
	const char *run_path;
	const char **debug_paths;
	bool help, version;
};

/* ---- options that all readers have ---- */

static int take_format(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;
	int format = report_format_find(value);

	if (format < 0)
		return error_set(error, ERROR_USAGE, "--format %s: say table, tsv or json", value);
	parse->call->format = (enum report_format)format;
	return 0;
}

static int take_debug_path(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;

	(void)error;
	parse->debug_paths[parse->call->run_options.debug_path_count++] = value;
	return 0;
}

static int take_debuginfod(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;

	(void)value, (void)error;
	parse->call->run_options.debuginfod = true;
	return 0;
}

static int take_no_rollups(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;

	(void)value, (void)error;
	parse->call->run_options.no_rollups = true;
	return 0;
}

static int take_jobs(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;
	char *end;
	unsigned long jobs = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || jobs == 0 || jobs > 256)
		return error_set(error, ERROR_USAGE, "--jobs %s: say how many processes, 1 to 256", value);
	parse->call->run_options.jobs = (unsigned)jobs;
	return 0;
}

/* What follows the number: nothing or K, M, G. 0: none of them. */
static uint64_t unit_of(const char *text)
{
	static const char units[] = "KMG";
	const char *unit = *text ? strchr(units, *text) : NULL;

	if (!*text)
		return 1;
	return unit && !text[1] ? UINT64_C(1) << 10 * (unit - units + 1) : 0;
}

static int take_mem(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;
	char *end;
	unsigned long long number = strtoull(value, &end, 10);
	uint64_t unit = unit_of(end);

	if (*value < '0' || *value > '9' || !unit || number > UINT64_MAX / unit || number * unit < MEM_LEAST)
		return error_set(
			error, ERROR_USAGE, "--mem %s: say a size such as 64M or 1G, 16M at least", value);
	parse->call->run_options.mem_bytes = number * unit;
	return 0;
}

static int take_help(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;

	(void)value, (void)error;
	parse->help = true;
	return 0;
}

static int take_version(void *own, const char *value, struct error *error)
{
	struct parse *parse = own;

	(void)value, (void)error;
	parse->version = true;
	return 0;
}

static const struct shared_option {
	unsigned use; /* 0: every program */
	struct program_option option;
} shared_options[] = {
	{PROGRAM_FORMAT, {0, "format", "FORMAT", "table (default), tsv or json", take_format}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "debug-path", "DIR", "look here for binaries and debug information", take_debug_path}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS", take_debuginfod}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "no-rollups", NULL, "sum records only: the same answers, slowly", take_no_rollups}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "jobs", "N", "sum many streams with N processes (default: by cores)", take_jobs}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "mem", "SIZE", "memory for the question: more passes, same answer", take_mem}},
	{0, {'h', "help", NULL, "this text", take_help}},
	{0, {'V', "version", NULL, "the version", take_version}},
};
#define SHARED_COUNT (sizeof shared_options / sizeof *shared_options)

static bool is_used(const struct program *program, const struct shared_option *shared)
{
	return shared->use == 0 || (program->uses & shared->use);
}

/* ---- help ---- */

static int print_help(const struct program *program, struct error *error)
{
	const struct program_option *shared[SHARED_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < SHARED_COUNT; i++)
		if (is_used(program, &shared_options[i]))
			shared[count++] = &shared_options[i].option;
	return program_help(program, shared, count, error);
}

/* ---- parsing ---- */

static int unknown_option(const struct parse *parse, const char *text, struct error *error)
{
	return error_set(error, ERROR_USAGE, "%s is no option of %s; `%s --help` lists them", text,
		parse->program->name, parse->program->name);
}

static const struct program_option *find_option(
	const struct parse *parse, char letter, const char *name, size_t name_size, bool *is_shared)
{
	const struct program *program = parse->program;

	for (size_t i = 0; i < program->option_count + SHARED_COUNT; i++) {
		const struct program_option *option =
			i < program->option_count ? &program->options[i]
						  : &shared_options[i - program->option_count].option;

		*is_shared = i >= program->option_count;
		if (*is_shared && !is_used(program, &shared_options[i - program->option_count]))
			continue;
		if (letter ? option->letter == letter
			   : strlen(option->name) == name_size && memcmp(option->name, name, name_size) == 0)
			return option;
	}
	return NULL;
}

/* The word that follows, NULL when there is none. */
static const char *next_word(struct parse *parse)
{
	return parse->at + 1 < parse->argc ? parse->argv[++parse->at] : NULL;
}

static int take_selector(struct parse *parse, const char *name, const char *value, struct error *error)
{
	int rc;

	if (!(parse->program->uses & PROGRAM_SELECT) || program_refuses(parse->program, name, strlen(name)))
		return 1;
	/* without a value only the name is judged */
	rc = select_option(parse->call->select, name, value ? value : "", error);
	if (rc <= 0 && !value)
		return error_set(error, ERROR_USAGE, "--%s needs a value", name);
	return rc;
}

static int take_long(struct parse *parse, const char *word, struct error *error)
{
	size_t size = strcspn(word, "=");
	const char *value = word[size] ? word + size + 1 : NULL;
	bool is_shared;
	const struct program_option *option = find_option(parse, 0, word, size, &is_shared);
	char *name;
	int rc;

	if (option) {
		if (!option->value && value)
			return error_set(error, ERROR_USAGE, "--%s takes no value", option->name);
		if (option->value && !value && !(value = next_word(parse)))
			return error_set(
				error, ERROR_USAGE, "--%s needs a value: %s", option->name, option->value);
		return option->take(is_shared ? parse : parse->call->own, value, error);
	}
	name = arena_copy(&parse->call->arena, word, size);
	if (!name)
		return error_memory(error);
	if (!value)
		value = next_word(parse);
	rc = take_selector(parse, name, value, error);
	return rc <= 0 ? rc : unknown_option(parse, word - 2, error);
}

/* -a, -ab for flags, -o VALUE, -oVALUE. */
static int take_letters(struct parse *parse, const char *word, struct error *error)
{
	for (const char *at = word; *at; at++) {
		bool is_shared;
		const struct program_option *option = find_option(parse, *at, NULL, 0, &is_shared);
		const char *value = NULL;
		int rc;

		if (!option)
			return unknown_option(parse, word - 1, error);
		if (option->value) {
			value = at[1] ? at + 1 : next_word(parse);
			if (!value)
				return error_set(
					error, ERROR_USAGE, "-%c needs a value: %s", *at, option->value);
		}
		rc = option->take(is_shared ? parse : parse->call->own, value, error);
		if (rc < 0 || value)
			return rc;
	}
	return 0;
}

/* A second run where one is read, or what is no operand at all. */
static int one_too_many(const struct parse *parse, const char *word, struct error *error)
{
	const struct program *program = parse->program;
	const char *run = parse->run_path;
	struct stat status;

	if (run && strcmp(run, word) == 0)
		return error_set(error, ERROR_USAGE, "%s is named twice: once is enough", word);
	if (run && program->operands_max == 0 && !stat(word, &status) && S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE,
			"%s is one run too many beside %s: %s reads one; `hpct-diff A B` compares two", word,
			run, program->name);
	return error_set(error, ERROR_USAGE, "`%s` is one argument too many: usage: %s [options] %s", word,
		program->name, program->operands);
}

static int take_operand(struct parse *parse, const char *word, struct error *error)
{
	struct program_call *call = parse->call;

	if ((parse->program->uses & PROGRAM_RUN) && !parse->run_path) {
		parse->run_path = word;
		return 0;
	}
	if (call->operand_count == parse->program->operands_max)
		return one_too_many(parse, word, error);
	call->operands[call->operand_count++] = word;
	return 0;
}

static int parse_words(struct parse *parse, struct error *error)
{
	bool only_operands = false;

	for (parse->at = 1; parse->at < parse->argc; parse->at++) {
		const char *word = parse->argv[parse->at];
		int rc;

		if (only_operands || word[0] != '-' || !word[1])
			rc = take_operand(parse, word, error);
		else if (strcmp(word, "--") == 0)
			rc = 0, only_operands = true;
		else
			rc = word[1] == '-' ? take_long(parse, word + 2, error)
					    : take_letters(parse, word + 1, error);
		if (rc < 0)
			return rc;
		if (parse->help || parse->version)
			return 0;
	}
	if (parse->call->operand_count < parse->program->operands_min)
		return error_set(error, ERROR_USAGE, "an argument is missing: usage: %s [options] %s",
			parse->program->name, parse->program->operands);
	return 0;
}

/* ---- the call ---- */

static int open_run(struct parse *parse, struct error *error)
{
	struct program_call *call = parse->call;
	int rc;

	if (parse->program->uses & PROGRAM_RUN) {
		rc = run_open(&call->run, parse->run_path, &call->run_options, error);
		if (rc < 0)
			return rc;
		call->is_newest = !parse->run_path;
		if (call->is_newest)
			fprintf(stderr, "%s: reading %s\n", parse->program->name, run_path(call->run));
	}
	return call->run && call->select ? select_bind(call->select, call->run, error) : 0;
}

static int parse_and_work(struct parse *parse, struct error *error)
{
	const struct program *program = parse->program;
	struct program_call *call = parse->call;
	size_t words = (size_t)parse->argc + 1;
	int rc;

	call->operands = arena_calloc(&call->arena, words, sizeof *call->operands);
	parse->debug_paths = arena_calloc(&call->arena, words, sizeof *parse->debug_paths);
	if (!call->operands || !parse->debug_paths)
		return error_memory(error);
	call->run_options.debug_paths = parse->debug_paths;
	if (program->uses & PROGRAM_SELECT) {
		rc = select_new(&call->select, error);
		if (rc < 0)
			return rc;
		if (program->uses & PROGRAM_DERIVED)
			select_take_derived(call->select);
		if (program->uses & PROGRAM_GPU)
			select_take_gpu(call->select);
	}
	rc = parse_words(parse, error);
	if (rc < 0)
		return rc;
	if (parse->help)
		return print_help(program, error);
	if (parse->version) {
		printf("%s %s\n", program->name, HPCT_VERSION);
		return 0;
	}
	if (program->uses & PROGRAM_FORMAT)
		progress_begin(program->name, STDERR_FILENO, PROGRESS_AFTER_NS);
	rc = open_run(parse, error);
	if (rc == 0)
		rc = program->work(call, error);
	if (rc == 0 && call->run)
		rc = run_names_check(call->run, error);
	progress_end();
	return rc;
}

void program_standard_reserve(void)
{
	int null;

	do
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	if (null >= 0)
		close(null);
}

int program_standard_flush(struct error *error)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return error_set(
		error, ERROR_IO, "the answer could not be written in full (disk full, or pipe closed)");
}

int program_main(const struct program *program, void *own, int argc, char **argv)
{
	struct program_call call = {.own = own};
	struct parse parse = {.program = program, .call = &call, .argc = argc, .argv = argv};
	struct error error = {0};
	int rc;

	program_standard_reserve();
	rc = (program->uses & (PROGRAM_RUN | PROGRAM_RUNS)) ? ranks_begin(&error) : 0;
	if (rc == 0)
		rc = parse_and_work(&parse, &error);
	if (rc == 0)
		rc = program_standard_flush(&error);

	if (call.select)
		select_free(call.select);
	if (call.run)
		run_close(call.run);
	arena_fini(&call.arena);
	return ranks_end(rc < 0 ? error_report(&error, program->name) : 0);
}
