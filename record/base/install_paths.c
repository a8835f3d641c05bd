/* SPDX-License-Identifier: Apache-2.0 */
/* install_paths.c - see install_paths.h. */
#include "record/base/install_paths.h"

#include <errno.h>
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

int install_paths_find(struct install_paths *paths, struct error *error)
{
	static const char *const places[] = {"../lib/hpct", HPCT_AGENT_DIRECTORY, "../lib"};
	char own[PATH_MAX];
	ssize_t length = own_path(own, sizeof(own));

	if (length < 0)
		return error_set(error, ERROR_IO,
			"cannot find hpct-record's own path: %s; call it by its absolute path",
			strerror(errno));
	own[length] = '\0';
	*strrchr(own, '/') = '\0';
	snprintf(paths->names, sizeof(paths->names), "%s/hpct-names", own);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char place[2 * PATH_MAX];

		if (places[i][0] == '/')
			snprintf(place, sizeof(place), "%s/hpct-agent.so", places[i]);
		else
			snprintf(place, sizeof(place), "%s/%s/hpct-agent.so", own, places[i]);
		if (realpath(place, paths->agent) && !access(paths->agent, R_OK)) {
			snprintf(paths->memleak, sizeof(paths->memleak), "%.*s/hpct-agent-memleak.so",
				(int)(strrchr(paths->agent, '/') - paths->agent), paths->agent);
			return 0;
		}
	}
	return error_set(error, ERROR_IO, "hpct-agent.so is not at %s/../lib/hpct; install hpct again", own);
}
