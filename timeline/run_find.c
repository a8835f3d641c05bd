/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_find.c - from what the user typed, or did not type, to a run directory and the stores in it.
 */
#include "timeline/run_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "store/archive.h"
#include "store/store.h"

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
		char **more;

		if (!wanted(entry->d_name))
			continue;
		more = realloc(*names, (*count + 1) * sizeof *more);
		if (more)
			*names = more;
		if (!more || !(more[*count] = strdup(entry->d_name))) {
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

int run_find_stores(const char *path, char ***names, size_t *count, struct error *error)
{
	if (list(path, is_store_name, names, count))
		return error_set(error, errno == ENOMEM ? ERROR_IO : ERROR_RUN, "%s cannot be read: %s", path,
			strerror(errno));
	if (*count)
		return 0;
	run_find_free(*names, *count);
	return error_set(error, ERROR_RUN,
		"%s holds no recording (no *" STORE_SUFFIX " file): is it a directory that hpct-record made?",
		path);
}

/* When a store of the run was last written. Caches that readers leave behind do not count. */
static struct timespec run_written(const char *path)
{
	struct timespec newest = {0};
	struct stat status;
	char **names;
	size_t count;

	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		newest = status.st_mtim;
	if (list(path, is_store_name, &names, &count))
		return newest;
	for (size_t i = 0; i < count; i++) {
		char *file;

		if (!i)
			newest = (struct timespec){0};
		if (asprintf(&file, "%s/%s", path, names[i]) < 0)
			continue;
		if (!stat(file, &status) && (status.st_mtim.tv_sec > newest.tv_sec ||
						    (status.st_mtim.tv_sec == newest.tv_sec &&
							    status.st_mtim.tv_nsec > newest.tv_nsec)))
			newest = status.st_mtim;
		free(file);
	}
	run_find_free(names, count);
	return newest;
}

static int find_newest(char **found, struct error *error)
{
	struct timespec newest = {0};
	char **names;
	size_t count, best = 0;

	if (list(".", is_run_name, &names, &count))
		return error_set(
			error, ERROR_IO, "the current directory cannot be read: %s", strerror(errno));
	if (!count)
		return error_set(error, ERROR_RUN,
			"no run (*" STORE_RUN_SUFFIX
			") in the current directory: name one, or record one with "
			"hpct-record");
	for (size_t i = 0; i < count; i++) {
		struct timespec written = run_written(names[i]);

		if (written.tv_sec < newest.tv_sec ||
			(written.tv_sec == newest.tv_sec && written.tv_nsec < newest.tv_nsec))
			continue;
		newest = written;
		best = i;
	}
	*found = strdup(names[best]);
	run_find_free(names, count);
	return *found ? 0 : error_memory(error);
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
		return error_set(error, ERROR_RUN,
			"%s is not a run: runs are directories that hpct-record or hpct-import made", path);
	size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	*found = strndup(path, size);
	return *found ? 0 : error_memory(error);
}
