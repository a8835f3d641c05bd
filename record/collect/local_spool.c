/* SPDX-License-Identifier: Apache-2.0 */
/* local_spool.c - see local_spool.h. */
#include "record/collect/local_spool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "store/base/filesystem.h"
#include "store/write/archive.h"

#define COPY_NS UINT64_C(10000000000)
#define COPY_SHARE 20 /* a copy is made at most this part of the time */

static bool make_directory(struct elsewhere *elsewhere)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		bool is_remote;

		if (!places[i] || places[i][0] != '/' || !store_filesystem(places[i], &is_remote) ||
			is_remote)
			continue;
		if ((size_t)snprintf(elsewhere->directory, sizeof elsewhere->directory,
			    "%s/hpct-store.XXXXXX", places[i]) < sizeof elsewhere->directory &&
			mkdtemp(elsewhere->directory))
			return true;
	}
	return false;
}

int elsewhere_choose(struct elsewhere *elsewhere, const char *run, const char *path, struct error *error)
{
	bool is_remote;
	const char *name = store_filesystem(run, &is_remote);

	*elsewhere = (struct elsewhere){0};
	snprintf(elsewhere->store, sizeof elsewhere->store, "%s", path);
	snprintf(elsewhere->run_store, sizeof elsewhere->run_store, "%s", path);
	if (!name || !is_remote || store_filesystem_is_coherent(run))
		return 0;
	if (!make_directory(elsewhere))
		return error_set(error, ERROR_IO,
			"%s lies on %s, which does not keep maps and locks coherent, and there is no room on "
			"this "
			"host; set TMPDIR to a local directory",
			run, name);
	elsewhere->is_used = true;
	snprintf(elsewhere->file_system, sizeof elsewhere->file_system, "%s", name);
	if ((size_t)snprintf(elsewhere->store, sizeof elsewhere->store, "%s/%s", elsewhere->directory,
		    strrchr(path, '/') + 1) < sizeof elsewhere->store)
		return 0;
	elsewhere_forget(elsewhere);
	return error_set(error, ERROR_USAGE, "the run's path %s is too long", run);
}

/* Is a copier at work? One that has ended tells how long it took. */
static bool is_copying(struct elsewhere *elsewhere, int flags)
{
	pid_t ended = 0;

	/* Two of them would write one file: a signal is no end. */
	if (elsewhere->copier)
		do
			ended = waitpid(elsewhere->copier, NULL, flags);
		while (ended < 0 && errno == EINTR);
	if (ended != 0) {
		elsewhere->copier = 0;
		elsewhere->took_ns = clock_now_ns() - elsewhere->copied_ns;
	}
	return elsewhere->copier;
}

void elsewhere_copy_if_due(struct elsewhere *elsewhere, uint64_t now_ns)
{
	struct error error;
	uint64_t pause_ns;

	if (!elsewhere->is_used || is_copying(elsewhere, WNOHANG))
		return;
	pause_ns = COPY_SHARE * elsewhere->took_ns;
	if (elsewhere->copied_ns && now_ns - elsewhere->copied_ns < (pause_ns > COPY_NS ? pause_ns : COPY_NS))
		return;
	elsewhere->copied_ns = now_ns;
	elsewhere->copier = fork();
	if (elsewhere->copier == 0)
		_exit(store_copy(elsewhere->store, elsewhere->run_store, &error) != 0);
	if (elsewhere->copier < 0)
		elsewhere->copier = 0;
}

int elsewhere_copy(struct elsewhere *elsewhere, struct error *error)
{
	if (!elsewhere->is_used)
		return 0;
	is_copying(elsewhere, 0);
	elsewhere->copied_ns = clock_now_ns();
	return store_copy(elsewhere->store, elsewhere->run_store, error);
}

void elsewhere_end(struct elsewhere *elsewhere)
{
	struct error error;

	if (elsewhere->is_used && elsewhere_copy(elsewhere, &error) == 0)
		elsewhere_forget(elsewhere);
}

void elsewhere_forget(struct elsewhere *elsewhere)
{
	char lock[sizeof elsewhere->store + 8];

	if (!elsewhere->is_used)
		return;
	snprintf(lock, sizeof lock, "%s-lock", elsewhere->store);
	unlink(elsewhere->store);
	unlink(lock);
	rmdir(elsewhere->directory);
}
