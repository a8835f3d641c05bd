/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.c - the isolated process of names.c: the caller watches the frames it sends and the CPU time
 * it takes; the worker limits its own memory and dies with its caller.
 */
#include "timeline/names/names_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/base/fd_limit.h"
#include "timeline/names/names_fork.h"
#include "timeline/names/names_worker_internal.h"

#define WORKER_MEMORY_BYTES (8ull << 30)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WORKER_SANITIZED 1 /* sanitizers reserve terabytes */
#else
#define WORKER_SANITIZED 0
#endif
#define WORKER_CPU_S 30 /* without a frame: it hangs */
#define WORKER_END_MS 2000
#define WORKER_WALL_S 300 /* the same, asleep (a server, a network file system) */
#define WORKER_FD 3
#define FLUSH_BYTES 65536u

/* ---- the worker's side ---- */

/* Each answer is sent soon after it is found. */
static bool answer_alone(struct names_module *module, const struct symbol_request *request, int fd)
{
	static struct symbol_answer answer; /* the worker has one thread */
	struct store_bytes out = {0};
	bool going = true;

	answer.module = request->module;
	for (uint32_t i = 0; going && i < request->offset_count; i++)
		going = !names_find(module, request->offsets[i], &answer, NULL) &&
			!symbol_answer_put(&out, &answer, NULL) &&
			(out.size < FLUSH_BYTES || !names_stream_write(fd, &out, NULL));
	going = going && !names_stream_write(fd, &out, NULL);
	store_bytes_fini(&out);
	return going;
}

static bool worker_answer(struct names *names, const struct symbol_request *request, enum names_level level,
	unsigned parts, int fd)
{
	struct store_bytes out = {0};
	struct names_module *module;
	struct symbol_done done = {.module = request->module};
	bool going;
	int split = 0;

	if (names_module(names, request, level, &module, NULL))
		return false;
	if (parts > 1 && request->offset_count >= NAMES_FORK_MIN && names_module_is_forkable(module))
		split = names_fork_answer(module, request, parts, fd, &done.message);
	going = split > 0 || (!split && answer_alone(module, request, fd));
	if (!split)
		done.message = names_module_note(module);
	if (going)
		names_module_keep(module);
	going = going && !symbol_done_put(&out, &done, NULL) && !names_stream_write(fd, &out, NULL);
	store_bytes_fini(&out);
	return going;
}

static void worker_run(int fd, const struct names_options *options)
{
	struct names_stream asker = {.fd = fd};
	struct symbol_frame frame;
	struct names *names;
	bool going = true;

	if (names_open(&names, options, NULL))
		return;
	while (going && names_stream_next(&asker, &frame, NULL) > 0) {
		struct symbol_request request;
		uint64_t *offsets;
		enum names_level level;
		unsigned parts;

		if (symbol_request_parse(frame.bytes, frame.size, &request, &offsets, NULL))
			break;
		parts = request.kind >> NAMES_PARTS_SHIFT;
		level = (enum names_level)(request.kind >> NAMES_LEVEL_SHIFT & NAMES_LEVEL_MASK);
		request.kind &= (1u << NAMES_LEVEL_SHIFT) - 1;
		going = worker_answer(names, &request, level, parts, fd);
		free(offsets);
	}
	if (going)
		names_prefetch(names);
	names_end(names);
}

static void worker_settle(int fd, const struct names_options *options)
{
	uint64_t bytes = options->memory_bytes ? options->memory_bytes : WORKER_MEMORY_BYTES;
	struct rlimit memory = {bytes, bytes}, core = {0, 0};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hpct-names");
	if (!WORKER_SANITIZED)
		setrlimit(RLIMIT_DATA, &memory);
	setrlimit(RLIMIT_CORE, &core);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	/* Libraries assert; the asker says in its own words what failed. */
	if (nothing >= 0)
		dup2(nothing, STDERR_FILENO);
	/* The asker's files (a store, a terminal) are none of the worker's business. */
	if (fd != WORKER_FD)
		dup2(fd, WORKER_FD);
	fd_close_from(WORKER_FD + 1);
}

/* ---- the asker's side ---- */

static uint64_t clock_s(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec;
}

static uint64_t worker_cpu_s(const struct names_worker *worker)
{
	clockid_t cpu;

	return clock_getcpuclockid(worker->pid, &cpu) ? 0 : clock_s(cpu);
}

void names_worker_heard(struct names_worker *worker)
{
	worker->heard_s = clock_s(CLOCK_MONOTONIC);
	worker->heard_cpu_s = worker_cpu_s(worker);
}

bool names_worker_is_late(const struct names_worker *worker)
{
	unsigned silent_s = worker->options->silent_s ? worker->options->silent_s : WORKER_WALL_S;
	uint64_t cpu_s = worker_cpu_s(worker);

	return (cpu_s && cpu_s - worker->heard_cpu_s > WORKER_CPU_S) ||
	       clock_s(CLOCK_MONOTONIC) - worker->heard_s > silent_s;
}

/* Waits until the worker sends something; false when it takes too long over it. */
static bool worker_wait(void *context)
{
	const struct names_worker *worker = context;
	struct pollfd poll_fd = {worker->stream.fd, POLLIN, 0};

	while (poll(&poll_fd, 1, 1000) <= 0)
		if (names_worker_is_late(worker))
			return false;
	return true;
}

int names_worker_open(struct names_worker **out, const struct names_options *options, struct error *error)
{
	struct names_worker *worker = calloc(1, sizeof *worker);

	*out = worker;
	if (!worker)
		return error_memory(error);
	worker->options = options;
	worker->stream = (struct names_stream){.fd = -1, .wait = worker_wait, .context = worker};
	return 0;
}

int names_worker_start(struct names_worker *worker, struct error *error)
{
	int pair[2];
	pid_t pid;

	if (worker->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return error_set(error, ERROR_IO, "cannot make a socket for names: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return error_set(error, ERROR_IO, "cannot start a process for names: %s", strerror(errno));
	}
	if (pid == 0) {
		worker_settle(pair[1], worker->options);
		worker_run(WORKER_FD, worker->options);
		_exit(0);
	}
	close(pair[1]);
	worker->stream.fd = pair[0];
	worker->stream.in.size = worker->stream.taken = 0;
	worker->pid = pid;
	return 0;
}

/* It ends by itself when its asker has nothing more to say, and keeps what it found; not if that takes long.
 * Its end closes the socket. */
static void worker_wait_end(const struct names_worker *worker)
{
	struct pollfd end = {.fd = worker->stream.fd};

	shutdown(worker->stream.fd, SHUT_WR);
	while (poll(&end, 1, WORKER_END_MS) < 0 && errno == EINTR)
		;
}

void names_worker_stop(struct names_worker *worker, bool in_order)
{
	if (!worker->pid)
		return;
	if (in_order)
		worker_wait_end(worker);
	close(worker->stream.fd);
	kill(worker->pid, SIGKILL);
	while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	worker->stream.fd = -1;
}

void names_worker_close(struct names_worker *worker)
{
	if (!worker)
		return;
	names_worker_stop(worker, !worker->question);
	free(worker->question);
	for (size_t i = 0; i < worker->bad_count; i++)
		free(worker->bad[i].path);
	free(worker->bad);
	store_bytes_fini(&worker->stream.in);
	free(worker);
}
