/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.c - both ends of the wall around names.c: the asker watches the worker by the frames
 * it sends and the CPU time it takes; the worker limits its own memory and dies with its asker.
 */
#include "timeline/names_worker.h"

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

#include "timeline/names_stream.h"

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
#define LEVEL_SHIFT 16 /* the worker's request carries the level above its kind */
#define FLUSH_BYTES 65536u

struct bad_module {
	uint8_t build_id_bytes;
	uint8_t build_id[NAMES_BUILD_ID_MAX];
	char *path;
	enum names_level level; /* at which it may be asked */
};

struct names_worker {
	const struct names_options *options;
	pid_t pid; /* 0: not running */
	struct names_stream stream;
	struct bad_module *bad;
	size_t bad_count;
};

/* ---- the worker's side ---- */

static bool worker_answer(
	struct names *names, const struct names_request *request, enum names_level level, int fd)
{
	static struct names_answer answer; /* the worker has one thread */
	struct store_bytes out = {0};
	struct names_module *module;
	struct names_done done = {.module = request->module};
	bool going = names_module(names, request, level, &module, NULL) == 0;

	answer.module = request->module;
	for (uint32_t i = 0; going && i < request->offset_count; i++)
		going = !names_find(module, request->offsets[i], &answer, NULL) &&
			!names_answer_put(&out, &answer, NULL) &&
			(out.size < FLUSH_BYTES || !names_stream_write(fd, &out, NULL));
	if (going) {
		names_module_keep(module);
		done.message = names_module_note(module);
		going = !names_done_put(&out, &done, NULL) && !names_stream_write(fd, &out, NULL);
	}
	store_bytes_fini(&out);
	return going;
}

static void worker_run(int fd, const struct names_options *options)
{
	struct names_stream asker = {.fd = fd};
	struct names_frame frame;
	struct names *names;
	bool going = true;

	if (names_open(&names, options, NULL))
		return;
	while (going && names_stream_next(&asker, &frame, NULL) > 0) {
		struct names_request request;
		uint64_t *offsets;
		enum names_level level;

		if (names_request_parse(frame.bytes, frame.size, &request, &offsets, NULL))
			break;
		level = (enum names_level)(request.kind >> LEVEL_SHIFT);
		request.kind &= (1u << LEVEL_SHIFT) - 1;
		going = worker_answer(names, &request, level, fd);
		free(offsets);
	}
	names_close(names);
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
	close_range(WORKER_FD + 1, ~0u, 0);
}

/* ---- the asker's side ---- */

static uint64_t clock_s(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec;
}

/* Waits until the worker sends something; false when it takes too long over it. */
static bool worker_wait(void *context)
{
	const struct names_worker *worker = context;
	struct pollfd poll_fd = {worker->stream.fd, POLLIN, 0};
	unsigned silent_s = worker->options->silent_s ? worker->options->silent_s : WORKER_WALL_S;
	uint64_t wall_s = clock_s(CLOCK_MONOTONIC), cpu_s;
	clockid_t cpu;

	if (clock_getcpuclockid(worker->pid, &cpu))
		return false;
	cpu_s = clock_s(cpu);
	while (poll(&poll_fd, 1, 1000) <= 0)
		if (clock_s(cpu) - cpu_s > WORKER_CPU_S || clock_s(CLOCK_MONOTONIC) - wall_s > silent_s)
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

static int worker_start(struct names_worker *worker, struct error *error)
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

/* It ends by itself when its asker closes, and keeps what it found; not if that takes long. */
static void worker_wait_end(const struct names_worker *worker)
{
	struct timespec nap = {.tv_nsec = 1000000};
	siginfo_t info = {0};

	for (int i = 0; i < WORKER_END_MS && !info.si_pid; i++) {
		if (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT))
			return;
		if (!info.si_pid)
			nanosleep(&nap, NULL);
	}
}

static void worker_stop(struct names_worker *worker, bool in_order)
{
	if (!worker->pid)
		return;
	close(worker->stream.fd);
	if (in_order)
		worker_wait_end(worker);
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
	worker_stop(worker, true);
	for (size_t i = 0; i < worker->bad_count; i++)
		free(worker->bad[i].path);
	free(worker->bad);
	store_bytes_fini(&worker->stream.in);
	free(worker);
}

static struct bad_module *bad_find(struct names_worker *worker, const struct names_request *request)
{
	for (size_t i = 0; i < worker->bad_count; i++) {
		struct bad_module *bad = &worker->bad[i];

		if (bad->build_id_bytes == request->build_id_bytes && !strcmp(bad->path, request->path) &&
			!memcmp(bad->build_id, request->build_id, request->build_id_bytes))
			return bad;
	}
	return NULL;
}

static void bad_remember(
	struct names_worker *worker, const struct names_request *request, enum names_level level)
{
	struct bad_module *bad = bad_find(worker, request);

	if (!bad) {
		struct bad_module *grown = realloc(worker->bad, (worker->bad_count + 1) * sizeof *grown);

		if (!grown)
			return;
		worker->bad = grown;
		bad = &grown[worker->bad_count];
		*bad = (struct bad_module){.build_id_bytes = request->build_id_bytes};
		memcpy(bad->build_id, request->build_id, sizeof bad->build_id);
		bad->path = strdup(request->path);
		if (!bad->path)
			return;
		worker->bad_count++;
	}
	bad->level = level;
}

/* ---- one question ---- */

/* How far an exchange with the worker came. */
enum outcome { OUTCOME_DONE, OUTCOME_REFUSED, OUTCOME_FAILED };

struct question {
	const struct names_request *request;
	uint32_t answered;
	names_take *take;
	void *context;
	int refusal; /* what `take` returned */
	char *note;
	struct names_answer answer;
};

/* An answer must be to the question asked, or the worker's word is worth nothing. */
static bool answer_fits(const struct question *question)
{
	return question->answered < question->request->offset_count &&
	       question->answer.offset == question->request->offsets[question->answered] &&
	       question->answer.module == question->request->module;
}

static enum outcome question_frame(struct question *question, const struct names_frame *frame)
{
	struct names_done done;

	if (frame->type == NAMES_DONE) {
		if (names_done_parse(frame->bytes, frame->size, &done, NULL) ||
			question->answered != question->request->offset_count)
			return OUTCOME_FAILED;
		if (!question->note[0])
			snprintf(question->note, NAMES_NOTE_BYTES, "%s", done.message);
		return OUTCOME_DONE;
	}
	if (names_answer_parse(frame->bytes, frame->size, &question->answer, NULL) || !answer_fits(question))
		return OUTCOME_FAILED;
	question->refusal = question->take(question->context, &question->answer);
	question->answered++;
	return question->refusal ? OUTCOME_REFUSED : OUTCOME_DONE;
}

static enum outcome worker_exchange(
	struct names_worker *worker, struct question *question, enum names_level level, struct error *error)
{
	struct names_request rest = *question->request;
	struct store_bytes out = {0};
	struct names_frame frame = {0};
	enum outcome outcome = OUTCOME_DONE;
	int rc;

	rest.kind = (rest.kind & ((1u << LEVEL_SHIFT) - 1)) | (uint32_t)level << LEVEL_SHIFT;
	rest.offsets += question->answered;
	rest.offset_count -= question->answered;
	rc = names_request_put(&out, &rest, error);
	rc = rc ? rc : names_stream_write(worker->stream.fd, &out, error);
	store_bytes_fini(&out);
	if (rc)
		return OUTCOME_FAILED;
	while (outcome == OUTCOME_DONE && frame.type != NAMES_DONE)
		outcome = names_stream_next(&worker->stream, &frame, error) > 0
				  ? question_frame(question, &frame)
				  : OUTCOME_FAILED;
	return outcome;
}

/* What is left when even the symbols cannot be read. */
static void question_give_up(struct question *question)
{
	while (!question->refusal && question->answered < question->request->offset_count) {
		uint64_t offset = question->request->offsets[question->answered++];

		question->answer.module = question->request->module;
		question->answer.offset = offset;
		question->answer.source = NAMES_FROM_NOTHING;
		question->answer.scope_count = 1;
		question->answer.scopes[0] = (struct names_scope){
			.start = offset, .name = "", .linkage = "", .file = "", .decl_file = ""};
		question->refusal = question->take(question->context, &question->answer);
	}
}

static void note_failure(struct question *question, enum names_level level)
{
	const struct names_request *request = question->request;

	snprintf(question->note, NAMES_NOTE_BYTES, "%s: reading its %s failed, the file may be damaged",
		request->real_path[0] ? request->real_path : request->path,
		level == NAMES_ALL ? "debug information" : "symbols");
}

int names_worker_ask(struct names_worker *worker, const struct names_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error)
{
	struct bad_module *bad = bad_find(worker, request);
	enum names_level level = bad ? bad->level : NAMES_ALL;
	struct question *question = calloc(1, sizeof *question);
	enum outcome outcome = OUTCOME_FAILED;
	int rc = 0;

	if (!question)
		return error_memory(error);
	if (request->offset_count > NAMES_OFFSETS_MAX) {
		free(question);
		return error_set(
			error, ERROR_USAGE, "more than %u addresses in one question", NAMES_OFFSETS_MAX);
	}
	note[0] = '\0';
	*question = (struct question){.request = request, .take = take, .context = context, .note = note};
	while (!rc && outcome == OUTCOME_FAILED && level < NAMES_NONE) {
		rc = worker_start(worker, error);
		if (rc)
			break;
		outcome = worker_exchange(worker, question, level, error);
		if (outcome == OUTCOME_DONE)
			break;
		/* Answers still on their way would be taken for those to the next question. */
		worker_stop(worker, false);
		if (outcome == OUTCOME_FAILED) {
			note_failure(question, level);
			bad_remember(worker, request, ++level);
		}
	}
	if (!rc && level == NAMES_NONE)
		question_give_up(question);
	rc = rc ? rc : question->refusal;
	free(question);
	return rc;
}
