/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload.h - LD_PRELOAD as the next program gets it: ours ahead of what others want. The address
 * sanitizer's library alone refuses to run behind another, so it stays first where a program was linked
 * with it, or where it is among the others. No allocation; fit for vfork children.
 *
 *     libasan.so.8 /tmp/hpct-0/agent-mpi.so:/tmp/hpct-0/agent.so:libothers.so
 *
 * A blank, where all others are separated by colons, tells that it is there on our account: the next program
 * but one may not be linked with it.
 */
#ifndef RECORD_AGENT_PRELOAD_H
#define RECORD_AGENT_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

struct preload {
	const char *agent; /* its path */
	bool is_wanted;	   /* false: what was ours is taken out */
	bool with_mpi;	   /* MPI's names, if they lie beside the agent */
	const char *first; /* what the program was linked with and must stay first; "": nothing */
};

/* "LD_PRELOAD=..." of `others`, the value as it is (NULL: none). false: too long, or nothing is left; nothing
 * usable written. Changes errno. */
bool preload_write(char *to, size_t bytes, const char *others, const struct preload *ours);

/* "NAME=ours:others", a list of libraries; `known`: what of the others is left out, closed by NULL. false as
 * above. */
bool preload_list_write(char *to, size_t bytes, const char *name, const char *others, const char *ours,
	const char *const *known);

#endif
