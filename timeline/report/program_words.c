/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_words.c - parses a reader's command line: its own and the common options from tables, the
 * selector's by name, operands.
 */
#include "timeline/report/program_words.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "timeline/debug/debug_files.h"
#include "timeline/report/program_help.h"

#define MEM_LEAST (UINT64_C(16) << 20)

/* ---- options that all readers have ---- */

static int take_format(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;
	int format = report_format_find(value);

	if (format < 0)
		return error_set(error, ERROR_USAGE, "--format %s: write table, tsv or json", value);
	words->call->format = (enum report_format)format;
	words->call->is_format_given = true;
	return 0;
}

static int take_no_pager(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;

	(void)value, (void)error;
	words->call->no_pager = true;
	return 0;
}

static int take_debug_path(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;

	words->debug_paths[words->call->run_options.debug_path_count++] = value;
	return debug_files_search_check(value, error);
}

static int take_debuginfod(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;

	(void)value, (void)error;
	words->call->run_options.debuginfod = true;
	return 0;
}

static int take_python(void *own, const char *value, struct error *error)
{
	static const char *const words_of[] = {
		[RUN_PYTHON_MIXED] = "mixed", [RUN_PYTHON_NATIVE] = "native", [RUN_PYTHON_ONLY] = "only"};
	struct program_words *words = own;

	for (unsigned i = 0; i < sizeof words_of / sizeof *words_of; i++)
		if (!strcmp(value, words_of[i])) {
			words->call->run_options.python = (enum run_python)i;
			return 0;
		}
	return error_set(error, ERROR_USAGE, "--python %s: write mixed, native or only", value);
}

static int take_runtime(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;

	words->call->run_options.runtime_frames = !strcmp(value, "frames");
	if (!strcmp(value, "frames") || !strcmp(value, "hidden"))
		return 0;
	return error_set(error, ERROR_USAGE, "--runtime %s: write frames or hidden", value);
}

static int take_no_rollups(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;

	(void)value, (void)error;
	words->call->run_options.no_rollups = true;
	return 0;
}

static int take_jobs(void *own, const char *value, struct error *error)
{
	struct program_words *words = own;
	char *end;
	unsigned long jobs = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || jobs == 0 || jobs > 256)
		return error_set(
			error, ERROR_USAGE, "--jobs %s: write a number of processes, 1 to 256", value);
	words->call->run_options.jobs = (unsigned)jobs;
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
	struct program_words *words = own;
	char *end;
	unsigned long long number = strtoull(value, &end, 10);
	uint64_t unit = unit_of(end);

	if (*value < '0' || *value > '9' || !unit || number > UINT64_MAX / unit || number * unit < MEM_LEAST)
		return error_set(
			error, ERROR_USAGE, "--mem %s: write a size such as 64M or 1G, 16M at least", value);
	words->call->run_options.mem_bytes = number * unit;
	return 0;
}

static const struct shared_option {
	unsigned use; /* 0: every program */
	struct program_option option;
} shared_options[] = {
	{PROGRAM_FORMAT, {0, "format", "FORMAT", "table (default), tsv or json", take_format}},
	{PROGRAM_FORMAT,
		{0, "no-pager", NULL, "print on a terminal at once, however long it is", take_no_pager}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "debug-path", "DIR", "search DIR for binaries and debug information", take_debug_path}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "debuginfod", NULL, "query the servers of DEBUGINFOD_URLS", take_debuginfod}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "python", "HOW", "Python's frames: mixed with native ones (default), native, only",
			take_python}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "runtime", "HOW", "frames of OpenMP's runtimes: hidden (default), frames", take_runtime}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "no-rollups", NULL, "sum records only: the same results, slower", take_no_rollups}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "jobs", "N", "sum many streams with N processes (default: by cores)", take_jobs}},
	{PROGRAM_RUN | PROGRAM_RUNS,
		{0, "mem", "SIZE", "memory limit of a query: more passes, same result", take_mem}},
	{0, {'h', "help", NULL, "this text", .to = offsetof(struct program_words, help)}},
	{0, {'V', "version", NULL, "the version", .to = offsetof(struct program_words, version)}},
};
#define SHARED_COUNT (sizeof shared_options / sizeof *shared_options)

static bool is_used(const struct program *program, const struct shared_option *shared)
{
	return shared->use == 0 || (program->uses & shared->use);
}

/* The program's own option of that name stands for the shared one. */
static bool has_own(const struct program *program, const struct program_option *shared)
{
	for (size_t i = 0; i < program->option_count; i++)
		if (strcmp(program->options[i].name, shared->name) == 0)
			return true;
	return false;
}

/* ---- help ---- */

int program_print_help(const struct program *program, struct error *error)
{
	const struct program_option *shared[SHARED_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < SHARED_COUNT; i++)
		if (is_used(program, &shared_options[i]) && !has_own(program, &shared_options[i].option))
			shared[count++] = &shared_options[i].option;
	return program_help(program, shared, count, error);
}

/* ---- parsing ---- */

static int unknown_option(const struct program_words *words, const char *text, struct error *error)
{
	return error_set(error, ERROR_USAGE, "%s is not an option of %s; `%s --help` lists them", text,
		words->program->name, words->program->name);
}

static const struct program_option *find_option(
	const struct program_words *words, char letter, const char *name, size_t name_size, bool *is_shared)
{
	const struct program *program = words->program;

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
static const char *next_word(struct program_words *words)
{
	return words->at + 1 < words->argc ? words->argv[++words->at] : NULL;
}

/* Where --metric means no records it still adds formulas. */
static bool is_refused(const struct program *program, const char *name)
{
	bool is_formula = program->uses & PROGRAM_ROW_FORMULAS && strcmp(name, "metric") == 0;

	return !is_formula && program_refuses(program, name, strlen(name));
}

static int take_selector(
	struct program_words *words, const char *name, const char *value, struct error *error)
{
	int rc;

	if (!(words->program->uses & PROGRAM_SELECT) || is_refused(words->program, name))
		return 1;
	/* without a value only the name is judged */
	rc = select_option(words->call->select, name, value ? value : "", error);
	if (rc <= 0 && !value)
		return error_set(error, ERROR_USAGE, "--%s needs a value", name);
	return rc;
}

static int option_take(struct program_words *words, const struct program_option *option, bool is_shared,
	const char *value, struct error *error)
{
	void *own = is_shared ? words : words->call->own;

	if (!is_shared && !strcmp(option->name, "format"))
		words->call->is_format_given = true;
	if (option->take)
		return option->take(own, value, error);
	if (option->value)
		memcpy((char *)own + option->to, &value, sizeof value);
	else
		*((bool *)own + option->to) = true;
	return 0;
}

static int take_long(struct program_words *words, const char *word, struct error *error)
{
	size_t size = strcspn(word, "=");
	const char *value = word[size] ? word + size + 1 : NULL;
	bool is_shared;
	const struct program_option *option = find_option(words, 0, word, size, &is_shared);
	char *name;
	int rc;

	if (option) {
		if (!option->value && value)
			return error_set(error, ERROR_USAGE, "--%s takes no value", option->name);
		if (option->value && !value && !(value = next_word(words)))
			return error_set(
				error, ERROR_USAGE, "--%s needs a value: %s", option->name, option->value);
		return option_take(words, option, is_shared, value, error);
	}
	name = arena_copy(&words->call->arena, word, size);
	if (!name)
		return error_memory(error);
	if (!value)
		value = next_word(words);
	rc = take_selector(words, name, value, error);
	return rc <= 0 ? rc : unknown_option(words, word - 2, error);
}

/* -a, -ab for flags, -o VALUE, -oVALUE. */
static int take_letters(struct program_words *words, const char *word, struct error *error)
{
	for (const char *at = word; *at; at++) {
		bool is_shared;
		const struct program_option *option = find_option(words, *at, NULL, 0, &is_shared);
		const char *value = NULL;
		int rc;

		if (!option)
			return unknown_option(words, word - 1, error);
		if (option->value) {
			value = at[1] ? at + 1 : next_word(words);
			if (!value)
				return error_set(
					error, ERROR_USAGE, "-%c needs a value: %s", *at, option->value);
		}
		rc = option_take(words, option, is_shared, value, error);
		if (rc < 0 || value)
			return rc;
	}
	return 0;
}

/* A second run where one is read, or what is no operand at all. */
static int one_too_many(const struct program_words *words, const char *word, struct error *error)
{
	const struct program *program = words->program;
	const char *run = words->call->run_path;
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

static int take_operand(struct program_words *words, const char *word, struct error *error)
{
	struct program_call *call = words->call;

	if ((words->program->uses & PROGRAM_RUN) && !call->run_path) {
		call->run_path = word;
		return 0;
	}
	if (call->operand_count == words->program->operands_max)
		return one_too_many(words, word, error);
	call->operands[call->operand_count++] = word;
	return 0;
}

int program_parse(struct program_words *words, struct error *error)
{
	bool only_operands = false;

	for (words->at = 1; words->at < words->argc; words->at++) {
		const char *word = words->argv[words->at];
		int rc;

		if (only_operands || word[0] != '-' || !word[1])
			rc = take_operand(words, word, error);
		else if (strcmp(word, "--") == 0)
			rc = 0, only_operands = true;
		else
			rc = word[1] == '-' ? take_long(words, word + 2, error)
					    : take_letters(words, word + 1, error);
		if (rc < 0)
			return rc;
		if (words->help || words->version)
			return 0;
	}
	if (words->call->operand_count < words->program->operands_min)
		return error_set(error, ERROR_USAGE, "an argument is missing: usage: %s [options] %s",
			words->program->name, words->program->operands);
	return 0;
}
