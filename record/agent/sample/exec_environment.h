/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_environment.h - memory for the next program's environment in an exec or a spawn: the environment with
 * the agent's words. It takes ten kilobytes or more, too much for the stacks of some threads, so each thread
 * keeps a buffer. A vfork child, which cannot unmap what it maps, uses that of its parent, which is
 * suspended.
 */
#ifndef RECORD_AGENT_EXEC_ENVIRONMENT_H
#define RECORD_AGENT_EXEC_ENVIRONMENT_H

#include <stdint.h>

#include "record/agent/process/environment.h"
#include "record/agent/process/exec_target.h"

struct exec_environment {
	pid_t user; /* the process that uses it; a vfork child does not clear it */
	size_t bytes;
	enum exec_target_kind kind;
	uint64_t since_ns; /* ahead of a child's begin */
	bool is_unheard;   /* a vfork child's program that takes no agent, and the collector was told: */
	struct event_unheard *unheard; /* in its place of the list; NULL: by the count */
	struct environment_text text;
	char place[4096]; /* path of a program found on the PATH */
	char *words[];
};

/* Prepares the buffer for `envp`, `text` empty; NULL: no memory, or this program is not measured. Safe in
 * vfork children and signal handlers. */
struct exec_environment *exec_environment_take(char *const *envp);
/* Call after the exec failed or the spawn is done. Accepts NULL. */
void exec_environment_release(struct exec_environment *exec_environment);
/* Call when the thread ends. */
void exec_environment_thread_end(void);

#endif
