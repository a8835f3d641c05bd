/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - see launch.h. */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/event.h"

static volatile sig_atomic_t child;

/* Signals sent to hpct-record alone. Those of the terminal reach the program by themselves: its process group
 * is ours. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill((pid_t)child, signal);
	errno = error;
}

static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};
#define PASSED (sizeof(passed) / sizeof(passed[0]))

static void signals_take(struct sigaction old[PASSED])
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (unsigned i = 0; i < PASSED; i++)
		sigaction(passed[i], &action, &old[i]);
}

static void signals_restore(const struct sigaction old[PASSED])
{
	for (unsigned i = 0; i < PASSED; i++)
		sigaction(passed[i], &old[i], NULL);
}

static int environment_set(const struct launch *launch)
{
	const struct host *host = launch->host;
	const char *others = getenv("LD_PRELOAD");
	char *preload;
	int result;

	if (asprintf(&preload, "%s%s%s", host->agent, others && *others ? ":" : "", others ? others : "") < 0)
		return -1;
	result = launch->target->breaks_preload ? 0 : setenv("LD_PRELOAD", preload, 1);
	free(preload);
	return result || setenv(EVENT_ENV_AGENT, host->agent, 1) ||
	       setenv(EVENT_ENV_EVENTS, launch->events, 1) || setenv(EVENT_ENV_SOCKET, host->socket, 1);
}

_Noreturn static void program_start(const struct launch *launch, const struct sigaction *old, int failure)
{
	int reason;

	signals_restore(old);
	if (launch->host && environment_set(launch))
		errno = ENOMEM;
	else
		execv(launch->target->path, launch->argv);
	/* Without a magic number it is a script for the shell, as execvp has it. */
	if (errno == ENOEXEC) {
		size_t count = 0;
		char **argv;

		while (launch->argv[count])
			count++;
		argv = calloc(count + 2, sizeof(*argv));
		if (argv) {
			argv[0] = (char *)"/bin/sh";
			argv[1] = (char *)launch->target->path;
			memcpy(argv + 2, launch->argv + 1, count * sizeof(*argv));
			execv(argv[0], argv);
		}
	}
	reason = errno;
	if (write(failure, &reason, sizeof(reason)) != sizeof(reason))
		_exit(TARGET_NOT_EXECUTABLE);
	_exit(TARGET_NOT_EXECUTABLE);
}

int launch_run(const struct launch *launch, int *status, struct rusage *usage, struct error *error)
{
	struct sigaction old[PASSED];
	int failure[2], reason;
	ssize_t got;
	pid_t pid;

	if (pipe2(failure, O_CLOEXEC))
		return error_set(
			error, ERROR_IO, "cannot start %s: %s", launch->target->path, strerror(errno));
	signals_take(old);
	pid = fork();
	if (!pid)
		program_start(launch, old, failure[1]);
	child = pid;
	close(failure[1]);
	if (pid < 0) {
		close(failure[0]);
		*status = 125;
		return error_set(
			error, ERROR_IO, "cannot start %s: %s", launch->target->path, strerror(errno));
	}
	do
		got = read(failure[0], &reason, sizeof(reason));
	while (got < 0 && errno == EINTR);
	close(failure[0]);
	while (wait4(pid, status, 0, usage) < 0 && errno == EINTR)
		;
	child = 0;
	if (got == sizeof(reason)) {
		*status = reason == ENOENT ? TARGET_NOT_FOUND : TARGET_NOT_EXECUTABLE;
		return error_set(error, ERROR_USAGE, "%s: cannot be executed: %s", launch->target->path,
			reason == ENOENT ? "its interpreter is missing" : strerror(reason));
	}
	return 0;
}

_Noreturn void launch_exit(int status)
{
	sigset_t set;

	fflush(NULL);
	if (!WIFSIGNALED(status))
		exit(WEXITSTATUS(status));
	/* The program left the core, if any; ours would say nothing. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(status));
	exit(128 + WTERMSIG(status));
}
