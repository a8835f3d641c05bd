/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.h - the kernel's clock as it is. clock_gettime by that name may be another's: a library that fakes
 * times (libfaketime) stands in front of libc's, wants to be ready before it is called, and takes locks.
 */
#ifndef RECORD_AGENT_VDSO_H
#define RECORD_AGENT_VDSO_H

#include <time.h>

/* Finds it, once, when the agent starts; before that, and where the kernel gives none, it is libc's. */
void vdso_init(void);
/* A child of fork may be in another time namespace than its parent. */
void vdso_look(void);
/* The program is about to forbid itself the processor's counter (PR_SET_TSC), which the library reads: the
 * kernel is called from here on. */
void vdso_leave(void);
/* As clock_gettime, but for errno; CLOCK_MONOTONIC is the machine's, as perf events have it, whatever the
 * time namespace. From anywhere. */
int vdso_clock_gettime(clockid_t clock, struct timespec *now);

#endif
