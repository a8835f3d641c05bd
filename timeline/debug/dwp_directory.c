/* SPDX-License-Identifier: Apache-2.0 */
/* dwp_directory.c - see dwp_directory.h. */
#include "timeline/debug/dwp_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "hpct-dwp-"
#define PLACE "place"
#define PATH_BYTES 4096u
#define TRIES 20

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status, (void)walk;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void leftover_remove(const char *above, const char *name)
{
	char path[PATH_BYTES], place[PATH_BYTES];
	struct stat status;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", above, name) >= (int)sizeof path ||
		snprintf(place, sizeof place, "%s/" PLACE, path) >= (int)sizeof place ||
		lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
		return;
	fd = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		nftw(path, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
	if (fd >= 0)
		close(fd);
}

static void leftovers_remove(const char *above)
{
	DIR *entries = opendir(above);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (!strncmp(entry->d_name, NAME, sizeof NAME - 1))
			leftover_remove(above, entry->d_name);
	if (entries)
		closedir(entries);
}

/* One that is looking for leftovers may come between a directory and its lock, and take it for one. */
static bool is_ours(int place)
{
	struct stat status;

	return place >= 0 && !flock(place, LOCK_EX | LOCK_NB) && !fstat(place, &status) && status.st_nlink;
}

static bool directory_try(struct dwp_directory *directory, const char *above)
{
	char place[PATH_BYTES];
	int size = snprintf(directory->path, sizeof directory->path, "%s/" NAME "XXXXXX", above);

	if (size >= (int)sizeof directory->path || !mkdtemp(directory->path)) {
		directory->path[0] = '\0';
		return false;
	}
	snprintf(place, sizeof place, "%s/" PLACE, directory->path);
	directory->place = open(place, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return is_ours(directory->place);
}

int dwp_directory_make(struct dwp_directory *directory)
{
	const char *above = getenv("TMPDIR");

	above = above && above[0] == '/' ? above : "/tmp";
	leftovers_remove(above);
	directory->place = -1;
	for (int i = 0; i < TRIES; i++) {
		if (directory_try(directory, above))
			return 0;
		dwp_directory_remove(directory);
	}
	return -1;
}

void dwp_directory_remove(struct dwp_directory *directory)
{
	char place[PATH_BYTES];

	if (directory->path[0]) {
		snprintf(place, sizeof place, "%s/" PLACE, directory->path);
		unlink(place);
		rmdir(directory->path);
		directory->path[0] = '\0';
	}
	if (directory->place >= 0)
		close(directory->place);
	directory->place = -1;
}
