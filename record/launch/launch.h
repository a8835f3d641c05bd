/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - starts the program with the agent preloaded, forwards signals to it, waits for it. */
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
	bool names_node; /* --node */
};

/* Runs the program to its end. *status: its wait status; *usage: CPU time of it and its children.
 * Negative: it could not be started; *status is then the exit code. */
int launch_run(const struct launch *launch, int *status, struct rusage *usage, struct error *error);
/* After launch_run failed with LAUNCH_FAILED: executes the program, unmeasured, in place of hpct-record.
 * Returns only on failure. */
void launch_here(const struct launch *launch);
/* Why no agent registered, for a program that should be measured and ended with `status`. Static. */
const char *launch_unmeasured_why(int status);
/* Prints to stderr if a measured program died of our sampling signal. */
void launch_explain(int status);
/* Ends hpct-record with the program's exit code or signal. */
_Noreturn void launch_exit(int status);

#endif
