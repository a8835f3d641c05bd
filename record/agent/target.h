/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - what kind of program an exec will start, as far as the agent is
 * concerned.
 */
#ifndef RECORD_AGENT_TARGET_H
#define RECORD_AGENT_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum target_kind {
	TARGET_TAKES,	/* loads the agent; also when in doubt */
	TARGET_IGNORES, /* static or setuid: LD_PRELOAD means nothing to it, but may to its children */
	TARGET_HARMED	/* 32-bit, musl, another root directory: it would complain or fail to start */
};

/* The program at `path`, relative to directory descriptor `at`; "" means `at` itself. `agent` is the
 * agent's path. Scripts count as their interpreter. Restores errno; fit for vfork children. */
enum target_kind target_kind(int at, const char *path, const char *agent);

/* Has it to do with MPI, by what it is linked with or by what `envp` says of ranks? Then it is to have MPI's
 * names preloaded, see mpi_names.c. Restores errno; fit for vfork children. */
bool target_has_mpi(int at, const char *path, char *const *envp);

/* Where an execvp of `file` would find it. Gives back `file`, `place` or NULL. */
const char *target_search(const char *file, char *place, size_t bytes);

#endif
