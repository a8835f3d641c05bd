/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_environment.h - what the next program of an exec or a spawn is handed: the environment with the
 * agent's words. It is some ten kilobytes and more, too much for the stacks of some threads, so it lies in
 * memory that the thread keeps: a vfork child, which may not give back what it maps, uses that of its parent,
 * who waits.
 */
#ifndef RECORD_AGENT_EXEC_ENVIRONMENT_H
#define RECORD_AGENT_EXEC_ENVIRONMENT_H

#include <stdint.h>

#include "record/agent/process/environment.h"
#include "record/agent/process/exec_target.h"

struct exec_environment {
	pid_t user; /* a process that is at it; a vfork child does not say when it is not any longer */
	size_t bytes;
	enum exec_target_kind kind;
	uint64_t since_ns; /* ahead of a child's begin */
	bool is_unheard;   /* a vfork child's program that takes no agent, and the collector was told: */
	struct event_unheard *unheard; /* in its place of the list; NULL: by the count */
	struct environment_text text;
	char place[4096]; /* of a program that was found on the PATH */
	char *words[];
};

/* For `envp`, `text` empty; NULL: there is no memory, or nobody measures this program. Fit for vfork children
 * and for signal handlers. */
struct exec_environment *exec_environment_take(char *const *envp);
/* The exec has failed, or the spawn is over. NULL is left alone. */
void exec_environment_release(struct exec_environment *exec_environment);
/* The calling thread ends. */
void exec_environment_thread_end(void);

#endif
