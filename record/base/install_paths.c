/* SPDX-License-Identifier: Apache-2.0 */
/* install_paths.c - see install_paths.h. */
#include "record/base/install_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Path of this program: from /proc, or, without one, as given to exec. */
static ssize_t own_path(char *path, size_t room)
{
	ssize_t length = readlink("/proc/self/exe", path, room - 1);
	const char *told = length < 0 ? (const char *)(uintptr_t)getauxval(AT_EXECFN) : NULL;

	if (!told)
		return length;
	return room >= PATH_MAX && realpath(told, path) ? (ssize_t)strlen(path) : -1;
}

static const char *const places[] = {"../lib/hpct", HPCT_AGENT_DIRECTORY, "../lib"};

/* Of a program in that directory; false: no place for it has an agent. */
static bool agent_find(struct install_paths *paths, const char *directory)
{
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char place[2 * PATH_MAX];

		if (places[i][0] == '/')
			snprintf(place, sizeof(place), "%s/hpct-agent.so", places[i]);
		else
			snprintf(place, sizeof(place), "%s/%s/hpct-agent.so", directory, places[i]);
		if (!realpath(place, paths->agent) || access(paths->agent, R_OK))
			continue;
		snprintf(paths->memleak, sizeof(paths->memleak), "%.*s/hpct-agent-memleak.so",
			(int)(strrchr(paths->agent, '/') - paths->agent), paths->agent);
		snprintf(paths->inject, sizeof(paths->inject), "%.*s/hpct-agent-inject.so",
			(int)(strrchr(paths->agent, '/') - paths->agent), paths->agent);
		snprintf(paths->names, sizeof(paths->names), "%s/hpct-names", directory);
		return true;
	}
	return false;
}

/* Launchers copy the program to a directory of theirs: the one on PATH then knows where the rest is. */
static bool agent_find_by_path(struct install_paths *paths)
{
	const char *at = getenv("PATH");

	for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
		char program[PATH_MAX + 32], real[PATH_MAX];

		snprintf(program, sizeof(program), "%.*s/hpct-record", (int)strcspn(at, ":"), at);
		if (*at != '/' || strcspn(at, ":") >= PATH_MAX || access(program, X_OK) ||
			!realpath(program, real))
			continue;
		*strrchr(real, '/') = '\0';
		if (agent_find(paths, real))
			return true;
	}
	return false;
}

int install_paths_find(struct install_paths *paths, struct error *error)
{
	char own[PATH_MAX];
	ssize_t length = own_path(own, sizeof(own));

	if (length < 0)
		return error_set(error, ERROR_IO,
			"cannot find hpct-record's own path: %s; call it by its absolute path",
			strerror(errno));
	own[length] = '\0';
	*strrchr(own, '/') = '\0';
	if (agent_find(paths, own) || agent_find_by_path(paths))
		return 0;
	return error_set(error, ERROR_IO,
		"hpct-agent.so is neither at %s/%s, at %s, at %s/%s, nor beside an hpct-record on PATH; "
		"install hpct again",
		own, places[0], places[1], own, places[2]);
}
