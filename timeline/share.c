/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - one process for each stretch of the streams, their rows through pipes or messages.
 *
 *   rows | header | error's text, or: | times | weights | names of operations, NUL-terminated |
 */
#include "timeline/share.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/bytes.h"
#include "timeline/progress.h"
#include "timeline/ranks.h"
#include "timeline/run_parts.h"

#define WORTH_RECORDS 1000000u /* below that a fork costs more than it saves */
#define JOBS_MAX 256u
#define WAIT_MS 20 /* between two looks whether the answer is still wanted */

struct header {
	int32_t code;			     /* negative: the error's text follows */
	uint32_t contexts, streams, metrics; /* of the run as the process has it */
	uint64_t times, weights, names_bytes;
};

struct job {
	struct run *run;
	const uint32_t *streams;
	uint32_t count;
	uint64_t begin_ns, end_ns;
	share_add *add;
	void *own;
};

static int add_all(
	const struct job *job, uint32_t from, uint32_t to, struct window *window, struct error *error)
{
	int code = 0;

	for (uint32_t i = from; i < to && !code; i++) {
		code = job->add(job->own, window, job->streams[i], job->begin_ns, job->end_ns, error);
		/* rollups of many streams take long, too, and say nothing of it */
		if (!code && !progress_at("adding up", i + 1 - from, to - from))
			code = progress_refuse(error);
	}
	return code;
}

/* ---- rows to bytes and back ---- */

/* Operations beyond the fixed ones have numbers of the process: their names go along, by place. */
static bool put_rows(struct store_bytes *out, const struct run *run, const struct window *window)
{
	struct header header = {.contexts = run_context_count(run),
		.streams = run_stream_count(run),
		.metrics = run_metric_count(run)};
	size_t times, weights;
	const struct window_time *time = window_times(window, &times);
	const struct window_weight *weight = window_weights(window, &weights);
	struct store_bytes names = {0};

	for (size_t i = 0; i < times; i++)
		if (time[i].op >= STORE_OP_TEXT) {
			const char *name = run_op_name(run, time[i].op);

			store_bytes_put(&names, name, strlen(name) + 1);
		}
	header.times = times;
	header.weights = weights;
	header.names_bytes = names.size;
	store_bytes_put(out, &header, sizeof header);
	if (times)
		store_bytes_put(out, time, times * sizeof *time);
	if (weights)
		store_bytes_put(out, weight, weights * sizeof *weight);
	if (names.size)
		store_bytes_put(out, names.data, names.size);
	out->failed |= names.failed;
	store_bytes_fini(&names);
	return !out->failed;
}

static void put_error(struct store_bytes *out, int code, const struct error *error)
{
	struct header header = {.code = code, .names_bytes = strlen(error->text)};

	out->size = 0;
	out->failed = false;
	store_bytes_put(out, &header, sizeof header);
	store_bytes_put(out, error->text, strlen(error->text));
}

static int take_times(struct window *window, struct run *run, struct store_input *input,
	const struct header *header, const char *name, const char *names_end, struct error *error)
{
	struct window_time time;
	int code = 0;

	for (uint64_t i = 0; i < header->times && !code; i++) {
		const uint8_t *at = store_input_take(input, sizeof time);

		memcpy(&time, at, sizeof time);
		if (time.op >= STORE_OP_TEXT && name < names_end) {
			time.op = run_op_named(run, name, strlen(name));
			name += strlen(name) + 1;
		}
		code = window_put_time(window, &time, error);
	}
	return code;
}

static int take_weights(
	struct window *window, struct store_input *input, const struct header *header, struct error *error)
{
	struct window_weight weight;
	int code = 0;

	for (uint64_t i = 0; i < header->weights && !code; i++) {
		memcpy(&weight, store_input_take(input, sizeof weight), sizeof weight);
		code = window_put_weight(window, &weight, error);
	}
	return code;
}

/* They come from another process of this program, so only what can happen is checked: it died, or on another
 * host it sees another state of the run. */
static int take_rows(
	struct window *window, struct run *run, const struct store_bytes *from, struct error *error)
{
	struct store_input input = {.at = from->data, .end = from->data + from->size};
	struct header header;
	uint64_t rows_bytes;
	int code;

	if (from->failed)
		return error_memory(error);
	if (from->size < sizeof header)
		return error_set(
			error, ERROR_IO, "a process that was to help has died; --jobs 1 does without");
	memcpy(&header, store_input_take(&input, sizeof header), sizeof header);
	if (header.code)
		return error_set(error, (enum error_code) - header.code, "%.*s", (int)(input.end - input.at),
			(const char *)input.at);
	if (header.contexts != run_context_count(run) || header.streams != run_stream_count(run) ||
		header.metrics != run_metric_count(run))
		return error_set(error, ERROR_RUN,
			"the run changed while several ranks opened it: read it with one, or when it has "
			"ended");
	rows_bytes =
		header.times * sizeof(struct window_time) + header.weights * sizeof(struct window_weight);
	if ((uint64_t)(input.end - input.at) != rows_bytes + header.names_bytes)
		return error_set(
			error, ERROR_IO, "a process that was to help has died; --jobs 1 does without");
	code = take_times(window, run, &input, &header, (const char *)input.at + rows_bytes,
		(const char *)input.end, error);
	return code ? code : take_weights(window, &input, &header, error);
}

/* ---- forked processes ---- */

struct child {
	pid_t pid;
	int from;
};

static void write_all(int fd, const struct store_bytes *bytes)
{
	for (size_t done = 0; done < bytes->size;) {
		ssize_t put = write(fd, bytes->data + done, bytes->size - done);

		if (put < 0 && errno != EINTR)
			_exit(1);
		done += put > 0 ? (size_t)put : 0;
	}
}

/* Never returns: what the parent has half done must not be done twice. */
_Noreturn static void be_child(const struct job *job, uint32_t from, uint32_t to, int fd)
{
	struct error error = {0};
	struct store_bytes out = {0};
	struct window *window;
	int code = window_new(&window, job->run, &error);

	progress_end();
	progress_watch(NULL, NULL, 0); /* the terminal and its keys are the parent's */
	code = code ? code : add_all(job, from, to, window, &error);
	if (!code && !put_rows(&out, job->run, window))
		code = error_memory(&error);
	if (code)
		put_error(&out, code, &error);
	write_all(fd, &out);
	_exit(0);
}

/* The next of them. It lets go of the others' pipes: they are not its. */
static int child_start(
	struct child *children, uint32_t number, const struct job *job, uint32_t from, uint32_t to)
{
	struct child *child = &children[number];
	int ends[2];

	if (pipe(ends))
		return -1;
	child->pid = fork();
	if (child->pid == 0) {
		close(ends[0]);
		for (uint32_t i = 1; i < number; i++)
			close(children[i].from);
		be_child(job, from, to, ends[1]);
	}
	close(ends[1]);
	child->from = ends[0];
	if (child->pid > 0)
		return 0;
	close(ends[0]);
	return -1;
}

static int read_all(int fd, struct store_bytes *into, uint32_t done, uint32_t all, struct error *error)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint8_t *room = store_bytes_reserve(into, 1 << 16);
		ssize_t got = -1;

		if (!progress_at("adding up", done, all))
			return progress_refuse(error);
		if (room)
			got = poll(&wait, 1, WAIT_MS);
		if (got == 0)
			continue;
		if (got > 0)
			got = read(fd, room, 1 << 16);
		if (got < 0 && room && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		into->size += (size_t)got;
	}
}

/* Takes its rows, unless all is in vain already. The i-th of so many. */
static int child_end(struct child *children, uint32_t i, uint32_t count, struct window *window,
	struct run *run, int code, struct error *error)
{
	struct child *child = &children[i];
	struct store_bytes rows = {0};

	if (!code)
		code = read_all(child->from, &rows, i, count, error);
	if (code)
		kill(child->pid, SIGKILL);
	close(child->from);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!code)
		code = take_rows(window, run, &rows, error);
	store_bytes_fini(&rows);
	return code;
}

static uint32_t stretch(uint32_t count, uint32_t parts, uint32_t part)
{
	return (uint32_t)((uint64_t)count * part / parts);
}

static int share_forked(const struct job *job, struct window *window, uint32_t parts, struct error *error)
{
	struct child children[JOBS_MAX];
	uint32_t started = 1, mine;
	int code;

	while (started < parts && child_start(children, started, job, stretch(job->count, parts, started),
					  stretch(job->count, parts, started + 1)) == 0)
		started++;
	mine = stretch(job->count, parts, 1);
	code = add_all(job, 0, mine, window, error);
	for (uint32_t i = 1; i < started; i++)
		code = child_end(children, i, started, window, job->run, code, error);
	/* No more processes to be had: what is left is added here. */
	return code ? code : add_all(job, stretch(job->count, parts, started), job->count, window, error);
}

/* ---- ranks ---- */

/* Fewer streams than ranks: one rank adds them all, another one the next time. */
static bool is_for_one(const struct job *job)
{
	return job->count < ranks_count();
}

static void own_stretch(const struct job *job, uint32_t rank, uint32_t *from, uint32_t *to)
{
	const uint32_t ranks = ranks_count();

	if (is_for_one(job)) {
		*from = 0;
		*to = job->count && job->streams[0] % ranks == rank ? job->count : 0;
	} else {
		*from = stretch(job->count, ranks, rank);
		*to = stretch(job->count, ranks, rank + 1);
	}
}

static int send_rows(const struct job *job, const struct window *window, struct error *error)
{
	struct store_bytes rows = {0};
	int code = put_rows(&rows, job->run, window) ? ranks_send(&rows, error) : error_memory(error);

	store_bytes_fini(&rows);
	return code;
}

static int take_from_ranks(const struct job *job, struct window *window, struct error *error)
{
	struct store_bytes rows = {0};
	uint32_t from, to;
	int code = 0;

	for (uint32_t rank = 1; rank < ranks_count() && !code; rank++) {
		own_stretch(job, rank, &from, &to);
		if (from == to)
			continue;
		code = ranks_receive(rank, &rows, error);
		code = code ? code : take_rows(window, job->run, &rows, error);
	}
	store_bytes_fini(&rows);
	return code;
}

static int share_ranked(const struct job *job, struct window *window, struct error *error)
{
	uint32_t from, to;
	int code;

	own_stretch(job, ranks_own(), &from, &to);
	code = add_all(job, from, to, window, error);
	if (code)
		return code;
	if (ranks_own() == 0)
		return take_from_ranks(job, window, error);
	return from < to ? send_rows(job, window, error) : 0;
}

/* ---- the whole ---- */

static bool has_reals(const struct run *run)
{
	for (uint32_t metric = 0; metric < run_metric_count(run); metric++)
		if (run_metric_is_real(run, metric))
			return true;
	return false;
}

/* How many processes are worth it. */
static uint32_t parts_for(const struct job *job)
{
	uint32_t parts = job->run->options.jobs;
	uint64_t records = 0;

	if (!parts) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);

		for (uint32_t i = 0; i < job->count; i++)
			records += run_stream(job->run, job->streams[i])->s.count[STORE_SAMPLES] +
				   run_stream(job->run, job->streams[i])->s.count[STORE_SPANS] +
				   run_stream(job->run, job->streams[i])->s.count[STORE_VALUES];
		parts = cores > 1 && records >= WORTH_RECORDS ? (uint32_t)cores : 1;
	}
	parts = parts < JOBS_MAX ? parts : JOBS_MAX;
	return parts < job->count ? parts : job->count;
}

int share_streams(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, share_add *add, void *own, struct error *error)
{
	const struct job job = {run, streams, count, begin_ns, end_ns, add, own};
	uint32_t parts;

	if (has_reals(run))
		return add_all(&job, 0, count, window, error);
	if (ranks_count() > 1)
		return share_ranked(&job, window, error);
	parts = parts_for(&job);
	return parts > 1 ? share_forked(&job, window, parts, error) : add_all(&job, 0, count, window, error);
}
