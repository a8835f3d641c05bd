/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.h - calls the kernel's clock directly. The symbol clock_gettime may belong to a library that fakes
 * times (libfaketime), which needs initialization and takes locks.
 */
#ifndef RECORD_AGENT_VDSO_H
#define RECORD_AGENT_VDSO_H

#include <stdbool.h>
#include <time.h>

/* Finds the vDSO, once, when the agent starts. Before that, and if there is none, libc's clock is used. */
void vdso_init(void);
/* Call in a fork child, whose time namespace may differ from its parent's. */
void vdso_look(void);
/* Call before the program forbids itself the TSC (PR_SET_TSC), which the vDSO reads: switches to the
 * system call. */
void vdso_leave(void);
/* Whether the program has left itself the TSC. No system call. */
bool vdso_may_read_counter(void);
/* Like clock_gettime, but keeps errno; CLOCK_MONOTONIC is the host's, as in perf events, in any time
 * namespace. Signal safe. */
int vdso_clock_gettime(clockid_t clock, struct timespec *now);

#endif
