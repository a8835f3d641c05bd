/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_functions.h - waiting that burns cycles is waiting: which functions only wait, by name. A context
 * whose path holds a frame that matches is `waiting` (CPU) or `communicating` (a kernel), never work. The
 * built-in table knows MPI, OpenMP runtimes and NCCL; a file adds or takes away.
 */
#ifndef BLAME_WAIT_FUNCTIONS_H
#define BLAME_WAIT_FUNCTIONS_H

#include "timeline/run/run.h"

struct wait_functions;

/* The built-in table; `path` NULL or a file of lines "GLOB" (waits) and "!GLOB" (works after all; the last
 * match wins), '#' begins a comment. ERROR_USAGE when it cannot be read. */
int wait_functions_new(struct wait_functions **waits, struct run *run, const char *path, struct error *error);
/* Whether the table is another than the built-in one. */
bool wait_functions_are_own(const struct wait_functions *waits);
void wait_functions_free(struct wait_functions *waits);

enum wait_target {
	WAITS_FOR_NOTHING, /* it works */
	WAITS_FOR_THREAD,  /* or for the system */
	WAITS_FOR_THREADS, /* at a barrier: the last to come holds up the others */
	WAITS_FOR_RANK,
	WAITS_FOR_RANKS /* in a collective call, the same */
};
/* What the context's path waits for, by its outermost waiting function; remembered per context. */
enum wait_target wait_functions_target(struct wait_functions *waits, uint32_t context);
static inline bool wait_functions_match(struct wait_functions *waits, uint32_t context)
{
	return wait_functions_target(waits, context) != WAITS_FOR_NOTHING;
}

#endif
