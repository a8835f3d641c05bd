/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_find.h - which running processes are to be measured from outside: by number or by name; and whether
 * each of them can be.
 */
#ifndef RECORD_OUTSIDE_FIND_H
#define RECORD_OUTSIDE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"

struct outside_asked {
	const char *pids; /* "17" or "17,18"; NULL: by name */
	const char
		*comm;	/* a pattern of the shell's for the name in /proc/PID/comm or of the program's file */
	bool is_newest; /* of those, the one that began last */
	const char *cgroup; /* instead: all in that directory of outside_find_cgroup, and those below it */
};

struct outside_found {
	uint32_t *pids; /* the caller's: free() */
	unsigned count;
	char name[64];	  /* of the first */
	char words[4096]; /* its command line: words ended by NUL, then an empty word */
};

/* ERROR_USAGE: no such process, or one that cannot be measured; the sentence says why. Opens no event. */
int outside_find(struct outside_found *found, const struct outside_asked *asked, struct error *error);

/* Stands for the whole machine, or a control group: no pids. cgroup: its directory; NULL: none. */
void outside_find_all(struct outside_found *found, const char *cgroup);

/* The directory of a control group, given as such or as its name below the mounted hierarchies. ERROR_USAGE:
 * there is none. */
int outside_find_cgroup(char *path, size_t room, const char *given, struct error *error);

/* 0, or ERROR_USAGE with the reason: no such process, a zombie, a thread of the kernel, of another user, of
 * 32 bits. */
int outside_find_check(uint32_t pid, struct error *error);

#endif
