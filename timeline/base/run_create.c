/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_create.c - builds .NAME.PID beside NAME until it is complete. An interrupted program deletes it: the
 * paths are noted in advance, because a signal handler may neither allocate nor list a directory.
 */
#include "timeline/base/run_create.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/write/archive.h"
#include "timeline/base/sigbus.h"

/* ---- interrupted ---- */

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS}; /* the last: sigbus.h */
#define DEADLY (sizeof deadly / sizeof *deadly)
static struct sigaction before[DEADLY]; /* what they did */
static bool is_watched[DEADLY];

/* A file in the hidden directory, or that itself: `is_directory`. The list is only added to. */
struct left_over {
	struct left_over *next;
	bool is_directory;
	char path[];
};
static struct left_over *_Atomic left_overs;

/* Files come before the directory that they are in: newest first. */
static void clear_away(int number, siginfo_t *info, void *context)
{
	for (struct left_over *at = atomic_load(&left_overs); at; at = at->next) {
		if (at->is_directory)
			rmdir(at->path);
		else
			unlink(at->path);
	}
	/* Then what it did before, when this handler has returned. */
	for (size_t i = 0; i < DEADLY; i++) {
		if (deadly[i] != number)
			continue;
		if (sigbus_is_ours(&before[i]))
			before[i].sa_sigaction(number, info, context);
		sigaction(number, &before[i], NULL);
	}
	raise(number);
}

/* What is ignored stays so. */
static void watch(void)
{
	struct sigaction ours = {.sa_sigaction = clear_away, .sa_flags = SA_SIGINFO};

	sigfillset(&ours.sa_mask);
	for (size_t i = 0; i < DEADLY; i++) {
		if (is_watched[i] || sigaction(deadly[i], NULL, &before[i]) ||
			before[i].sa_handler == SIG_IGN)
			continue;
		is_watched[i] = !sigaction(deadly[i], &ours, NULL);
	}
}

static void unwatch(void)
{
	for (size_t i = 0; i < DEADLY; i++) {
		if (is_watched[i])
			sigaction(deadly[i], &before[i], NULL);
		is_watched[i] = false;
	}
	atomic_store(&left_overs, NULL);
}

/* Before it is made: it may be interrupted then. Without memory it is not cleared away. */
static void note(const char *path, const char *suffix, bool is_directory)
{
	size_t room = strlen(path) + strlen(suffix) + 1;
	struct left_over *left_over = malloc(sizeof *left_over + room);

	if (!left_over)
		return;
	left_over->is_directory = is_directory;
	snprintf(left_over->path, room, "%s%s", path, suffix);
	left_over->next = atomic_load(&left_overs);
	atomic_store(&left_overs, left_over);
}

/* ---- making ---- */

static int refuse_existing(const char *path, struct error *error)
{
	return error_set(error, ERROR_USAGE,
		"%s exists and is not overwritten; remove it, or choose another name with -o", path);
}

static void forget(struct run_create *new_run)
{
	struct left_over *at = atomic_load(&left_overs);

	unwatch();
	while (at) {
		struct left_over *next = at->next;

		free(at);
		at = next;
	}
	free(new_run->path);
	free(new_run->hidden);
	*new_run = (struct run_create){0};
}

/* `path` without slashes at its end. */
static char *trimmed(const char *path)
{
	size_t size = strlen(path);

	while (size > 1 && path[size - 1] == '/')
		size--;
	return strndup(path, size);
}

static char *hidden_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path) + 1 : 0;
	char *hidden;

	if (asprintf(&hidden, "%.*s.%s.%d", directory, path, path + directory, (int)getpid()) < 0)
		return NULL;
	return hidden;
}

static int make_hidden(const struct run_create *new_run, struct error *error)
{
	note(new_run->hidden, "", true);
	watch();
	if (mkdir(new_run->hidden, 0777) == 0)
		return 0;
	return error_set(error, ERROR_IO, "cannot create %s: %s%s", new_run->path, strerror(errno),
		error_place(errno));
}

int run_create_begin(struct run_create *new_run, const char *path, struct error *error)
{
	struct stat status;
	int rc;

	if (!path[0])
		return error_set(error, ERROR_USAGE, "the new run needs a name, such as -o smaller.hpct");
	*new_run = (struct run_create){.path = trimmed(path)};
	if (new_run->path)
		new_run->hidden = hidden_name(new_run->path);
	if (!new_run->hidden)
		rc = error_memory(error);
	else if (lstat(new_run->path, &status) == 0)
		rc = refuse_existing(path, error);
	else
		rc = make_hidden(new_run, error);
	if (rc)
		forget(new_run);
	return rc;
}

int run_create_store(
	const struct run_create *new_run, const char *name, struct store_writer **writer, struct error *error)
{
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s" STORE_SUFFIX, new_run->hidden, name) < 0)
		return error_memory(error);
	note(path, "", false);
	note(path, "-lock", false);
	rc = store_writer_create(writer, path, error);
	free(path);
	return rc;
}

/* As NAME.mdz; `from` may have any path. */
static int archive(const struct run_create *new_run, const char *from, struct error *error)
{
	const char *name = strrchr(from, '/') ? strrchr(from, '/') + 1 : from, *dot = strrchr(name, '.');
	char *path;
	int rc;

	if (asprintf(&path, "%s/%.*s" STORE_ARCHIVE_SUFFIX, new_run->hidden,
		    (int)(dot ? dot - name : (ptrdiff_t)strlen(name)), name) < 0)
		return error_memory(error);
	note(path, "", false);
	note(path, STORE_ARCHIVE_MAKING, false);
	note(path, STORE_ARCHIVE_MAKING "-lock", false);
	rc = store_archive(from, path, error);
	free(path);
	return rc;
}

int run_create_archive(const struct run_create *new_run, const char *name, struct error *error)
{
	char *path, *lock = NULL;
	int rc;

	if (asprintf(&path, "%s/%s" STORE_SUFFIX, new_run->hidden, name) < 0)
		return error_memory(error);
	rc = asprintf(&lock, "%s-lock", path) < 0 ? error_memory(error) : archive(new_run, path, error);
	if (rc == 0) {
		unlink(path);
		unlink(lock);
	}
	free(path);
	free(lock);
	return rc;
}

int run_create_archive_of(const struct run_create *new_run, const char *store, struct error *error)
{
	return archive(new_run, store, error);
}

static int file_copy(FILE *in, const char *from, const char *to, struct error *error)
{
	FILE *out = fopen(to, "we");
	char bytes[4096];
	size_t size;
	bool has_failed;

	while (out && (size = fread(bytes, 1, sizeof bytes, in)) > 0)
		fwrite(bytes, 1, size, out);
	has_failed = !out || ferror(in) || ferror(out);
	if (out && fclose(out) != 0)
		has_failed = true;
	return has_failed ? error_set(error, ERROR_IO, "cannot copy %s: %s", from, strerror(errno)) : 0;
}

int run_create_keep_file(
	const struct run_create *new_run, const char *from_run, const char *name, struct error *error)
{
	char *from, *to = NULL;
	FILE *in = NULL;
	int rc = 0;

	if (asprintf(&from, "%s/%s", from_run, name) < 0)
		return error_memory(error);
	if (asprintf(&to, "%s/%s", new_run->hidden, name) < 0) {
		to = NULL;
		rc = error_memory(error);
	} else if ((in = fopen(from, "re"))) {
		note(to, "", false);
		rc = file_copy(in, from, to, error);
		fclose(in);
	} else if (errno != ENOENT) {
		rc = error_set(error, ERROR_IO, "cannot copy %s: %s", from, strerror(errno));
	}
	free(from);
	free(to);
	return rc;
}

int run_create_commit(struct run_create *new_run, struct error *error)
{
	int rc;

	if (renameat2(AT_FDCWD, new_run->hidden, AT_FDCWD, new_run->path, RENAME_NOREPLACE) != 0 &&
		(errno != EINVAL || rename(new_run->hidden, new_run->path) != 0)) {
		rc = errno == EEXIST ? refuse_existing(new_run->path, error)
				     : error_set(error, ERROR_IO, "cannot give %s its name: %s",
					       new_run->path, strerror(errno));
		run_create_abort(new_run);
		return rc;
	}
	forget(new_run);
	return 0;
}

void run_create_abort(struct run_create *new_run)
{
	DIR *directory = opendir(new_run->hidden);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(new_run->hidden);
	forget(new_run);
}
