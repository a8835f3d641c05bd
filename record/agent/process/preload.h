/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload.h - builds the next program's LD_PRELOAD: our libraries before others. Only the address sanitizer's
 * library must be first, so it stays first if the program was linked with it or it is among the others. No
 * allocation; safe in vfork children.
 *
 *     libasan.so.8 /tmp/hpct-0/agent-mpi.so:/tmp/hpct-0/agent.so:libothers.so
 *
 * With a glibc before 2.34 libdl.so.2 follows the agent. The blank, while all other separators are colons,
 * marks that we added the sanitizer's library: a later program may not be linked with it, and then it is
 * removed.
 */
#ifndef RECORD_AGENT_PRELOAD_H
#define RECORD_AGENT_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

struct preload {
	const char *agent; /* its path */
	bool is_wanted;	   /* false: removes our libraries */
	bool with_mpi;	   /* add the agent's MPI library if it lies beside the agent */
	const char *first; /* library the program was linked with that must be first; "": none */
};

/* Writes "LD_PRELOAD=..." from `others`, the current value (NULL: none). False: too long, or empty;
 * nothing usable is written. Changes errno. */
bool preload_write(char *to, size_t bytes, const char *others, const struct preload *ours);

/* Writes "NAME=ours:others", a list of libraries; `known`: NULL-terminated list of those to drop from the
 * others. False as above. */
bool preload_list_write(char *to, size_t bytes, const char *name, const char *others, const char *ours,
	const char *const *known);

#endif
