/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_find.c - finds a run directory and its stores from the user's operand, or without one.
 */
#include "timeline/run/run_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/base/array.h"
#include "store/store.h"
#include "store/write/archive.h"

#define CACHE_NAME "cache" STORE_SUFFIX

static bool ends_with(const char *name, const char *suffix)
{
	size_t size = strlen(name), suffix_size = strlen(suffix);

	return size > suffix_size && !strcmp(name + size - suffix_size, suffix);
}

static bool is_store_name(const char *name)
{
	if (ends_with(name, STORE_ARCHIVE_SUFFIX))
		return name[0] != '.';
	return ends_with(name, STORE_SUFFIX) && strcmp(name, CACHE_NAME) != 0 && name[0] != '.';
}

static bool is_run_name(const char *name)
{
	return ends_with(name, STORE_RUN_SUFFIX);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void run_find_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Names in a directory that `wanted` likes, sorted. -1 with errno. */
static int list(const char *path, bool (*wanted)(const char *), char ***names, size_t *count)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	*names = NULL;
	*count = 0;
	if (!directory)
		return -1;
	while ((entry = readdir(directory))) {
		if (!wanted(entry->d_name))
			continue;
		if (!array_resize(names, *count + 1, sizeof(char *)) ||
			!((*names)[*count] = strdup(entry->d_name))) {
			closedir(directory);
			run_find_free(*names, *count);
			errno = ENOMEM;
			return -1;
		}
		++*count;
	}
	closedir(directory);
	if (*count)
		qsort(*names, *count, sizeof **names, compare_names);
	return 0;
}

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* Of the directory itself, where it holds no store. */
static void look_at(struct run_found *run)
{
	struct stat status;
	char **names;
	size_t count;

	if (!stat(run->path, &status) && S_ISDIR(status.st_mode))
		run->written = status.st_mtim;
	if (list(run->path, is_store_name, &names, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		char *file;

		if (!i)
			run->written = (struct timespec){0};
		if (asprintf(&file, "%s/%s", run->path, names[i]) < 0)
			continue;
		if (!stat(file, &status)) {
			run->bytes += (uint64_t)status.st_blocks * 512;
			if (is_before(run->written, status.st_mtim))
				run->written = status.st_mtim;
		}
		free(file);
	}
	run_find_free(names, count);
}

static int compare_found(const void *a, const void *b)
{
	const struct run_found *x = a, *y = b;

	if (is_before(x->written, y->written) || is_before(y->written, x->written))
		return is_before(x->written, y->written) ? 1 : -1;
	return strcmp(y->path, x->path);
}

void run_find_all_free(struct run_found *found, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(found[i].path);
	free(found);
}

int run_find_all(const char *directory, struct run_found **found, size_t *count, struct error *error)
{
	bool is_here = strcmp(directory, ".") == 0;
	struct run_found *runs;
	char **names;
	size_t all;

	if (list(directory, is_run_name, &names, &all))
		return error_set(error, ERROR_IO, "%s cannot be read: %s",
			is_here ? "the current directory" : directory, strerror(errno));
	runs = calloc(all + 1, sizeof *runs);
	*count = 0;
	for (size_t i = 0; runs && i < all; i++) {
		if (asprintf(&runs[*count].path, "%s%s%s", is_here ? "" : directory, is_here ? "" : "/",
			    names[i]) < 0)
			break;
		look_at(&runs[(*count)++]);
	}
	run_find_free(names, all);
	if (!runs || *count < all) {
		run_find_all_free(runs, *count);
		return error_memory(error);
	}
	qsort(runs, *count, sizeof *runs, compare_found);
	*found = runs;
	return 0;
}

static bool is_any_name(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..");
}

/* The directory is no run: if it contains runs, the message lists them. */
static int without_store(const char *path, struct error *error)
{
	struct run_found *found;
	struct error unused = {0};
	char **names;
	size_t count = 0, runs = 0;
	int rc;

	if (list(path, is_any_name, &names, &count) == 0)
		run_find_free(names, count);
	if (count && run_find_all(path, &found, &runs, &unused) == 0) {
		rc = error_set(error, ERROR_RUN, "%s is no run but has %zu in it: name one, such as %s", path,
			runs, runs ? found[0].path : "");
		run_find_all_free(found, runs);
		if (runs)
			return rc;
	}
	return error_set(error, ERROR_RUN,
		"%s is no run: %s; name a directory (*" STORE_RUN_SUFFIX
		") that hpct-record or hpct-import made",
		path, count ? "it holds no recording (*" STORE_SUFFIX ")" : "it is empty");
}

int run_find_stores(const char *path, char ***names, size_t *count, struct error *error)
{
	if (list(path, is_store_name, names, count))
		return error_set(error, errno == ENOMEM ? ERROR_IO : ERROR_RUN, "%s cannot be read: %s%s%s",
			path, strerror(errno),
			errno == EACCES ? "; its owner can let others read it: chmod -R go+rX " : "",
			errno == EACCES ? path : "");
	if (*count)
		return 0;
	run_find_free(*names, *count);
	return without_store(path, error);
}

static int find_newest(char **path, struct error *error)
{
	struct run_found *found;
	size_t count;
	int rc = run_find_all(".", &found, &count, error);

	if (rc < 0)
		return rc;
	*path = count ? strdup(found[0].path) : NULL;
	if (!count)
		rc = error_set(error, ERROR_RUN,
			"no run (*" STORE_RUN_SUFFIX
			") in the current directory: name one, or record one with "
			"hpct-record");
	else if (!*path)
		rc = error_memory(error);
	run_find_all_free(found, count);
	return rc;
}

/* A file: one of a run's own names its run. */
static int no_directory(const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');

	if (is_store_name(slash ? slash + 1 : path))
		return error_set(error, ERROR_RUN, "%s is a file, not a run: name its directory, %.*s", path,
			slash ? (int)(slash - path + (slash == path)) : 1, slash ? path : ".");
	return error_set(error, ERROR_RUN,
		"%s is a file, not a run: name a directory (*" STORE_RUN_SUFFIX
		") that hpct-record or hpct-import made",
		path);
}

int run_find(const char *path, char **found, struct error *error)
{
	struct stat status;
	size_t size;

	if (!path)
		return find_newest(found, error);
	if (stat(path, &status))
		return error_set(error, ERROR_RUN, "%s: %s; name a run (a directory *" STORE_RUN_SUFFIX ")",
			path, errno == ENOENT ? "no such run" : strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return no_directory(path, error);
	size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	*found = strndup(path, size);
	return *found ? 0 : error_memory(error);
}
