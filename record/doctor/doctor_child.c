/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_child.c - see doctor_child.h. */
#include "record/doctor/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void child_start(const char *const *argv, const char *preload, int answer)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(answer, STDOUT_FILENO);
	dup2(answer, STDERR_FILENO);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	setpgid(0, 0); /* what it has started is killed with it */
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(DOCTOR_CHILD_LOST);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads to the end of the pipe; false: not ended by then. What does not fit is passed over. */
static bool read_all(int from, long until_ms, char *said, size_t room)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};
	size_t used = 0;
	char spare[4096];

	for (;;) {
		bool is_full = used + 1 >= room;
		long left_ms = until_ms - now_ms();
		ssize_t got;

		if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0)
			return false;
		got = read(from, is_full ? spare : said + used, is_full ? sizeof(spare) : room - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return true;
		used += is_full ? 0 : (size_t)got;
		said[used] = '\0';
	}
}

int doctor_child(const char *const *argv, const char *preload, unsigned wait_ms, char *said, size_t room)
{
	int ends[2], status = 0;
	bool has_ended;
	pid_t child;

	said[0] = '\0';
	if (pipe2(ends, O_CLOEXEC)) {
		snprintf(said, room, "no pipe: %s", strerror(errno));
		return DOCTOR_CHILD_LOST;
	}
	child = fork();
	if (!child)
		child_start(argv, preload, ends[1]);
	close(ends[1]);
	has_ended = child > 0 && read_all(ends[0], now_ms() + (long)wait_ms, said, room);
	close(ends[0]);
	if (child < 0 || !has_ended)
		snprintf(said, room, child < 0 ? "no process can be started" : "it did not end in %u seconds",
			wait_ms / 1000);
	if (child > 0 && !has_ended)
		kill(-child, SIGKILL);
	if (child < 0 || waitpid(child, &status, 0) != child || !has_ended)
		return DOCTOR_CHILD_LOST;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
