/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_run.c - .NAME.PID beside NAME, until it is whole.
 */
#include "timeline/new_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/archive.h"

static int refuse_existing(const char *path, struct error *error)
{
	return error_set(error, ERROR_USAGE,
		"%s exists and is not overwritten; remove it, or choose another name with -o", path);
}

static void forget(struct new_run *new_run)
{
	free(new_run->path);
	free(new_run->hidden);
	*new_run = (struct new_run){0};
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

int new_run_begin(struct new_run *new_run, const char *path, struct error *error)
{
	struct stat status;
	int rc;

	if (!path[0])
		return error_set(error, ERROR_USAGE, "the new run needs a name, such as -o smaller.hpct");
	*new_run = (struct new_run){.path = trimmed(path)};
	if (new_run->path)
		new_run->hidden = hidden_name(new_run->path);
	if (!new_run->hidden)
		rc = error_memory(error);
	else if (lstat(new_run->path, &status) == 0)
		rc = refuse_existing(path, error);
	else if (mkdir(new_run->hidden, 0777) != 0)
		rc = error_set(error, ERROR_IO,
			"cannot create %s: %s; choose a place that can be written with -o", path,
			strerror(errno));
	else
		return 0;
	forget(new_run);
	return rc;
}

int new_run_store(
	const struct new_run *new_run, const char *name, struct store_writer **writer, struct error *error)
{
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s" STORE_SUFFIX, new_run->hidden, name) < 0)
		return error_memory(error);
	rc = store_writer_create(writer, path, error);
	free(path);
	return rc;
}

/* As NAME.mdz; `from` may have any path. */
static int archive(const struct new_run *new_run, const char *from, struct error *error)
{
	const char *name = strrchr(from, '/') ? strrchr(from, '/') + 1 : from, *dot = strrchr(name, '.');
	char *path;
	int rc;

	if (asprintf(&path, "%s/%.*s" STORE_ARCHIVE_SUFFIX, new_run->hidden,
		    (int)(dot ? dot - name : (ptrdiff_t)strlen(name)), name) < 0)
		return error_memory(error);
	rc = store_archive(from, path, error);
	free(path);
	return rc;
}

int new_run_archive(const struct new_run *new_run, const char *name, struct error *error)
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

int new_run_archive_of(const struct new_run *new_run, const char *store, struct error *error)
{
	return archive(new_run, store, error);
}

int new_run_keep_file(
	const struct new_run *new_run, const char *from_run, const char *name, struct error *error)
{
	char *from, *to = NULL, bytes[4096];
	FILE *in = NULL, *out = NULL;
	size_t size;
	int rc = 0;

	if (asprintf(&from, "%s/%s", from_run, name) < 0)
		return error_memory(error);
	if (asprintf(&to, "%s/%s", new_run->hidden, name) < 0) {
		rc = error_memory(error);
	} else if ((in = fopen(from, "re"))) {
		out = fopen(to, "we");
		while (out && (size = fread(bytes, 1, sizeof bytes, in)) > 0)
			fwrite(bytes, 1, size, out);
		if (!out || ferror(in) || ferror(out) || fclose(out) != 0)
			rc = error_set(error, ERROR_IO, "cannot copy %s: %s", from, strerror(errno));
		fclose(in);
	}
	free(from);
	free(to);
	return rc;
}

int new_run_commit(struct new_run *new_run, struct error *error)
{
	int rc;

	if (renameat2(AT_FDCWD, new_run->hidden, AT_FDCWD, new_run->path, RENAME_NOREPLACE) != 0 &&
		(errno != EINVAL || rename(new_run->hidden, new_run->path) != 0)) {
		rc = errno == EEXIST ? refuse_existing(new_run->path, error)
				     : error_set(error, ERROR_IO, "cannot give %s its name: %s",
					       new_run->path, strerror(errno));
		new_run_abort(new_run);
		return rc;
	}
	forget(new_run);
	return 0;
}

void new_run_abort(struct new_run *new_run)
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
