/* SPDX-License-Identifier: Apache-2.0 */
/* exec_target.h - classifies the program that an exec will start by how it takes the agent. */
#ifndef RECORD_AGENT_EXEC_TARGET_H
#define RECORD_AGENT_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum exec_target_kind {
	EXEC_TARGET_TAKES,   /* loads the agent; also if unknown */
	EXEC_TARGET_IGNORES, /* static or setuid: ignores LD_PRELOAD, but its children may use it */
	EXEC_TARGET_HARMED /* 32-bit, musl, thread sanitizer, another root: prints errors or fails to start */
};

/* The program at `path`, relative to directory descriptor `at`; "" means `at` itself. `agent`: the agent's
 * path. Scripts count as their interpreter. Restores errno; safe in vfork children. */
enum exec_target_kind exec_target_kind(int at, const char *path, const char *agent);

#define EXEC_TARGET_SCRIPTS_MAX 4   /* nested interpreters, the kernel's limit */
#define EXEC_TARGET_INTERPRETER 512 /* bytes of an interpreter's path */

/* The interpreter of a script by its first bytes: "#! /bin/sh -e" gives /bin/sh. `path` holds
 * EXEC_TARGET_INTERPRETER bytes. False: no script. */
bool exec_target_interpreter(const unsigned char *bytes, size_t count, char *path);

/* True for the name of glibc's dynamic loader: `ld.so ./program` loads the agent, though its own file does
 * not show it. */
bool exec_target_is_loader(const char *path);

/* Libraries the program was linked with that need more than the agent. */
struct exec_target_linked {
	bool with_mpi;	/* or a launcher's rank in `envp`: preload the agent's MPI library, see mpi_names.c */
	bool with_tsan; /* or by LD_PRELOAD: the thread sanitizer would treat the agent as part of the
			   program and report races in it */
	char asan[64];	/* the address sanitizer's library, which must be loaded first; "": none */
};

/* `path` and scripts as above; NULL: the program is unknown. Restores errno; safe in vfork children. */
void exec_target_linked(int at, const char *path, char *const *envp, struct exec_target_linked *linked);

/* Where execvp would find `file`. Returns `file`, `place` or NULL. */
const char *exec_target_search(const char *file, char *place, size_t bytes);

#endif
