/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - starts the program with the agent preloaded, passes signals on, waits for it. */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>

#include "record/base/rendezvous.h"
#include "record/launch/target_check.h"

#define LAUNCH_FAILED 125 /* exit code of hpct-record's own failures */

struct launch {
	const struct target_check *target;
	char **argv;
	const struct rendezvous *rendezvous; /* NULL: unmeasured */
	const char *events;
	bool is_strict;
};

/* Runs it to its end: wait status in *status, its CPU time and its children's in *usage. Negative: it could
 * not be started (the sentence says why; *status is then an exit code). */
int launch_run(const struct launch *launch, int *status, struct rusage *usage, struct error *error);
/* After a launch_run that has failed with LAUNCH_FAILED: the program, unmeasured, in place of hpct-record.
 * Comes back where that fails, too. */
void launch_here(const struct launch *launch);
/* Why no agent has registered, of a program that was to be measured and ended with `status`. Static. */
const char *launch_unmeasured_why(int status);
/* Says so on stderr if a measured program died of the signal of our samples. */
void launch_explain(int status);
/* Ends hpct-record the way the program ended. */
_Noreturn void launch_exit(int status);

#endif
