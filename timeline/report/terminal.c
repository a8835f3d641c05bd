/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - see terminal.h. */
#include "timeline/report/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_BYTES (256u << 10)
#define LESS "less -FRX"

static char kept[KEPT_BYTES];

static struct {
	bool is_ours, is_refused, has_colours, has_many_colours, pages;
	size_t columns, rows;
	const char *command;
	pid_t owner; /* children of jobs have these signals' handlers, too */
	volatile pid_t pager;
} terminal;

/* ---- what the environment says ---- */

static const char *word(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static bool is_dumb(void)
{
	return !*word("TERM") || !strcmp(word("TERM"), "dumb");
}

/* Whether the shell would find the program that begins the command; what is no plain word, it may. */
static bool is_found(const char *command)
{
	size_t size = strcspn(command, " ");

	if (memchr(command, '=', size) || strpbrk(command, "\"'$\\~"))
		return true;
	if (memchr(command, '/', size)) {
		char file[4096];

		return snprintf(file, sizeof file, "%.*s", (int)size, command) < (int)sizeof file &&
		       !access(file, X_OK);
	}
	for (const char *at = word("PATH"); *at; at += strcspn(at, ":"), at += *at == ':') {
		char file[4096];
		int bytes = snprintf(
			file, sizeof file, "%.*s/%.*s", (int)strcspn(at, ":"), at, (int)size, command);

		if (bytes > 0 && (size_t)bytes < sizeof file && !access(file, X_OK))
			return true;
	}
	return false;
}

/* NULL: none. */
static const char *pager_command(void)
{
	const char *command = getenv("HPCT_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = LESS;
	return *command && strcmp(command, "cat") && is_found(command) ? command : NULL;
}

void terminal_refuse(void)
{
	terminal.is_refused = true;
}

bool terminal_is_ours(void)
{
	return terminal.is_ours;
}

size_t terminal_columns(FILE *out)
{
	struct winsize size;

	if (terminal.is_refused)
		return 0;
	if (terminal.is_ours && out == stdout)
		return terminal.columns;
	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* ---- colours ---- */

const char *terminal_style(FILE *out, enum terminal_style style)
{
	static const char *const many[] = {[TERMINAL_PLAIN] = "\033[0m",
		[TERMINAL_HEAD] = "\033[1;38;5;32m",
		[TERMINAL_LARGE] = "\033[1;38;5;166m",
		[TERMINAL_MIDDLE] = "\033[38;5;136m",
		[TERMINAL_FAINT] = "\033[38;5;244m"};
	static const char *const few[] = {[TERMINAL_PLAIN] = "\033[0m",
		[TERMINAL_HEAD] = "\033[1;34m",
		[TERMINAL_LARGE] = "\033[1;31m",
		[TERMINAL_MIDDLE] = "\033[33m",
		[TERMINAL_FAINT] = "\033[2m"};

	if (out != stdout || !terminal.has_colours)
		return "";
	return terminal.has_many_colours ? many[style] : few[style];
}

enum terminal_style terminal_style_share(double percent)
{
	if (percent >= 20)
		return TERMINAL_LARGE;
	if (percent >= 5)
		return TERMINAL_MIDDLE;
	return percent < 1 ? TERMINAL_FAINT : TERMINAL_PLAIN;
}

/* ---- the pager ---- */

static void wait_for_pager(void)
{
	pid_t pager = terminal.pager;

	while (pager > 0 && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The user has left the pager: an end like any other. */
static void on_left(int number)
{
	(void)number;
	if (getpid() == terminal.owner) {
		close(STDOUT_FILENO);
		wait_for_pager();
	}
	_exit(0);
}

/* The pager has the terminal until the user leaves it, also after Ctrl-C, which ends what it reads. */
static void on_signal(int number)
{
	if (getpid() == terminal.owner) {
		close(STDOUT_FILENO);
		wait_for_pager();
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void watch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_NODEFER}, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	action.sa_handler = on_left;
	sigaction(SIGPIPE, &action, NULL);
}

static void pager_run(const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	/* What the user's own options say goes first; names are UTF-8 whatever the locale. */
	setenv("LESS", "FRX", 0);
	setenv("LESSCHARSET", "utf-8", 0);
	execl("/bin/sh", "sh", "-c", terminal.command, (char *)NULL);
	_exit(127);
}

static void pager_start(void)
{
	int ends[2];
	pid_t pager;

	terminal.pages = false;
	if (pipe(ends))
		return;
	pager = fork();
	if (pager == 0)
		pager_run(ends);
	if (pager > 0) {
		terminal.owner = getpid();
		terminal.pager = pager;
		watch_signals();
		dup2(ends[1], STDOUT_FILENO);
	}
	close(ends[0]);
	close(ends[1]);
}

bool terminal_keeps(FILE *out)
{
	return out == stdout && terminal.pages;
}

/* ---- standard output, kept ---- */

/* What is kept is more than fits, or the report has ended. */
static ssize_t write_out(void *unused, const char *text, size_t size)
{
	size_t written = 0;

	(void)unused;
	if (terminal.pages)
		pager_start();
	while (written < size) {
		ssize_t bytes = write(STDOUT_FILENO, text + written, size - written);

		if (bytes < 0 && errno != EINTR)
			return 0; /* as fopencookie() wants it */
		written += bytes > 0 ? (size_t)bytes : 0;
	}
	return (ssize_t)size;
}

static void keep_output(void)
{
	FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_out});

	terminal.pages = out != NULL;
	if (!out)
		return;
	setvbuf(out, kept, _IOFBF, sizeof kept);
	stdout = out;
}

void terminal_begin(bool pages)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO))
		return;
	terminal.is_ours = true;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) {
		terminal.columns = size.ws_col;
		terminal.rows = size.ws_row;
	}
	terminal.has_colours = !is_dumb() && !*word("NO_COLOR");
	terminal.has_many_colours = strstr(word("TERM"), "256") || *word("COLORTERM");
	terminal.command = pages && !is_dumb() && terminal.rows ? pager_command() : NULL;
	if (terminal.command)
		keep_output();
}

void terminal_stay(void)
{
	terminal.pages = false;
}

/* ---- the end ---- */

/* Behind a style's bytes that begin at `at`. */
static size_t style_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] != 'm')
		at++;
	return at;
}

size_t terminal_lines(const char *text, size_t size, size_t columns)
{
	size_t lines = 0, width = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\033') {
			i = style_end(text, size, i);
		} else if (text[i] == '\n') {
			lines++;
			width = 0;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			width++;
			lines += columns && width > columns;
			width = columns && width > columns ? 1 : width;
		}
	}
	return lines + (width > 0);
}

void terminal_end(void)
{
	if (!terminal.is_ours)
		return;
	/* The shell's prompt takes a line of the screen. */
	if (terminal.pages && terminal_lines(kept, __fpending(stdout), terminal.columns) < terminal.rows)
		terminal.pages = false;
	fflush(stdout);
	if (!terminal.pager || getpid() != terminal.owner)
		return;
	close(STDOUT_FILENO);
	wait_for_pager();
	terminal.pager = 0;
}
