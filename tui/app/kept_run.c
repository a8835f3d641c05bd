/* SPDX-License-Identifier: Apache-2.0 */
/* kept_run.c - see kept_run.h. */
#include "tui/app/kept_run.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"
#include "tui/session/session.h"

static struct {
	bool is_look;
	char path[PATH_MAX];
} kept;

void kept_run_begin(void)
{
	kept.is_look = true;
}

/* "NAME" becomes "/HERE/NAME.hpct". False: it is too long. */
static bool path_make(char *to, size_t room, const char *path)
{
	size_t length = strlen(path), suffix = strlen(STORE_RUN_SUFFIX);
	bool has_suffix = length > suffix && !strcmp(path + length - suffix, STORE_RUN_SUFFIX);
	char here[PATH_MAX] = "";

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return false;
	return (size_t)snprintf(to, room, "%s%s%s%s", here, here[0] ? "/" : "", path,
		       has_suffix ? "" : STORE_RUN_SUFFIX) < room;
}

void kept_run_write(struct session *session, const char *path)
{
	char wanted[PATH_MAX];

	if (!kept.is_look)
		session_say(
			session, "this run is kept anyway; hpct-slice RUN -o OUT.hpct copies a part of it");
	else if (!path[0])
		session_say(session, ":write RUN keeps this look as a run");
	else if (!path_make(wanted, sizeof(wanted), path))
		session_say(session, "the path %s is too long", path);
	else if (!access(wanted, F_OK))
		session_say(session, "%s exists; choose another name", wanted);
	else {
		memcpy(kept.path, wanted, sizeof(kept.path));
		session_say(session, "when you leave, the run will be %s", kept.path);
	}
}

const char *kept_run_path(void)
{
	return kept.path[0] ? kept.path : NULL;
}
