/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_hpct.c - hpct: runs hpct-VERB, found next to hpct or on PATH, as git does. Without arguments it lists
 * the questions that hpct answers, each with its command.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/error.h"
#include "store/store.h"
#include "tui/build_info.h"
#include "tui/subcommands.h"

#define PREFIX "hpct-"
#define RUN_SUFFIX_BYTES (sizeof STORE_RUN_SUFFIX - 1)

static const struct {
	const char *question, *command, *verb;
} questions[] = {
	{"What does my program do, over time?", "hpct record PROG ARGS", "record"},
	{"", "hpct view", "view"},
	{"Where did the time go, by call path?", "hpct profile", "profile"},
	{"... by function, line, module or stream?", "hpct stats --by KEY", "stats"},
	{"How did CPU, memory and I/O go meanwhile?", "hpct plot", "plot"},
	{"What was every thread doing when it died?", "hpct stacks", "stacks"},
	{"What was recorded, and what is missing?", "hpct info", "info"},
	{"Which records lie in this window?", "hpct slice --time A..B", "slice"},
	{"What is the run bound by, on one page?", "hpct report", "report"},
	{"Who is to blame for idle GPUs and CPUs?", "hpct blame", "blame"},
	{"What would make GPU kernels faster?", "hpct advise", "advise"},
	{"What differs between two runs?", "hpct diff A B", "diff"},
	{"What else? Ask in SQL.", "hpct sql 'SELECT ...'", "sql"},
	{"How do other tools read it?", "hpct export --to chrome", "export"},
	{"How do I read what other tools wrote?", "hpct import --from tsv", "import"},
	{"What can be measured on this machine?", "hpct doctor", "doctor"},
};

/* The directory of this program, with a slash; "" when it is unknown. */
static void own_directory(char *out, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", out, size - 1);
	char *slash;

	out[length > 0 ? length : 0] = '\0';
	slash = strrchr(out, '/');
	if (slash)
		slash[1] = '\0';
	else
		out[0] = '\0';
}

static bool is_there(const char *directory, const char *verb)
{
	char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s" PREFIX "%s", directory, verb);
	return access(path, X_OK) == 0;
}

/* The subcommands beside this program. */
static void list_verbs(struct subcommands *subcommands, const char *directory)
{
	DIR *dir = opendir(directory[0] ? directory : ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
			is_there(directory, entry->d_name + strlen(PREFIX)))
			subcommands_add(subcommands, entry->d_name + strlen(PREFIX));
	if (dir)
		closedir(dir);
}

static int printed(void)
{
	struct error error;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	error_unwritten(&error);
	return error_report(&error, "hpct");
}

static int print_questions(const char *directory)
{
	FILE *out = stdout;
	struct subcommands subcommands = {0};

	fprintf(out, "hpct - call-path traces of CPU threads and GPU streams\n\n");
	list_verbs(&subcommands, directory);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (is_there(directory, questions[i].verb))
			fprintf(out, "  %-43s%s\n", questions[i].question, questions[i].command);
	fprintf(out, "\nA run is the newest *.hpct here, or is named: hpct view RUN.\n"
		     "`hpct help VERB` says more.\n"
		     "verbs:"); /* of one line: the shells' completions read it */
	subcommands_sort(&subcommands);
	for (size_t i = 0; i < subcommands.count; i++)
		fprintf(out, " %s", subcommands.names[i]);
	fprintf(out, "\n");
	subcommands_fini(&subcommands);
	return printed();
}

/* The user named a run without a verb: suggests the view. */
static int name_of_run(const char *run)
{
	struct error error;

	error_set(&error, ERROR_USAGE,
		"'%.512s' is a run, and what to do with it is missing: hpct view %.512s", run, run);
	return error_report(&error, "hpct");
}

static bool is_run(const char *word)
{
	size_t size = strlen(word);
	struct stat status;

	while (size > 1 && word[size - 1] == '/')
		size--;
	return size > RUN_SUFFIX_BYTES &&
	       !strncmp(word + size - RUN_SUFFIX_BYTES, STORE_RUN_SUFFIX, RUN_SUFFIX_BYTES) &&
	       !stat(word, &status) && S_ISDIR(status.st_mode);
}

static int unknown_verb(const char *directory, const char *verb)
{
	struct subcommands subcommands = {0};
	struct error error;
	char near[512];

	if (is_run(verb))
		return name_of_run(verb);

	list_verbs(&subcommands, directory);
	subcommands_near(&subcommands, verb, near, sizeof(near));
	subcommands_fini(&subcommands);
	if (near[0])
		error_set(&error, ERROR_USAGE, "'%.64s' is no verb; did you mean %s? `hpct` alone lists all",
			verb, near);
	else
		error_set(&error, ERROR_USAGE, "'%.64s' is no verb; `hpct` alone lists them", verb);
	return error_report(&error, "hpct");
}

static int run_verb(const char *directory, const char *verb, char **argv)
{
	char path[PATH_MAX * 2], name[256];
	struct error error;

	snprintf(name, sizeof(name), PREFIX "%s", verb);
	snprintf(path, sizeof(path), "%s%s", directory, name);
	argv[0] = name;
	execv(path, argv);
	if (errno == ENOENT)
		execvp(name, argv);
	if (errno == ENOENT)
		return unknown_verb(directory, verb);
	error_set(&error, ERROR_IO, "cannot run %.512s: %s", path, strerror(errno));
	return error_report(&error, "hpct");
}

/* `words`: what follows --version. */
static int print_version(char **words)
{
	struct error error;

	if (words[0] && (strcmp(words[0], "--build") || words[1])) {
		error_set(&error, ERROR_USAGE, "--version takes no '%.64s'; hpct --version --build says more",
			words[strcmp(words[0], "--build") ? 0 : 1]);
		return error_report(&error, "hpct");
	}
	puts("hpct " HPCT_VERSION);
	if (words[0])
		build_info_print(stdout);
	return printed();
}

/* A verb is a word: it must not lead out of the directory. */
static bool is_verb(const char *word)
{
	return word[0] && !strchr(word, '/') && word[0] != '-' && strlen(word) < 64;
}

int main(int argc, char **argv)
{
	char directory[PATH_MAX];
	char help[] = "--help";
	char *help_argv[] = {NULL, help, NULL};

	own_directory(directory, sizeof(directory));
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		(argc == 2 && strcmp(argv[1], "help") == 0))
		return print_questions(directory);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return print_version(argv + 2);
	if (strcmp(argv[1], "help") == 0)
		return is_verb(argv[2]) ? run_verb(directory, argv[2], help_argv)
					: unknown_verb(directory, argv[2]);
	if (!is_verb(argv[1]))
		return unknown_verb(directory, argv[1]);
	return run_verb(directory, argv[1], argv + 1);
}
