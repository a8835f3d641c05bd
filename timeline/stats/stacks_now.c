/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_now.c - see stacks_now.h. */
#include "timeline/stats/stacks_now.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK                                                                                           \
	"500ms" /* threads at work are sampled some ten times, those that wait are found within 100 ms \
		 */

extern char **environ;

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

void stacks_now_remove(const char *run)
{
	char folder[PATH_MAX];
	char *end;

	snprintf(folder, sizeof folder, "%s", run);
	end = strrchr(folder, '/');
	if (!end)
		return;
	*end = '\0';
	nftw(folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The one beside this program. */
static int recorder_find(char *path, size_t room, struct error *error)
{
	ssize_t length = readlink("/proc/self/exe", path, room - sizeof "hpct-record");
	char *base;

	path[length > 0 ? length : 0] = '\0';
	base = strrchr(path, '/');
	if (!base)
		return error_set(error, ERROR_IO, "-p: /proc is not mounted, so hpct-record cannot be found");
	strcpy(base + 1, "hpct-record");
	return 0;
}

static int recorder_run(const char *path, const char *pids, const char *run, struct error *error)
{
	char *words[] = {(char *)path, (char *)"-p", (char *)pids, (char *)"--for", (char *)LOOK,
		(char *)"-o", (char *)run, (char *)"--summary", (char *)"/dev/null", NULL};
	int status = 0, why;
	pid_t pid;

	why = posix_spawn(&pid, path, NULL, NULL, words, environ);
	if (why)
		return error_set(error, ERROR_IO, "-p: %s cannot be started: %s", path, strerror(why));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ERROR_USAGE;
}

int stacks_now_record(const char *pids, char *run, size_t room, struct error *error)
{
	const char *temporary = getenv("TMPDIR");
	char path[PATH_MAX];
	size_t used;
	int rc = recorder_find(path, sizeof path, error);

	if (rc < 0)
		return rc;
	used = (size_t)snprintf(
		run, room, "%s/hpct-stacks.XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (used + sizeof "/now.hpct" > room || !mkdtemp(run))
		return error_set(error, ERROR_IO, "-p: no folder can be made in %s: %s",
			temporary && *temporary ? temporary : "/tmp", strerror(errno));
	strcpy(run + used, "/now.hpct");
	rc = recorder_run(path, pids, run, error);
	if (rc < 0)
		stacks_now_remove(run);
	return rc;
}
