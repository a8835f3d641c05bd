/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - reads the program's initial environment and builds the next program's. No allocation, no
 * getenv: it runs before libc is ready and in vfork children.
 */
#ifndef RECORD_AGENT_ENVIRONMENT_H
#define RECORD_AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/agent/process/exec_target.h"
#include "store/ring/handshake.h"

/* Value of NAME in envp, or NULL. */
const char *environment_value(char *const *envp, const char *name);

/* N of HPCT_GENERATION "PID:N" if PID is `pid`, else 0. */
uint32_t environment_generation(char *const *envp, pid_t pid);

/* True if SIGTRAP was ignored across the last exec because of us. */
bool environment_hides_trap(char *const *envp);

/* Passed after the arguments of syscall(SYS_execve, ...), where the kernel ignores it: an hpct-record that
 * is itself recorded marks an exec whose environment the agent must leave alone. */
#define ENVIRONMENT_LEFT 0x4850435445584543l

/* Writes a number and its NUL, at most 21 bytes; stdio may not be used here. */
void environment_decimal(char *to, unsigned long value);

/* Likewise as 0x1f, at most 19 bytes. */
void environment_hexadecimal(char *to, unsigned long value);

/* The rank set by a launcher, of MPI or torchrun, or -1. */
int32_t environment_rank(char *const *envp);
/* True if the launcher starts MPI programs. */
bool environment_may_have_mpi(char *const *envp);

/* Path of the agent's MPI library, which lies beside the agent. False: too long. */
bool environment_mpi_path(char *to, size_t bytes, const char *agent);

/* Maximum number of words that environment_build adds, with the closing NULL. */
#define ENVIRONMENT_EXTRA 12
#define ENVIRONMENT_TEXT 2048
#define ENVIRONMENT_PATH 560

/* Memory for the words added to the new environment; must live as long as it. */
struct environment_text {
	char preload[ENVIRONMENT_TEXT];
	char socket[160];
	char events[EVENT_EVENTS_MAX + 16];
	char agent[560];
	char opencl[ENVIRONMENT_TEXT];
	char cuda[ENVIRONMENT_TEXT];
	char nvtx[ENVIRONMENT_TEXT];
	char nccl[ENVIRONMENT_TEXT];
	char generation[64];
	struct exec_target_linked linked; /* set before environment_build */
	bool hides_trap; /* set before environment_build: the next program starts with SIGTRAP ignored
			    because of us */
};

/* Number of words of envp, without the NULL. */
size_t environment_count(char *const *envp);

/* Writes to `to` (count + ENVIRONMENT_EXTRA words) the next program's environment: envp with the agent's
 * variables. `preload` false: removes the agent from LD_PRELOAD, for programs that it would break. */
void environment_build(char *const *envp, bool preload, char **to, struct environment_text *text);

/* Likewise without any of our words, for a program whose arguments leave no more space. */
void environment_leave(char *const *envp, char **to, struct environment_text *text);

#endif
