/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_functions.h - functions that only wait, by name, even if they burn cycles. A context with such a
 * frame in its path is `waiting` (CPU) or `communicating` (a kernel), never work. The built-in table has
 * MPI, OpenMP runtimes, NCCL and loops that pause (RUN_SPIN_NAME); a file adds or removes entries.
 */
#ifndef BLAME_WAIT_FUNCTIONS_H
#define BLAME_WAIT_FUNCTIONS_H

#include "timeline/run/run.h"

struct wait_functions;

/* The built-in table, then a file of lines "GLOB" (waits) and "!GLOB" (works; the last match wins), '#'
 * begins a comment. `path` NULL: the user's own, hpct/waits where configuration is, if it is there.
 * ERROR_USAGE: it cannot be read. */
int wait_functions_new(struct wait_functions **waits, struct run *run, const char *path, struct error *error);
/* True when a file has changed the table. */
bool wait_functions_are_own(const struct wait_functions *waits);
void wait_functions_free(struct wait_functions *waits);

enum wait_target {
	WAITS_FOR_NOTHING, /* it works */
	WAITS_FOR_THREAD,  /* or for the system */
	WAITS_FOR_THREADS, /* at a barrier: the last to arrive delays the others */
	WAITS_FOR_RANK,
	WAITS_FOR_RANKS /* in a collective call, the same */
};
/* What the context's path waits for, from its outermost waiting function; cached per context. */
enum wait_target wait_functions_target(struct wait_functions *waits, uint32_t context);
static inline bool wait_functions_match(struct wait_functions *waits, uint32_t context)
{
	return wait_functions_target(waits, context) != WAITS_FOR_NOTHING;
}

#endif
