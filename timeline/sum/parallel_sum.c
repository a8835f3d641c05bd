/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_sum.c - processes that each take the next group of streams and send their rows
 * (parallel_sum_rows.h) through pipes. Streams differ in cost (a queue's timeline and that of its launching
 * thread by ten times), so there are more groups than processes.
 *
 *   a process's | group | size | rows | group | size | rows | ...
 */
#include "timeline/sum/parallel_sum_internal.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timeline/base/progress.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/mpi_ranks.h"
#include "timeline/sum/parallel_sum_rows.h"

#define WORTH_RECORDS 1000000u /* below that a fork costs more than it saves */
#define JOBS_MAX 256u
#define STRETCHES_EACH 8u /* for each process */
#define WAIT_MS 20	  /* between two looks whether the answer is still wanted */

int parallel_sum_add_all(const struct parallel_sum_job *job, uint32_t from, uint32_t to,
	struct window *window, struct error *error)
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

/* ---- forked processes ---- */

struct piece {
	uint32_t stretch;
	uint64_t size_bytes;
};

/* What the processes share. */
struct stretch_pool {
	atomic_uint next; /* the next group to take */
};

struct child {
	pid_t pid;
	int from;
	struct store_bytes rows;
};

struct forked {
	const struct parallel_sum_job *job;
	struct stretch_pool *pool;
	struct store_bytes own; /* pieces of this process */
	struct child children[JOBS_MAX];
	uint32_t started, stretches;
};

static uint32_t edge_of(const struct forked *forked, uint32_t stretch)
{
	return (uint32_t)((uint64_t)forked->job->count * stretch / forked->stretches);
}

/* One stretch as a piece behind those so far. */
static int add_piece(
	const struct forked *forked, uint32_t stretch, struct store_bytes *out, struct error *error)
{
	struct piece piece = {.stretch = stretch};
	struct store_bytes rows = {0};
	struct window *window;
	int code = window_new(&window, forked->job->run, error);

	if (code)
		return code;
	code = parallel_sum_add_all(
		forked->job, edge_of(forked, stretch), edge_of(forked, stretch + 1), window, error);
	if (!code && !parallel_sum_rows_put(&rows, forked->job->run, window))
		code = error_memory(error);
	if (code)
		parallel_sum_rows_put_error(&rows, code, error);
	window_free(window);
	piece.size_bytes = rows.size;
	out->failed |= rows.failed;
	store_bytes_put(out, &piece, sizeof piece);
	store_bytes_put(out, rows.data, rows.size);
	store_bytes_fini(&rows);
	return code;
}

/* Takes stretches until none is left. */
static int add_pieces(const struct forked *forked, struct store_bytes *out, struct error *error)
{
	uint32_t stretch;
	int code = 0;

	while (!code && (stretch = atomic_fetch_add(&forked->pool->next, 1)) < forked->stretches)
		code = add_piece(forked, stretch, out, error);
	return code;
}

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
_Noreturn static void be_child(const struct forked *forked, int fd)
{
	struct error error = {0};
	struct store_bytes out = {0};

	progress_end();
	progress_watch(NULL, NULL, 0); /* the terminal and its keys are the parent's */
	add_pieces(forked, &out, &error);
	if (out.failed)
		_exit(1);
	write_all(fd, &out);
	_exit(0);
}

/* The next of them. It lets go of the others' pipes: they are not its. */
static int child_start(struct forked *forked)
{
	struct child *child = &forked->children[forked->started];
	int ends[2];

	if (pipe(ends))
		return -1;
	*child = (struct child){.pid = fork(), .from = ends[0]};
	if (child->pid == 0) {
		close(ends[0]);
		for (uint32_t i = 0; i < forked->started; i++)
			close(forked->children[i].from);
		be_child(forked, ends[1]);
	}
	close(ends[1]);
	if (child->pid > 0) {
		forked->started++;
		return 0;
	}
	close(ends[0]);
	return -1;
}

static int read_all(int fd, struct store_bytes *into, uint32_t done, uint32_t all, struct error *error)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint8_t *capacity = store_bytes_reserve(into, 1 << 16);
		ssize_t got = -1;

		if (!progress_at("adding up", done, all))
			return progress_refuse(error);
		if (capacity)
			got = poll(&wait, 1, WAIT_MS);
		if (got == 0)
			continue;
		if (got > 0)
			got = read(fd, capacity, 1 << 16);
		if (got < 0 && capacity && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		into->size += (size_t)got;
	}
}

/* Waits for it and its rows, unless all is in vain already. */
static int child_end(struct forked *forked, uint32_t number, int code, struct error *error)
{
	struct child *child = &forked->children[number];

	if (!code)
		code = read_all(child->from, &child->rows, number + 1, forked->started + 1, error);
	if (code)
		kill(child->pid, SIGKILL);
	close(child->from);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return code;
}

/* ---- pieces in order ---- */

static bool find_pieces(const struct store_bytes *from, struct store_slice *pieces, uint32_t stretches)
{
	struct store_input input = {.at = from->data, .end = from->data + from->size};
	struct piece piece;

	while (input.at < input.end) {
		const uint8_t *head = store_input_take(&input, sizeof piece);

		if (!head)
			return false;
		memcpy(&piece, head, sizeof piece);
		if (piece.stretch >= stretches || pieces[piece.stretch].bytes)
			return false;
		pieces[piece.stretch].bytes = store_input_take(&input, piece.size_bytes);
		pieces[piece.stretch].size = piece.size_bytes;
		if (input.bad)
			return false;
	}
	return true;
}

static int take_pieces(
	const struct forked *forked, struct window *window, struct store_slice *pieces, struct error *error)
{
	bool is_good = find_pieces(&forked->own, pieces, forked->stretches);
	int code = 0;

	for (uint32_t i = 0; i < forked->started && is_good; i++)
		is_good = find_pieces(&forked->children[i].rows, pieces, forked->stretches);
	for (uint32_t i = 0; i < forked->stretches && is_good && !code; i++)
		if (pieces[i].bytes)
			code = parallel_sum_rows_take(window, forked->job->run, pieces[i], error);
		else
			is_good = false;
	if (code || is_good)
		return code;
	return error_set(error, ERROR_IO, "a process that was to help has died; --jobs 1 does without");
}

/* Fewer processes than were wanted take all stretches, too. */
static int sum_forked(
	const struct parallel_sum_job *job, struct window *window, uint32_t parts, struct error *error)
{
	struct forked *forked = calloc(1, sizeof *forked);
	struct store_slice *pieces = NULL;
	int code;

	if (!forked)
		return error_memory(error);
	forked->job = job;
	forked->stretches = job->count / STRETCHES_EACH < parts ? job->count : parts * STRETCHES_EACH;
	forked->pool =
		mmap(NULL, sizeof *forked->pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pieces = calloc(forked->stretches, sizeof *pieces);
	code = pieces && forked->pool != MAP_FAILED ? 0 : error_memory(error);
	while (!code && forked->started + 1 < parts && child_start(forked) == 0)
		;
	code = code ? code : add_pieces(forked, &forked->own, error);
	if (!code && forked->own.failed)
		code = error_memory(error);
	for (uint32_t i = 0; i < forked->started; i++)
		code = child_end(forked, i, code, error);
	code = code ? code : take_pieces(forked, window, pieces, error);
	for (uint32_t i = 0; i < forked->started; i++)
		store_bytes_fini(&forked->children[i].rows);
	store_bytes_fini(&forked->own);
	if (forked->pool != MAP_FAILED)
		munmap(forked->pool, sizeof *forked->pool);
	free(pieces);
	free(forked);
	return code;
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
static uint32_t parts_for(const struct parallel_sum_job *job)
{
	uint32_t parts = job->run->options.jobs;
	uint64_t records = 0;

	if (!parts) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);

		for (uint32_t i = 0; i < job->count; i++) {
			const struct store_stream *s = &run_stream_peek_unnamed(job->run, job->streams[i])->s;

			records += s->count[STORE_SAMPLES] + s->count[STORE_SPANS] + s->count[STORE_VALUES];
		}
		parts = cores > 1 && records >= WORTH_RECORDS ? (uint32_t)cores : 1;
	}
	parts = parts < JOBS_MAX ? parts : JOBS_MAX;
	return parts < job->count ? parts : job->count;
}

int parallel_sum_streams(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, parallel_sum_add *add, void *own, struct error *error)
{
	const struct parallel_sum_job job = {run, streams, count, begin_ns, end_ns, add, own};
	uint32_t parts;

	if (has_reals(run))
		return parallel_sum_add_all(&job, 0, count, window, error);
	if (mpi_ranks_count() > 1)
		return parallel_sum_ranks(&job, window, error);
	parts = parts_for(&job);
	return parts > 1 ? sum_forked(&job, window, parts, error)
			 : parallel_sum_add_all(&job, 0, count, window, error);
}

bool parallel_sum_has_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	while (tasks && (entry = readdir(tasks)))
		count += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return count != 1;
}
