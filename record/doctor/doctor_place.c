/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_place.c - checks the directory of runs, the source of symbols, and the terminal. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "record/doctor/doctor.h"
#include "store/base/filesystem.h"

#define SPACE_LEAST (UINT64_C(256) << 20)

static void folder_look(struct doctor_row *row)
{
	const char *name;
	bool is_remote;

	if (access(".", W_OK | X_OK)) {
		doctor_say(row, DOCTOR_NO, "use another directory, or hpct-record -o",
			"the current folder cannot be written: %s", strerror(errno));
		return;
	}
	name = store_filesystem(".", &is_remote);
	if (!name)
		doctor_say(row, DOCTOR_PARTLY, NULL, "its file system is unknown: %s", strerror(errno));
	else if (is_remote && !store_filesystem_is_coherent("."))
		doctor_say(row, DOCTOR_PARTLY, "hpct-record -o on a local disk shows more of a live run",
			"%s, which does not keep mmap and locks coherent: a run is recorded in TMPDIR or "
			"/tmp and copied here periodically",
			name);
	else if (is_remote)
		doctor_say(row, DOCTOR_YES, NULL, "%s, coherent on this host", name);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%s", name[0] ? name : "an unknown file system");
}

static void space_look(struct doctor_row *row)
{
	struct statvfs place;
	double free_bytes;

	if (statvfs(".", &place)) {
		doctor_say(row, DOCTOR_PARTLY, NULL, "cannot be told: %s", strerror(errno));
		return;
	}
	free_bytes = (double)place.f_bavail * (double)place.f_frsize;
	if (free_bytes < (double)SPACE_LEAST)
		doctor_say(row, DOCTOR_PARTLY, "free space, or use hpct-record -o on another disk",
			"%.0f MiB free: a recording ends where the disk is full, the program goes on",
			free_bytes / 1048576);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.1f GiB free; a sample takes about 3 bytes",
			free_bytes / 1073741824);
}

static void debuginfod_look(struct doctor_row *row)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char path[DOCTOR_TEXT / 2];
	bool is_there = doctor_library("libdebuginfod.so.1", path, sizeof(path));

	if (!servers || !*servers)
		doctor_say(row, DOCTOR_NONE, "set DEBUGINFOD_URLS to your distribution's server",
			"no server is set: code without symbols shows as addresses");
	else if (!is_there)
		doctor_say(row, DOCTOR_NO, "install libdebuginfod1",
			"DEBUGINFOD_URLS is set, but there is no libdebuginfod.so.1");
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.160s (used with --debuginfod only)", servers);
}

static void terminal_look(struct doctor_row *row)
{
	const char *term = getenv("TERM"), *colour = getenv("COLORTERM"), *bare = getenv("NO_COLOR");

	if (!term || !*term || !strcmp(term, "dumb"))
		doctor_say(row, DOCTOR_NONE, "set TERM, as in TERM=xterm-256color",
			"TERM is not set or dumb: hpct-view --print only");
	else if (bare && *bare)
		doctor_say(row, DOCTOR_YES, "unset NO_COLOR", "TERM=%.64s, NO_COLOR is set", term);
	else if (strstr(term, "256color") || strstr(term, "direct") || (colour && *colour))
		doctor_say(row, DOCTOR_YES, NULL, "TERM=%.64s%s%.32s", term, colour ? ", COLORTERM=" : "",
			colour ? colour : "");
	else
		doctor_say(row, DOCTOR_YES, "TERM=xterm-256color, if the terminal supports it",
			"TERM=%.64s: perhaps 8 colours", term);
}

const struct doctor_check doctor_place[] = {
	{"this folder", folder_look, false},
	{"disk space", space_look, false},
	{"debuginfod", debuginfod_look, false},
	{"terminal", terminal_look, false},
	{NULL, NULL, false},
};
