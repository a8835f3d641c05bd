/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_run.c - opens runs for the library's callers, and lets one call at a time into the readers, which know
 * one thread.
 */
#include "formats/library/read.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "timeline/base/progress.h"
#include "timeline/names/names_fill.h"
#include "timeline/sum/parallel_sum.h"

#define INTERRUPT_EVERY_NS 20000000u

static_assert(
	sizeof(struct hpct_error) == sizeof(struct error), "a caller's error is filled as the readers do");
static_assert((int)HPCT_USAGE == ERROR_USAGE && (int)HPCT_EMPTY == ERROR_EMPTY &&
		      (int)HPCT_RUN == ERROR_RUN && (int)HPCT_IO == ERROR_IO,
	"codes are the readers'");

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool is_stopped; /* outside the readers */

int hpct_read_version(void)
{
	return HPCT_READ_VERSION;
}

const char *hpct_release(void)
{
	return HPCT_VERSION;
}

/* ---- one at a time ---- */

static bool is_interrupted(const struct hpct_run *run)
{
	struct pollfd interrupt = {.fd = run->interrupt_fd, .events = POLLIN};
	char waiting[256];
	ssize_t size;

	if (poll(&interrupt, 1, 0) <= 0 || !(interrupt.revents & (POLLIN | POLLHUP)))
		return false;
	if (!run->interrupt_byte)
		return true;
	size = recv(run->interrupt_fd, waiting, sizeof waiting, MSG_PEEK | MSG_DONTWAIT);
	return size > 0 && memchr(waiting, run->interrupt_byte, (size_t)size);
}

bool read_is_interrupted(const struct hpct_run *run)
{
	is_stopped |= is_interrupted(run);
	return is_stopped;
}

/* False: stop. */
static bool watch(void *own, const char *what, uint64_t done, uint64_t all)
{
	(void)what, (void)done, (void)all;
	return !is_interrupted(own);
}

void read_enter(const struct hpct_run *run)
{
	pthread_mutex_lock(&turn);
	if (run && run->has_interrupt)
		progress_watch(watch, (void *)run, INTERRUPT_EVERY_NS);
}

int read_leave(int rc, struct error *error)
{
	if (rc < 0 && (progress_is_stopped() || is_stopped)) {
		error_set(error, ERROR_IO, "interrupted; the answer is not whole");
		if (error)
			error->code = HPCT_INTERRUPTED;
		rc = -HPCT_INTERRUPTED;
	}
	progress_watch(NULL, NULL, 0);
	is_stopped = false;
	pthread_mutex_unlock(&turn);
	return rc;
}

/* ---- options ---- */

static int take_python(enum run_python *python, const char *word, struct error *error)
{
	static const char *const words[] = {
		[RUN_PYTHON_MIXED] = "mixed", [RUN_PYTHON_NATIVE] = "native", [RUN_PYTHON_ONLY] = "only"};

	for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0) {
			*python = (enum run_python)i;
			return 0;
		}
	return word ? error_set(error, ERROR_USAGE, "python '%s': write mixed, native or only", word) : 0;
}

/* The list's texts are the copy's. */
static int take_paths(
	struct hpct_run *run, struct run_options *options, const char *paths, struct error *error)
{
	size_t count = 1;
	char *rest, *path;

	if (!paths || !*paths)
		return 0;
	for (const char *at = paths; *at; at++)
		count += *at == ':';
	run->debug_paths = strdup(paths);
	run->debug_path_list = calloc(count, sizeof *run->debug_path_list);
	if (!run->debug_paths || !run->debug_path_list)
		return error_memory(error);
	for (path = strtok_r(run->debug_paths, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
		run->debug_path_list[options->debug_path_count++] = path;
	options->debug_paths = run->debug_path_list;
	return 0;
}

static int take_options(struct hpct_run *run, struct run_options *options,
	const struct hpct_open_options *given, struct error *error)
{
	struct hpct_open_options own = {0};
	int rc;

	if (given)
		memcpy(&own, given, given->size_bytes < sizeof own ? given->size_bytes : sizeof own);
	*options = (struct run_options){.debuginfod = own.debuginfod,
		.no_cache = own.no_cache,
		.runtime_frames = own.runtime_frames,
		.no_rollups = own.no_rollups,
		.jobs = parallel_sum_has_threads() ? 1 : own.jobs,
		.mem_bytes = own.mem_bytes};
	run->has_interrupt = own.has_interrupt;
	run->interrupt_fd = own.interrupt_fd;
	run->interrupt_byte = own.interrupt_byte;
	rc = take_python(&options->python, own.python, error);
	return rc < 0 ? rc : take_paths(run, options, own.debug_paths, error);
}

/* ---- runs ---- */

static void run_free(struct hpct_run *run)
{
	if (run->run)
		run_close(run->run);
	free(run->debug_path_list);
	free(run->debug_paths);
	free(run);
}

void read_run_drop(struct hpct_run *run)
{
	if (--run->holders == 0)
		run_free(run);
}

int hpct_open(struct hpct_run **given, const char *path, const struct hpct_open_options *options,
	struct hpct_error *error)
{
	struct hpct_run *run = calloc(1, sizeof *run);
	struct error *why = (struct error *)error;
	struct run_options how;
	int rc;

	if (!run)
		return error_memory(why);
	run->holders = 1;
	rc = take_options(run, &how, options, why);
	if (rc == 0) {
		read_enter(run);
		rc = names_run_open(&run->run, path, &how, why);
		rc = read_leave(rc, why);
	}
	if (rc < 0)
		run_free(run);
	else
		*given = run;
	return rc;
}

void hpct_close(struct hpct_run *run)
{
	if (!run)
		return;
	read_enter(NULL);
	read_run_drop(run);
	read_leave(0, NULL);
}

int hpct_renew(struct hpct_run *run, int *changed, struct hpct_error *error)
{
	struct error *why = (struct error *)error;
	bool has_changed = false;
	int rc = 0;

	read_enter(run);
	if (!run->open_rows && run_is_live(run->run))
		rc = run_renew(run->run, &has_changed, why);
	if (rc == 0 && changed)
		*changed = has_changed;
	return read_leave(rc, why);
}

static int64_t since(const struct run *run, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(run), since_ns = time_ns > origin_ns ? time_ns - origin_ns : 0;

	return since_ns < INT64_MAX ? (int64_t)since_ns : INT64_MAX;
}

int hpct_facts(struct hpct_run *held, struct hpct_facts *facts, struct hpct_error *error)
{
	const struct run *run = held->run;
	struct hpct_facts found = {.size_bytes = facts->size_bytes};

	read_enter(NULL);
	found.path = run_path(run);
	found.origin_ns = run_origin_ns(run);
	found.wall_ns = run_wall_ns(run);
	found.begin_ns = since(run, run_begin_ns(run));
	found.end_ns = since(run, run_end_ns(run));
	found.bytes = run_bytes(run);
	found.stream_count = run_stream_count(run);
	found.context_count = run_context_count(run);
	found.is_live = run_is_live(run);
	memcpy(facts, &found, facts->size_bytes < sizeof found ? facts->size_bytes : sizeof found);
	return read_leave(0, (struct error *)error);
}
