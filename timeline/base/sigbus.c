/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigbus.c - see sigbus.h. The handler calls only async-signal-safe functions: open, read, write, getpid,
 * sigqueue, signal, raise and _exit.
 */
#include "timeline/base/sigbus.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "store/base/error.h"
#include "store/base/utf8.h"
#include "timeline/base/progress.h"

#define PATH_BYTES 4096u
#define LINE_BYTES (PATH_BYTES + 128u)

static const char *program;
static pid_t owner;

/* ---- which file it was ---- */

struct lines {
	int fd;
	char buffer[1024];
	size_t at, end;
};

/* The next line of `fd`, cut to its room; false: there is none. */
static bool next_line(struct lines *lines, char line[LINE_BYTES])
{
	size_t size = 0;

	for (;;) {
		if (lines->at == lines->end) {
			ssize_t got = read(lines->fd, lines->buffer, sizeof lines->buffer);

			if (got <= 0)
				return false;
			lines->at = 0;
			lines->end = (size_t)got;
		}
		if (lines->buffer[lines->at] == '\n')
			break;
		if (size < LINE_BYTES - 1)
			line[size++] = lines->buffer[lines->at];
		lines->at++;
	}
	lines->at++;
	line[size] = '\0';
	return true;
}

static uint64_t hexadecimal(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "7f00-7f10 r--s 00000000 fe:00 123   /runs/a.hpct/node-1.mdb": the path, NULL: it is another map. */
static char *path_of(char *line, uint64_t address)
{
	const char *at = line;
	uint64_t begin = hexadecimal(&at), end = *at == '-' ? (at++, hexadecimal(&at)) : 0;

	return address >= begin && address < end ? strchr(line, '/') : NULL;
}

static char *find_path(uint64_t address, char line[LINE_BYTES])
{
	struct lines lines = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	char *path = NULL;

	while (lines.fd >= 0 && !path && next_line(&lines, line))
		path = path_of(line, address);
	return path;
}

/* ---- the end ---- */

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(ERROR_IO);
}

/* Names may hold what a terminal obeys. */
static void say_path(char *path)
{
	store_utf8_clean(path);
	say("'");
	say(path);
	say("'");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	char line[LINE_BYTES];
	char *path;
	union sigval at = {0};

	(void)context;
	if (info->si_code > 0) {
		at.sival_ptr = info->si_addr;
	} else if (info->si_code == SI_QUEUE) { /* a child's */
		at = info->si_value;
	} else { /* sent by kill(): unrelated to a file */
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	if (getpid() != owner) {
		if (getppid() == owner)
			sigqueue(owner, number, at);
		_exit(ERROR_IO);
	}
	path = find_path((uint64_t)(uintptr_t)at.sival_ptr, line);
	progress_end();
	say(program);
	say(": ");
	if (path)
		say_path(path);
	else
		say("a file");
	say(" was cut short while it was read, or its disk fails; copy it again, or look at the run with "
	    "hpct-info --check\n");
	_exit(ERROR_IO);
}

void sigbus_watch(const char *name)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;

	program = name;
	owner = getpid();
	sigfillset(&action.sa_mask);
	if (!sigaction(SIGBUS, NULL, &before) && !(before.sa_flags & SA_SIGINFO) &&
		before.sa_handler == SIG_DFL)
		sigaction(SIGBUS, &action, NULL);
}

bool sigbus_is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_signal;
}
