/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - see launch.h. */
#include "record/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/environment.h"
#include "record/agent/process/exec_target.h"
#include "record/agent/process/preload.h"
#include "record/agent/process/process.h"
#include "record/agent/process/process_filter.h"
#include "record/agent/sample/source.h"
#include "record/base/clock.h"
#include "record/launch/signal_forwarder.h"
#include "record/launch/signals.h"
#include "store/ring/handshake.h"

#define LOADER_FAILED 127 /* exit code of a dynamic loader that fails */

/* Sets a colon-separated list of libraries, ours first. */
static int list_set(const char *name, const char *agent)
{
	const char *others = getenv(name);
	char *list;
	int result;

	if (asprintf(&list, "%s%s%s", agent, others && *others ? ":" : "", others ? others : "") < 0)
		return -1;
	result = setenv(name, list, 1);
	free(list);
	return result;
}

static int preload_set(const struct launch *launch)
{
	const char *others = getenv("LD_PRELOAD");
	size_t room = 4 * ENVIRONMENT_PATH + (others ? strlen(others) : 0);
	struct exec_target_linked linked;
	char *word;

	if (launch->target->breaks_preload)
		return 0;
	exec_target_linked(AT_FDCWD, launch->target->path, environ, &linked);
	word = malloc(room); /* owned by the environment from here on: putenv */
	if (!word || !preload_write(word, room, others,
			     &(struct preload){.agent = launch->rendezvous->agent,
				     .is_wanted = true,
				     .with_mpi = linked.with_mpi,
				     .first = linked.asan}))
		return -1;
	return putenv(word);
}

/* node's own option, for a map of the functions that it compiles. */
static int node_set(void)
{
	static const char option[] = "--perf-basic-prof-only-functions";
	const char *others = getenv("NODE_OPTIONS");
	char *list;
	int result;

	if (asprintf(&list, "%s%s%s", others ? others : "", others && *others ? " " : "", option) < 0)
		return -1;
	result = setenv("NODE_OPTIONS", list, 1);
	free(list);
	return result;
}

/* Other words may follow in the list. */
static bool gpu_is_wanted(const struct launch *launch, const char *vendor)
{
	const char *word = strstr(launch->events, "gpu=");
	size_t length = word ? strcspn(word + 4, " ") : 0;

	return word && ((length == strlen("auto") && !strncmp(word + 4, "auto", length)) ||
			       (length == strlen(vendor) && !strncmp(word + 4, vendor, length)));
}

/* The environment variable itself: its end is written between vfork and exec, where nothing may be
 * allocated. */
static char events[sizeof(EVENT_ENV_EVENTS) + EVENT_EVENTS_MAX + 16];

static int events_set(const struct launch *launch)
{
	snprintf(events, sizeof(events), EVENT_ENV_EVENTS "=%s", launch->events);
	return putenv(events);
}

/* Runs in the process that becomes the program, to which --no-children refers. */
static void events_end(const struct launch *launch)
{
	size_t length = strlen(events);

	if (strstr(launch->events, EVENT_WORD_NO_CHILDREN)) /* it is the last word */
		snprintf(events + length, sizeof(events) - length, "=%d", (int)process_number());
}

static char **before; /* the environment that hpct-record got */

static int before_keep(void)
{
	size_t count = 0;

	while (environ[count])
		count++;
	before = calloc(count + 1, sizeof(*before));
	if (before)
		memcpy(before, environ, count * sizeof(*before));
	return before ? 0 : -1;
}

static int environment_set(const struct launch *launch)
{
	const struct rendezvous *rendezvous = launch->rendezvous;

	return before_keep() || preload_set(launch) || (launch->names_node && node_set()) ||
	       (gpu_is_wanted(launch, "opencl") && list_set(EVENT_ENV_OPENCL, rendezvous->agent)) ||
	       (gpu_is_wanted(launch, "nvidia") && (setenv(EVENT_ENV_CUDA, rendezvous->agent, 0) ||
							   setenv(EVENT_ENV_NVTX, rendezvous->agent, 0) ||
							   setenv(EVENT_ENV_NCCL, rendezvous->agent, 0))) ||
	       setenv(EVENT_ENV_AGENT, rendezvous->agent, 1) || events_set(launch) ||
	       setenv(EVENT_ENV_SOCKET, rendezvous->socket, 1);
}

/* A file without magic number is a shell script, as in execvp. */
static void shell_exec(const struct launch *launch)
{
	size_t count = 0;
	char **argv;
	int error;

	while (launch->argv[count])
		count++;
	argv = calloc(count + 2, sizeof(*argv));
	if (!argv)
		return;
	argv[0] = (char *)"/bin/sh";
	argv[1] = (char *)launch->target->path;
	memcpy(argv + 2, launch->argv + 1, count * sizeof(*argv));
	execv(argv[0], argv);
	error = errno;
	free(argv);
	errno = error;
}

static void image_exec(const struct launch *launch)
{
	execv(launch->target->path, launch->argv);
	if (errno == ENOEXEC)
		shell_exec(launch);
}

static volatile bool has_no_room; /* our words do not fit; set by the process that becomes the program */

static void program_exec(const struct launch *launch)
{
	image_exec(launch);
	if (errno != E2BIG || !launch->rendezvous || launch->is_strict)
		return;
	has_no_room = true;
	environ = before;
	image_exec(launch);
}

_Noreturn static void program_start(
	const struct launch *launch, const struct signals *signals, pid_t recorder, int failure)
{
	int reason;

	if (launch->rendezvous)
		events_end(launch);
	signal_forwarder_start(recorder, launch->argv);
	signals_restore(signals);
	program_exec(launch);
	reason = errno;
	if (write(failure, &reason, sizeof(reason)) != sizeof(reason))
		_exit(TARGET_NOT_EXECUTABLE);
	_exit(TARGET_NOT_EXECUTABLE);
}

/* If the program stops in the foreground, hpct-record stops, too, as the shell waits for that; likewise if
 * hpct-record was asked to stop. If only the program was stopped, in the background, whoever did it
 * continues it. */
static void stop_with(pid_t pid)
{
	const struct timespec moment = {0, 20000000};
	int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	siginfo_t info = {0};

	nanosleep(&moment, NULL);
	if (!waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) && info.si_pid == pid &&
		(signals_ask_for_stop() || (terminal >= 0 && tcgetpgrp(terminal) == getpgrp())))
		signals_stop(info.si_status);
	if (terminal >= 0)
		close(terminal);
}

static void program_await(pid_t pid, int *status, struct rusage *usage)
{
	siginfo_t info = {0};

	for (;;) {
		int result = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT);

		if (!result && info.si_code == CLD_STOPPED)
			stop_with(pid);
		else if (!result || errno != EINTR)
			break;
	}
	while (wait4(pid, status, 0, usage) < 0 && errno == EINTR)
		;
	signals_end();
}

static void started_send(const struct launch *launch, pid_t pid, uint64_t begin_ns)
{
	enum rendezvous_start how = RENDEZVOUS_START_EXPECTED;

	if (!process_filter_wants(launch->events, pid, environment_rank(environ)))
		how = RENDEZVOUS_START_LEFT_OUT;
	else if (launch->target->unmeasurable)
		how = RENDEZVOUS_START_WITHOUT;
	rendezvous_send(
		launch->rendezvous->connection, &(struct rendezvous_message){.type = RENDEZVOUS_STARTED,
							.number = (uint64_t)pid,
							.begin_ns = begin_ns,
							.status = (int32_t)how});
}

static struct signals signals;
static bool has_signals; /* `signals` holds the program's state */

int launch_run(const struct launch *launch, int *status, struct rusage *usage, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int failure[2], reason;
	pid_t recorder = process_number(), pid;
	ssize_t got;

	*status = LAUNCH_FAILED;
	/* Before vfork, whose child shares our memory: a signal that killed it inside malloc would leave
	 * the heap inconsistent. */
	if (launch->rendezvous && environment_set(launch))
		return error_memory(error);
	if (pipe2(failure, O_CLOEXEC))
		return error_set(error, ERROR_IO, "cannot make a pipe for it: %s", strerror(errno));
	signals_take(&signals);
	has_signals = true;
	/* vfork suspends us until the program runs or fails: changes made in between affect only the
	 * program. */
	pid = vfork();
	if (!pid)
		program_start(launch, &signals, recorder, failure[1]); /* NOLINT(clang-analyzer-unix.Vfork) */
	reason = errno;
	close(failure[1]);
	signals_pass(pid);
	if (pid < 0) {
		close(failure[0]);
		return error_set(error, ERROR_IO,
			"cannot start a process for it (%s); see ulimit -u, and pids.max of its cgroup",
			strerror(reason));
	}
	do
		got = read(failure[0], &reason, sizeof(reason));
	while (got < 0 && errno == EINTR);
	close(failure[0]);
	if (launch->rendezvous && got != sizeof(reason))
		started_send(launch, pid, begin_ns);
	program_await(pid, status, usage);
	if (got != sizeof(reason))
		return 0;
	*status = reason == ENOENT ? TARGET_NOT_FOUND : TARGET_NOT_EXECUTABLE;
	return error_set(error, ERROR_USAGE, "%s: cannot be executed: %s", launch->target->path,
		reason == ENOENT ? "its interpreter is missing" : strerror(reason));
}

void launch_here(const struct launch *launch)
{
	if (before)
		environ = before;
	if (has_signals)
		signals_restore(&signals);
	image_exec(launch);
}

/* The dynamic loader has already printed what is missing. */
const char *launch_unmeasured_why(int status)
{
	if (has_no_room)
		return "its arguments and environment leave no space for hpct's variables";
	if (WIFEXITED(status) && WEXITSTATUS(status) == LOADER_FAILED)
		return "its dynamic loader ended it before the agent could start; see the loader's message";
	return "the agent could not start in it; see ulimit -v, -f and -n";
}

void launch_explain(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == AGENT_SIGNAL)
		fprintf(stderr,
			"hpct-record: the program died of signal %d, which hpct uses for sampling; unless "
			"another process sent it, the program reset its signal handlers without the C "
			"library: see BUGS in man "
			"hpct-record\n",
			AGENT_SIGNAL);
}

_Noreturn void launch_exit(int status)
{
	sigset_t set;

	fflush(NULL);
	if (!WIFSIGNALED(status))
		exit(WEXITSTATUS(status));
	/* The program has dumped core, if any; a core of hpct-record is useless. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(status));
	exit(128 + WTERMSIG(status));
}
