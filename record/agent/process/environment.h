/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - reads the environment as it was handed to the program and
 * builds the one that the next program gets. No allocation, no getenv: it runs
 * before libc is ready and in vfork children.
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

/* N of HPCT_GENERATION "PID:N" when it speaks of `pid`, else 0. */
uint32_t environment_generation(char *const *envp, pid_t pid);

/* Did the exec that led to this program ignore SIGTRAP on our account? */
bool environment_hides_trap(char *const *envp);

/* Behind the arguments of syscall(SYS_execve, ...), where the kernel looks at nothing: what an hpct-record
 * that is itself recorded says to the agent in it, which then leaves that exec's environment alone. */
#define ENVIRONMENT_LEFT 0x4850435445584543l

/* Writes a number and its NUL, at most 21 bytes: stdio is not for this place. */
void environment_decimal(char *to, unsigned long value);

/* The same as 0x1f, at most 19 bytes. */
void environment_hexadecimal(char *to, unsigned long value);

/* The rank that a launcher announced, MPI's or torchrun's, or -1. */
int32_t environment_rank(char *const *envp);
/* Whether the launcher is one of MPI programs. */
bool environment_may_have_mpi(char *const *envp);

/* Where MPI's names lie, beside the agent. false: too long. */
bool environment_mpi_path(char *to, size_t bytes, const char *agent);

/* Words that environment_build adds at most, the closing NULL included. */
#define ENVIRONMENT_EXTRA 11
#define ENVIRONMENT_TEXT 2048
#define ENVIRONMENT_PATH 560

/* Place for what the new environment adds; lives as long as that is used. */
struct environment_text {
	char preload[ENVIRONMENT_TEXT];
	char socket[160];
	char events[EVENT_EVENTS_MAX + 16];
	char agent[560];
	char opencl[ENVIRONMENT_TEXT];
	char cuda[ENVIRONMENT_TEXT];
	char nvtx[ENVIRONMENT_TEXT];
	char generation[64];
	struct exec_target_linked linked; /* set before environment_build */
	bool hides_trap; /* set before environment_build: the next program finds SIGTRAP ignored, because of
			    us */
};

/* Number of words of envp, without the NULL. */
size_t environment_count(char *const *envp);

/* Writes to `to` (count + ENVIRONMENT_EXTRA words) what the next program gets: envp, with the
 * agent's variables completed; `preload` false takes the agent out of LD_PRELOAD, which a program of another
 * kind would trip over. */
void environment_build(char *const *envp, bool preload, char **to, struct environment_text *text);

/* The same without a word of ours, for a program that starts only so: its arguments leave no more room. */
void environment_leave(char *const *envp, char **to, struct environment_text *text);

#endif
