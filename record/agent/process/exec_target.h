/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_target.h - what kind of program an exec will start, as far as the agent is
 * concerned.
 */
#ifndef RECORD_AGENT_EXEC_TARGET_H
#define RECORD_AGENT_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum exec_target_kind {
	EXEC_TARGET_TAKES,   /* loads the agent; also when in doubt */
	EXEC_TARGET_IGNORES, /* static or setuid: LD_PRELOAD means nothing to it, but may to its children */
	EXEC_TARGET_HARMED /* 32-bit, musl, thread sanitizer, another root: it would complain or fail to start
			    */
};

/* The program at `path`, relative to directory descriptor `at`; "" means `at` itself. `agent` is the
 * agent's path. Scripts count as their interpreter. Restores errno; fit for vfork children. */
enum exec_target_kind exec_target_kind(int at, const char *path, const char *agent);

#define EXEC_TARGET_SCRIPTS_MAX 4   /* nested interpreters, as the kernel has it */
#define EXEC_TARGET_INTERPRETER 512 /* bytes of an interpreter's path */

/* Of a script by its first bytes: "#! /bin/sh -e" names /bin/sh. `path` holds EXEC_TARGET_INTERPRETER bytes.
 * false: it names none. */
bool exec_target_interpreter(const unsigned char *bytes, size_t count, char *path);

/* glibc's dynamic loader, by its name: `ld.so ./program` loads the agent, which its own file does not tell.
 */
bool exec_target_is_loader(const char *path);

/* What a program was linked with that asks for more than the agent. */
struct exec_target_linked {
	bool with_mpi;	/* or in a rank, by `envp`: it is to have MPI's names preloaded, see mpi_names.c */
	bool with_tsan; /* or by LD_PRELOAD: the thread sanitizer takes the agent for a part of the program,
			   and finds races there */
	char asan[64];	/* the address sanitizer's library, which must be loaded ahead of all others; "": none
			 */
};

/* `path` and scripts as above; NULL: nothing is known of the program. Restores errno; fit for vfork children.
 */
void exec_target_linked(int at, const char *path, char *const *envp, struct exec_target_linked *linked);

/* Where an execvp of `file` would find it. Gives back `file`, `place` or NULL. */
const char *exec_target_search(const char *file, char *place, size_t bytes);

#endif
