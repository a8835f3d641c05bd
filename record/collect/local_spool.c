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
#define COPY_SHARE 20 /* copying takes at most 1/20 of the time */

static bool make_directory(struct local_spool *spool)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		bool is_remote;

		if (!places[i] || places[i][0] != '/' || !store_filesystem(places[i], &is_remote) ||
			is_remote)
			continue;
		if ((size_t)snprintf(spool->directory, sizeof spool->directory, "%s/hpct-store.XXXXXX",
			    places[i]) < sizeof spool->directory &&
			mkdtemp(spool->directory))
			return true;
	}
	return false;
}

int local_spool_choose(struct local_spool *spool, const char *run, const char *path, struct error *error)
{
	bool is_remote;
	const char *name = store_filesystem(run, &is_remote);

	*spool = (struct local_spool){0};
	snprintf(spool->store, sizeof spool->store, "%s", path);
	snprintf(spool->run_store, sizeof spool->run_store, "%s", path);
	if (!name || !is_remote || store_filesystem_is_coherent(run))
		return 0;
	if (!make_directory(spool))
		return error_set(error, ERROR_IO,
			"%s is on %s, which does not keep mmap and locks coherent, and no local directory "
			"can be used; set TMPDIR to one",
			run, name);
	spool->is_used = true;
	snprintf(spool->file_system, sizeof spool->file_system, "%s", name);
	if ((size_t)snprintf(spool->store, sizeof spool->store, "%s/%s", spool->directory,
		    strrchr(path, '/') + 1) < sizeof spool->store)
		return 0;
	local_spool_forget(spool);
	return error_set(error, ERROR_USAGE, "the run's path %s is too long", run);
}

/* True if a copy runs. Takes the duration of one that has ended. */
static bool is_copying(struct local_spool *spool, int flags)
{
	pid_t ended = 0;

	/* Two copiers would write one file: do not take an interrupted wait for an end. */
	if (spool->copier)
		do
			ended = waitpid(spool->copier, NULL, flags);
		while (ended < 0 && errno == EINTR);
	if (ended != 0) {
		spool->copier = 0;
		spool->took_ns = clock_now_ns() - spool->copied_ns;
	}
	return spool->copier;
}

void local_spool_copy_if_due(struct local_spool *spool, uint64_t now_ns)
{
	struct error error;
	uint64_t pause_ns;

	if (!spool->is_used || is_copying(spool, WNOHANG))
		return;
	pause_ns = COPY_SHARE * spool->took_ns;
	if (spool->copied_ns && now_ns - spool->copied_ns < (pause_ns > COPY_NS ? pause_ns : COPY_NS))
		return;
	spool->copied_ns = now_ns;
	spool->copier = fork();
	if (spool->copier == 0)
		_exit(store_copy(spool->store, spool->run_store, &error) != 0);
	if (spool->copier < 0)
		spool->copier = 0;
}

int local_spool_copy(struct local_spool *spool, struct error *error)
{
	if (!spool->is_used)
		return 0;
	is_copying(spool, 0);
	spool->copied_ns = clock_now_ns();
	return store_copy(spool->store, spool->run_store, error);
}

void local_spool_end(struct local_spool *spool)
{
	struct error error;

	if (spool->is_used && local_spool_copy(spool, &error) == 0)
		local_spool_forget(spool);
}

void local_spool_forget(struct local_spool *spool)
{
	char lock[sizeof spool->store + 8];

	if (!spool->is_used)
		return;
	snprintf(lock, sizeof lock, "%s-lock", spool->store);
	unlink(spool->store);
	unlink(lock);
	rmdir(spool->directory);
}
