/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_worker.c - the isolated process of names.c: the caller watches the frames it sends and the CPU time
 * it takes; the worker limits its own memory and dies with its caller. A module on which a worker fails is
 * requested again one level lower.
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

#include "store/base/array.h"
#include "store/base/fd_limit.h"
#include "timeline/names/names_fork.h"
#include "timeline/names/names_stream.h"

/* The worker's request holds these above its kind. */
#define NAMES_LEVEL_SHIFT 16
#define NAMES_LEVEL_MASK 0xffu
#define NAMES_PARTS_SHIFT 24

struct names_bad_module {
	uint8_t build_id_bytes;
	uint8_t build_id[NAMES_BUILD_ID_MAX];
	char *path;
	enum names_level level; /* level of the next request */
};

struct names_worker {
	const struct names_options *options;
	pid_t pid; /* 0: not running */
	struct names_stream stream;
	uint64_t heard_s, heard_cpu_s; /* times when it was last heard */
	struct names_bad_module *bad;
	size_t bad_count;
	struct names_question *question; /* NULL: idle */
};

struct names_question {
	const struct symbol_request *request;
	enum names_level level;
	unsigned parts;
	bool is_sent;
	uint32_t answered;
	names_take *take;
	void *context;
	int refusal; /* what `take` returned */
	char *note;
	struct symbol_answer answer;
};

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

/* Restarts the measurement of its silence. */
static void names_worker_heard(struct names_worker *worker)
{
	worker->heard_s = clock_s(CLOCK_MONOTONIC);
	worker->heard_cpu_s = worker_cpu_s(worker);
}

static bool names_worker_is_late(const struct names_worker *worker)
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

/* 0, or negative: no process. */
static int names_worker_start(struct names_worker *worker, struct error *error)
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

/* In order: lets it save its cache. */
static void names_worker_stop(struct names_worker *worker, bool in_order)
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

static struct names_bad_module *bad_find(struct names_worker *worker, const struct symbol_request *request)
{
	for (size_t i = 0; i < worker->bad_count; i++) {
		struct names_bad_module *bad = &worker->bad[i];

		if (bad->build_id_bytes == request->build_id_bytes && !strcmp(bad->path, request->path) &&
			!memcmp(bad->build_id, request->build_id, request->build_id_bytes))
			return bad;
	}
	return NULL;
}

static void bad_remember(
	struct names_worker *worker, const struct symbol_request *request, enum names_level level)
{
	struct names_bad_module *bad = bad_find(worker, request);

	if (!bad) {
		if (!array_resize(&worker->bad, worker->bad_count + 1, sizeof *worker->bad))
			return;
		bad = &worker->bad[worker->bad_count];
		*bad = (struct names_bad_module){.build_id_bytes = request->build_id_bytes};
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
enum outcome { OUTCOME_GOING, OUTCOME_DONE, OUTCOME_REFUSED, OUTCOME_FAILED };

/* An answer must be to the question asked, or the worker's word is worth nothing. */
static bool answer_fits(const struct names_question *question)
{
	return question->answered < question->request->offset_count &&
	       question->answer.offset == question->request->offsets[question->answered] &&
	       question->answer.module == question->request->module;
}

static enum outcome question_frame(struct names_question *question, const struct symbol_frame *frame)
{
	struct symbol_done done;

	if (frame->type == SYMBOL_DONE) {
		if (symbol_done_parse(frame->bytes, frame->size, &done, NULL) ||
			question->answered != question->request->offset_count)
			return OUTCOME_FAILED;
		if (!question->note[0])
			snprintf(question->note, NAMES_NOTE_BYTES, "%s", done.message);
		return OUTCOME_DONE;
	}
	if (symbol_answer_parse(frame->bytes, frame->size, &question->answer, NULL) || !answer_fits(question))
		return OUTCOME_FAILED;
	question->refusal = question->take(question->context, &question->answer);
	question->answered++;
	return question->refusal ? OUTCOME_REFUSED : OUTCOME_GOING;
}

/* What of it is not answered yet. */
static enum outcome question_send(struct names_question *question, int fd, struct error *error)
{
	struct symbol_request rest = *question->request;
	struct store_bytes out = {0};
	int rc;

	rest.kind = (rest.kind & ((1u << NAMES_LEVEL_SHIFT) - 1)) |
		    (uint32_t)question->level << NAMES_LEVEL_SHIFT | question->parts << NAMES_PARTS_SHIFT;
	rest.offsets += question->answered;
	rest.offset_count -= question->answered;
	rc = symbol_request_put(&out, &rest, error);
	rc = rc ? rc : names_stream_write(fd, &out, error);
	store_bytes_fini(&out);
	question->is_sent = !rc;
	return rc ? OUTCOME_FAILED : OUTCOME_GOING;
}

/* What is left when even the symbols cannot be read. */
static int question_give_up(struct names_question *question)
{
	while (!question->refusal && question->answered < question->request->offset_count) {
		uint64_t offset = question->request->offsets[question->answered++];

		question->answer.module = question->request->module;
		question->answer.offset = offset;
		question->answer.stretch = (struct symbol_stretch){offset, offset + 1};
		question->answer.source = NAMES_FROM_NOTHING;
		question->answer.scope_count = 1;
		question->answer.scopes[0] = (struct names_scope){
			.start = offset, .name = "", .linkage = "", .file = "", .decl_file = ""};
		question->refusal = question->take(question->context, &question->answer);
	}
	return question->refusal;
}

static void note_failure(struct names_question *question)
{
	const struct symbol_request *request = question->request;

	snprintf(question->note, NAMES_NOTE_BYTES, "%s: reading its %s failed, the file may be damaged",
		request->real_path[0] ? request->real_path : request->path,
		question->level == NAMES_ALL ? "debug information" : "symbols");
}

int names_worker_begin(struct names_worker *worker, const struct symbol_request *request, unsigned parts,
	names_take *take, void *context, char note[NAMES_NOTE_BYTES], struct error *error)
{
	struct names_bad_module *bad = bad_find(worker, request);

	if (request->offset_count > NAMES_OFFSETS_MAX)
		return error_set(
			error, ERROR_USAGE, "more than %u addresses in one question", NAMES_OFFSETS_MAX);
	worker->question = calloc(1, sizeof *worker->question);
	if (!worker->question)
		return error_memory(error);
	note[0] = '\0';
	*worker->question = (struct names_question){.request = request,
		.level = bad ? bad->level : NAMES_ALL,
		.parts = parts,
		.take = take,
		.context = context,
		.note = note};
	return 0;
}

/* The next frame, or the question itself where it was not sent yet. */
static enum outcome worker_exchange(struct names_worker *worker, struct error *error)
{
	struct names_question *question = worker->question;
	bool came_before = question->is_sent && names_stream_has(&worker->stream);
	struct symbol_frame frame;
	enum outcome outcome;

	if (!question->is_sent)
		outcome = question_send(question, worker->stream.fd, error);
	else
		outcome = names_stream_next(&worker->stream, &frame, error) > 0
				  ? question_frame(question, &frame)
				  : OUTCOME_FAILED;
	if (!came_before)
		names_worker_heard(worker);
	return outcome;
}

static int worker_finish(struct names_worker *worker, int rc)
{
	free(worker->question);
	worker->question = NULL;
	return rc < 0 ? rc : 1;
}

int names_worker_step(struct names_worker *worker, struct error *error)
{
	struct names_question *question = worker->question;
	enum outcome outcome;
	int rc;

	if (question->level == NAMES_NONE)
		return worker_finish(worker, question_give_up(question));
	rc = names_worker_start(worker, error);
	if (rc)
		return worker_finish(worker, rc);
	outcome = worker_exchange(worker, error);
	if (outcome == OUTCOME_GOING)
		return 0;
	if (outcome == OUTCOME_DONE)
		return worker_finish(worker, 0);
	/* Answers still on their way would be taken for those to the next question. */
	names_worker_stop(worker, false);
	if (outcome == OUTCOME_REFUSED)
		return worker_finish(worker, question->refusal);
	question->is_sent = false;
	/* Several are silent until the end; one tells as it goes, and may take longer. */
	if (question->parts > 1) {
		question->parts = 1;
		return 0;
	}
	note_failure(question);
	bad_remember(worker, question->request, ++question->level);
	return 0;
}

bool names_worker_is_asking(const struct names_worker *worker)
{
	return worker->question;
}

bool names_worker_is_ready(const struct names_worker *worker)
{
	return !worker->question->is_sent || names_stream_has(&worker->stream) ||
	       names_worker_is_late(worker);
}

int names_worker_descriptor(const struct names_worker *worker)
{
	return worker->stream.fd;
}

int names_worker_ask(struct names_worker *worker, const struct symbol_request *request, names_take *take,
	void *context, char note[NAMES_NOTE_BYTES], struct error *error)
{
	int rc = names_worker_begin(worker, request, 1, take, context, note, error);

	while (!rc)
		rc = names_worker_step(worker, error);
	return rc < 0 ? rc : 0;
}
