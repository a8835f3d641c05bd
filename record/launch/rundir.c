/* SPDX-License-Identifier: Apache-2.0 */
/* rundir.c - see rundir.h. */
#include "record/launch/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"
#include "store/write/archive.h"

#define LAUNCH_FILE "launch"
#define LAUNCH_BYTES 256
#define LAUNCH_TRIES 50 /* of 20 ms: another host may have made the run and not its launch file yet */
#define STORES_MAX 1000

static bool is_ours(const char *name)
{
	static const char *const suffixes[] = {STORE_SUFFIX, STORE_SUFFIX "-lock", STORE_ARCHIVE_SUFFIX};
	size_t length = strlen(name);

	if (!strcmp(name, "marks.tsv") || !strcmp(name, LAUNCH_FILE))
		return true;
	for (unsigned i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t tail = strlen(suffixes[i]);

		if (length > tail && !strcmp(name + length - tail, suffixes[i]))
			return true;
	}
	return false;
}

/* Visits the entries of a run; stops and returns negative if `visit` does. */
static int run_visit(const char *run, int (*visit)(int directory, const char *name))
{
	DIR *directory = opendir(run);
	struct dirent *entry;
	int result = 0;

	if (!directory)
		return -1;
	while (!result && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			result = visit(dirfd(directory), entry->d_name);
	closedir(directory);
	return result;
}

static int entry_check(int directory, const char *name)
{
	(void)directory;
	return is_ours(name) ? 0 : -1;
}

static int entry_remove(int directory, const char *name)
{
	return unlinkat(directory, name, 0);
}

static int run_remove(const char *run, struct error *error)
{
	if (run_visit(run, entry_check))
		return error_set(error, ERROR_USAGE,
			"%s holds files that hpct did not make; move it away, or choose another name with -o",
			run);
	if (run_visit(run, entry_remove) || rmdir(run))
		return error_set(error, ERROR_IO, "cannot remove %s: %s", run, strerror(errno));
	return 0;
}

static int launch_open(const char *run, int flags)
{
	char path[PATH_MAX + 64];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", run, LAUNCH_FILE) >= sizeof(path))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

/* True if the run is of this launch. A new run gets its launch file moments after the directory. */
static bool is_of_launch(const char *run, const char *launch)
{
	const struct timespec moment = {0, 20000000};
	char text[LAUNCH_BYTES + 1];
	struct stat status;

	for (int i = 0; i < LAUNCH_TRIES; i++) {
		int fd = launch_open(run, O_RDONLY);
		ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		if (got > 0)
			return (size_t)got == strlen(launch) && !memcmp(text, launch, (size_t)got);
		if (stat(run, &status) || time(NULL) - status.st_mtime > 2)
			return false;
		nanosleep(&moment, NULL);
	}
	return false;
}

static int launch_write(const char *run, const char *launch)
{
	int fd = launch_open(run, O_WRONLY | O_CREAT | O_EXCL);
	bool is_whole = fd >= 0 && write(fd, launch, strlen(launch)) == (ssize_t)strlen(launch);

	if (fd >= 0)
		close(fd);
	return is_whole ? 0 : -1;
}

static int run_create(const char *path, const char *launch, bool *made, struct error *error)
{
	int reason;

	if (mkdir(path, 0700))
		return error_set(error, errno == EEXIST ? ERROR_USAGE : ERROR_IO,
			"cannot make the run %s: %s%s", path, strerror(errno), error_place(errno));
	*made = true;
	if (!launch || !launch_write(path, launch))
		return 0;
	reason = errno;
	rundir_unmake(path);
	*made = false;
	return error_set(error, ERROR_IO, "cannot write into the run %s: %s%s", path, strerror(reason),
		error_place(reason));
}

int rundir_make(const char *path, const char *launch, bool overwrite, bool *made, struct error *error)
{
	struct stat status;

	*made = false;
	if (lstat(path, &status)) {
		int result = run_create(path, launch, made, error);

		/* Another host made it first. */
		return result == -ERROR_USAGE && launch && is_of_launch(path, launch) ? 0 : result;
	}
	if (launch && is_of_launch(path, launch))
		return 0;
	if (!overwrite)
		return error_set(error, ERROR_USAGE,
			"the run %s exists; choose another name with -o, or give --overwrite", path);
	if (run_remove(path, error))
		return -error->code;
	return run_create(path, launch, made, error);
}

void rundir_unmake(const char *path)
{
	char launch[PATH_MAX + 64];

	if ((size_t)snprintf(launch, sizeof(launch), "%s/%s", path, LAUNCH_FILE) < sizeof(launch))
		unlink(launch);
	rmdir(path);
}

void rundir_remove(const char *path)
{
	struct error error;

	run_remove(path, &error);
}

int rundir_store_path(char *path, size_t room, const char *run, const char *host, const char *boot)
{
	int length = snprintf(path, room, "%s/%s-%.8s%s", run, host, boot, STORE_SUFFIX);

	for (int i = 2; length > 0 && (size_t)length < room && !access(path, F_OK) && i < STORES_MAX; i++)
		length = snprintf(path, room, "%s/%s-%.8s-%d%s", run, host, boot, i, STORE_SUFFIX);
	return length > 0 && (size_t)length < room ? 0 : -1;
}
