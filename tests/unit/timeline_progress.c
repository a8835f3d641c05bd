/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_progress.c - what a terminal gets to see: nothing early, a line, the line wiped, also by Ctrl-C;
 * and that what is no terminal gets nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "timeline/base/progress.h"

#define WIPE "\r\033[K"

static uint64_t now_ns = 1000000000;

/* In front of the library's: no time goes by but what a test lets go by. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = (time_t)(now_ns / 1000000000);
	now->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* Both ends of a terminal. */
static void terminal_open(int *master, int *terminal)
{
	*master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	assert_true(*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0);
	*terminal = open(ptsname(*master), O_RDWR | O_NOCTTY);
	assert_true(*terminal >= 0);
}

/* What comes, up to `wanted` bytes: the kernel passes it on in its own time. Of 0 bytes what comes at once.
 */
static const char *seen(int fd, char text[512], size_t wanted)
{
	struct pollfd there = {fd, POLLIN, 0};
	size_t size = 0;

	while (poll(&there, 1, size < wanted ? 60000 : 20) > 0) {
		ssize_t more = read(fd, text + size, 511 - size);

		if (more <= 0)
			break;
		size += (size_t)more;
		if (wanted && size >= wanted)
			break;
	}
	text[size] = '\0';
	return text;
}

#define LINE WIPE "hpct-test: reading, 50 % of the window (Ctrl-C stops)"
#define NEXT WIPE "hpct-test: reading, 75 % of the window (Ctrl-C stops)"

static void shown_and_wiped(void **state)
{
	int master, terminal;
	char text[512];

	(void)state;
	terminal_open(&master, &terminal);
	progress_at("reading", 1, 2); /* not begun */
	progress_begin("hpct-test", terminal, 0);
	progress_at("reading", 1, 2);
	now_ns += 199999999;
	progress_at("reading", 2, 2); /* too soon */
	assert_string_equal(seen(master, text, strlen(LINE)), LINE);
	assert_string_equal(seen(master, text, 0), "");
	now_ns++;
	progress_at("reading", 3, 4);
	assert_string_equal(seen(master, text, strlen(NEXT)), NEXT);
	progress_end();
	assert_string_equal(seen(master, text, strlen(WIPE)), WIPE);
	progress_at("reading", 2, 2);
	progress_end();
	assert_string_equal(seen(master, text, 0), "");
	close(terminal);
	close(master);
}

static void quick_work_is_silent(void **state)
{
	int master, terminal;
	char text[512];

	(void)state;
	terminal_open(&master, &terminal);
	progress_begin("hpct-test", terminal, 3600000000000ull);
	progress_at("reading", 1, 2);
	progress_end();
	assert_string_equal(seen(master, text, 0), "");
	close(terminal);
	close(master);
}

static void no_terminal(void **state)
{
	int ends[2];
	char text[512];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	progress_begin("hpct-test", ends[1], 0);
	progress_at("reading", 1, 2);
	progress_end();
	close(ends[1]);
	assert_string_equal(seen(ends[0], text, 0), "");
	close(ends[0]);
}

static void interrupted(void **state)
{
	int master, terminal, status;
	char text[512];
	const char *end;
	pid_t child;

	(void)state;
	terminal_open(&master, &terminal);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		signal(SIGINT, SIG_DFL);
		progress_begin("hpct-test", terminal, 0);
		progress_at("reading", 1, 2);
		raise(SIGINT);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	seen(master, text, strlen(LINE) + strlen(WIPE));
	end = text + strlen(text) - strlen(WIPE);
	assert_true(end > text && strstr(text, "50 %"));
	assert_string_equal(end, WIPE);
	close(terminal);
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_and_wiped),
		cmocka_unit_test(quick_work_is_silent),
		cmocka_unit_test(no_terminal),
		cmocka_unit_test(interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
