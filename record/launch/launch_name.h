/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_name.h - names the launch and its run. All processes of a job step or of one mpirun compute the same
 * names without communication.
 */
#ifndef RECORD_LAUNCH_NAME_H
#define RECORD_LAUNCH_NAME_H

#include <stdbool.h>

#include "store/base/error.h"

/* Names of a launch: the scheduler's job and step, else the launcher's pid. */
struct launch_name {
	char id[256];		/* equal in all processes of one launch; makes them share a run */
	char label[64];		/* part of the default run name */
	bool is_shared;		/* the launch is a job step or an mpirun with several processes */
	char job[64], step[64]; /* "" if there is none */
};
void launch_name_find(struct launch_name *name);

/* Path of the run: `pattern` with %j %s %h %p %% replaced, or PROG-LABEL.hpct. Appends a missing ".hpct". */
int run_path_make(char *path, unsigned room, const char *pattern, const char *program,
	const struct launch_name *name, struct error *error);

#endif
