/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_shared.c - see slice_shared.h.
 *
 *   a child's pipe | size | rows | size | rows | ... | FAILED | struct error |
 */
#include "timeline/slice/slice_shared.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timeline/base/progress.h"

#define FAILED UINT64_MAX
#define COPY_BYTES (1u << 16)

struct sharing {
	struct report *report;
	uint64_t stretches;
	slice_make *make;
	void *own;
	unsigned count; /* children */
	struct {
		pid_t pid;
		int from;
	} child[SLICE_JOBS_MAX];
};

/* ---- a child ---- */

static void write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t put = write(fd, at, size);

		if (put < 0 && errno != EINTR)
			_exit(1);
		at += put > 0 ? put : 0;
		size -= put > 0 ? (size_t)put : 0;
	}
}

_Noreturn static void fail(int fd, const struct error *error)
{
	const uint64_t mark = FAILED;

	write_all(fd, &mark, sizeof mark);
	write_all(fd, error, sizeof *error);
	_exit(1);
}

static void make_one(const struct sharing *sharing, uint64_t number, int fd)
{
	struct error error = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	uint64_t bytes;
	int code = out ? 0 : error_memory(&error);

	if (!code) {
		report_divert(sharing->report, out);
		code = sharing->make(sharing->own, number, &error);
	}
	if (!code && (report_flush(sharing->report, &error) || fclose(out)))
		code = error_memory(&error);
	if (code)
		fail(fd, &error);
	bytes = size;
	write_all(fd, &bytes, sizeof bytes);
	write_all(fd, text, size);
	free(text);
}

_Noreturn static void be_child(const struct sharing *sharing, unsigned number, unsigned jobs, int fd)
{
	progress_end();
	progress_watch(NULL, NULL, 0); /* the terminal and its keys are the parent's */
	for (uint64_t stretch = number; stretch < sharing->stretches; stretch += jobs)
		make_one(sharing, stretch, fd);
	_exit(0);
}

/* ---- the parent ---- */

static void end_all(struct sharing *sharing)
{
	for (unsigned i = 0; i < sharing->count; i++) {
		close(sharing->child[i].from);
		kill(sharing->child[i].pid, SIGKILL);
		while (waitpid(sharing->child[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	sharing->count = 0;
}

/* All of them, or none: each knows by their number which stretches are its. */
static bool start_all(struct sharing *sharing, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++) {
		int ends[2];
		pid_t pid;

		if (pipe(ends))
			break;
		pid = fork();
		if (pid == 0) {
			close(ends[0]);
			for (unsigned other = 0; other < i; other++)
				close(sharing->child[other].from);
			be_child(sharing, i, jobs, ends[1]);
		}
		close(ends[1]);
		if (pid < 0) {
			close(ends[0]);
			break;
		}
		sharing->child[sharing->count].pid = pid;
		sharing->child[sharing->count++].from = ends[0];
	}
	if (sharing->count == jobs)
		return true;
	end_all(sharing);
	return false;
}

static int read_all(int fd, void *into, size_t size, struct error *error)
{
	char *at = into;

	while (size) {
		ssize_t got = read(fd, at, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set(error, ERROR_IO,
				"a process that was to help has died; --jobs 1 does without");
		at += got;
		size -= (size_t)got;
	}
	return 0;
}

static int take_one(const struct sharing *sharing, uint64_t number, struct error *error)
{
	int from = sharing->child[number % sharing->count].from;
	char bytes[COPY_BYTES];
	struct error theirs;
	uint64_t size;
	int code = read_all(from, &size, sizeof size, error);

	if (!code && size == FAILED) {
		code = read_all(from, &theirs, sizeof theirs, error);
		return code ? code : error_set(error, theirs.code, "%s", theirs.text);
	}
	while (!code && size) {
		size_t part = size < sizeof bytes ? (size_t)size : sizeof bytes;

		code = read_all(from, bytes, part, error);
		if (!code)
			report_paste(sharing->report, bytes, part);
		size -= part;
	}
	return code;
}

int slice_share(struct report *report, uint64_t stretches, unsigned jobs, slice_make *make, void *own,
	struct error *error)
{
	struct sharing sharing = {.report = report, .stretches = stretches, .make = make, .own = own};
	bool is_shared = jobs > 1 && start_all(&sharing, jobs < SLICE_JOBS_MAX ? jobs : SLICE_JOBS_MAX);
	int code = 0;

	for (uint64_t number = 0; number < stretches && !code; number++) {
		code = is_shared ? take_one(&sharing, number, error) : make(own, number, error);
		if (!code && !progress_at("reading", number + 1, stretches))
			code = progress_refuse(error);
	}
	end_all(&sharing);
	return code;
}
