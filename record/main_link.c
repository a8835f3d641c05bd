/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_link.c - hpct-link: runs a link command with the agent added, for static programs, into which nothing
 * can be preloaded. Leaves the rest of the command unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/base/install_paths.h"
#include "record/base/stdout_check.h"
#include "record/launch/launch.h"
#include "record/launch/link.h"

static const char help[] = "usage: hpct-link [options] [--] LINK-COMMAND\n"
			   "       hpct-link --check PROGRAM\n"
			   "\n"
			   "Runs LINK-COMMAND (gcc -static -o app app.o ...) with hpct's agent added, so\n"
			   "that hpct-record can measure the static program. Without hpct-record it runs\n"
			   "unchanged. Dynamic programs do not need hpct-link.\n"
			   "\n"
			   "      --memleak          also wrap malloc, for -e MEMLEAK\n"
			   "      --print            print the added options, for build systems\n"
			   "      --agent DIRECTORY  directory of libhpct-agent.a, for another machine\n"
			   "      --ld               LINK-COMMAND is ld, whatever its name\n"
			   "      --check            exit 0 if PROGRAM contains an agent, else 1\n"
			   "  -v, --verbose          print the whole command\n"
			   "  -h, --help   -V, --version   (more: man hpct-link)\n"
			   "\n"
			   "Exits with LINK-COMMAND's exit code. Else: 125 hpct-link failed,\n"
			   "126 LINK-COMMAND cannot be executed, 127 it is not found.\n"
			   "Next: hpct-record ./app.\n";

static const struct option long_options[] = {{"memleak", no_argument, NULL, 'm'},
	{"io", no_argument, NULL, 'i'}, /* hpclink's; always on */
	{"agent", required_argument, NULL, 'a'}, {"print", no_argument, NULL, 'p'},
	{"ld", no_argument, NULL, 'l'}, {"check", no_argument, NULL, 'c'},
	{"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'}, {0}};

struct plan {
	bool memleak, print, is_linker, check, verbose;
	const char *agent; /* agent for another machine: the directory of its archives */
	char **command;
};

static int fail(const struct error *error)
{
	fprintf(stderr, "hpct-link: %s\n", error->text);
	return LAUNCH_FAILED;
}

static void words_print(FILE *to, char *const *words)
{
	for (; *words; words++)
		fprintf(to, "%s%c", *words, words[1] ? ' ' : '\n');
}

/* The link worked, but its result cannot be measured: warns and succeeds. */
static void outcome_tell(const char *output)
{
	struct elf_note note;
	int fd = open(output, O_RDONLY | O_CLOEXEC);
	enum link_outcome outcome = fd < 0 ? LINK_NO_PROGRAM : link_look(fd, &note);

	if (fd >= 0)
		close(fd);
	if (outcome == LINK_DYNAMIC)
		fprintf(stderr,
			"hpct-link: %s is dynamically linked: hpct-record measures it without hpct-link; did "
			"you mean -static?\n",
			output);
	else if (outcome == LINK_WITHOUT_AGENT)
		fprintf(stderr,
			"hpct-link: no agent is in %s: its link command dropped the added options; add what "
			"`hpct-link --print` prints to the linker's options\n",
			output);
}

static int command_run(char **words)
{
	pid_t child;
	int status, error = posix_spawnp(&child, words[0], NULL, NULL, words, environ);

	if (error) {
		fprintf(stderr, "hpct-link: %s: cannot be executed: %s\n", words[0], strerror(error));
		return error == ENOENT ? TARGET_NOT_FOUND : TARGET_NOT_EXECUTABLE;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int link_run(const struct plan *plan)
{
	struct install_paths paths;
	struct error error;
	char **words;
	int result;

	if (plan->command[0] && strstr(plan->command[0], "musl")) {
		fputs("hpct-link: cannot measure programs with musl: the agent needs glibc\n", stderr);
		return LAUNCH_FAILED;
	}
	if (plan->agent)
		snprintf(paths.agent, sizeof(paths.agent), "%s/", plan->agent);
	else if (install_paths_find(&paths, &error))
		return fail(&error);
	words = link_command(plan->command, paths.agent, plan->memleak,
		plan->is_linker || (plan->command[0] && link_is_linker(plan->command[0])), &error);
	if (!words)
		return fail(&error);
	if (plan->verbose || plan->print)
		words_print(plan->print ? stdout : stderr, words);
	result = plan->print ? stdout_check("hpct-link", 0, LAUNCH_FAILED) : command_run(words);
	if (!result && !plan->print)
		outcome_tell(link_output(plan->command));
	free(words);
	return result;
}

static int program_check(const char *path)
{
	struct elf_note note = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum link_outcome outcome;

	if (fd < 0) {
		fprintf(stderr, "hpct-link: %s: %s\n", path, strerror(errno));
		return LAUNCH_FAILED;
	}
	outcome = link_look(fd, &note);
	close(fd);
	if (outcome == LINK_WITH_AGENT)
		printf("%s: an agent%s is inside\n", path,
			note.flags & ELF_NOTE_MEMLEAK ? ", with --memleak," : "");
	else
		printf("%s: %s\n", path,
			outcome == LINK_DYNAMIC	     ? "is dynamically linked, and needs no agent inside"
			: outcome == LINK_NO_PROGRAM ? "is no program"
						     : "no agent is inside");
	return stdout_check("hpct-link", outcome != LINK_WITH_AGENT, LAUNCH_FAILED);
}

static int options_parse(struct plan *plan, int argc, char **argv)
{
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+vhV", long_options, NULL)) != -1) {
		switch (letter) {
		case 'm':
			plan->memleak = true;
			break;
		case 'p':
			plan->print = true;
			break;
		case 'l':
			plan->is_linker = true;
			break;
		case 'c':
			plan->check = true;
			break;
		case 'v':
			plan->verbose = true;
			break;
		case 'a':
			plan->agent = optarg;
			break;
		case 'i':
			break;
		default:
			return letter;
		}
	}
	plan->command = argv + optind;
	return 0;
}

int main(int argc, char **argv)
{
	struct plan plan = {.command = argv};
	int letter = options_parse(&plan, argc, argv);

	if (letter == 'h')
		fputs(help, stdout);
	if (letter == 'V')
		puts("hpct-link " HPCT_VERSION);
	if (letter == 'h' || letter == 'V')
		return stdout_check("hpct-link", 0, LAUNCH_FAILED);
	if (letter) {
		fprintf(stderr, "hpct-link: %s is no option, or has no value; hpct-link --help lists them\n",
			argv[optind - 1]);
		return LAUNCH_FAILED;
	}
	if (!plan.command[0] && (plan.check || !plan.print)) {
		fputs(plan.check ? "hpct-link: --check: give a program\n"
				 : "hpct-link: no link command; as in: hpct-link gcc -static -o app app.o\n",
			stderr);
		return LAUNCH_FAILED;
	}
	return plan.check ? program_check(plan.command[0]) : link_run(&plan);
}
