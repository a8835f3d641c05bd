/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - starts the program with the agent preloaded, passes signals on, waits for it. */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>

#include "record/check.h"
#include "record/host.h"

#define LAUNCH_FAILED 125 /* exit code of hpct-record's own failures */

struct launch {
	const struct check_target *target;
	char **argv;
	const struct host *host; /* NULL: unmeasured */
	const char *events;
	bool is_strict;
};

/* Runs it to its end: wait status in *status, its CPU time and its children's in *usage. Negative: it could
 * not be started (the sentence says why; *status is then an exit code). */
int launch_run(const struct launch *launch, int *status, struct rusage *usage, struct error *error);
/* After a launch_run that has failed with LAUNCH_FAILED: the program, unmeasured, in place of hpct-record.
 * Comes back where that fails, too. */
void launch_here(const struct launch *launch);
/* It runs without the agent's variables: its arguments and environment left no room for them. */
bool launch_has_no_room(void);
/* Ends hpct-record the way the program ended. */
_Noreturn void launch_exit(int status);

#endif
