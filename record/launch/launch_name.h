/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_name.h - what a launch is called, and after it the run that it makes: all processes of a job step,
 * or of one mpirun, must come to the same names without talking to each other.
 */
#ifndef RECORD_LAUNCH_NAME_H
#define RECORD_LAUNCH_NAME_H

#include <stdbool.h>

#include "store/base/error.h"

/* Names of a launch: job and step under a scheduler, else the launcher's own pid. */
struct launch_name {
	char id[256];		/* same for all processes of one launch; what makes a run one run */
	char label[64];		/* of the default run name */
	bool is_shared;		/* by all processes of a job step or of mpirun */
	char job[64], step[64]; /* "" when there is none */
};
void launch_name_find(struct launch_name *name);

/* Path of the run: `pattern` with %j %s %h %p %% replaced, or PROG-LABEL.hpct; ".hpct" is added where it is
 * missing. */
int run_path_make(char *path, unsigned room, const char *pattern, const char *program,
	const struct launch_name *name, struct error *error);

#endif
