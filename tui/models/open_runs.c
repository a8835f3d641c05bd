/* SPDX-License-Identifier: Apache-2.0 */
/* open_runs.c - see open_runs.h. */
#include "tui/models/open_runs.h"

#include <string.h>
#include <sys/stat.h>

bool open_runs_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return strcmp(path, other) == 0 ||
	       (stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

size_t open_runs_find(const struct open_runs *open, const char *path)
{
	size_t at = 0;

	while (at < open->count && !open_runs_is_same(run_path(open->places[at].session->run), path))
		at++;
	return at;
}
