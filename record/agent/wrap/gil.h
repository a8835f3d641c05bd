/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gil.h - waits for Python's GIL become spans `gil`, with who held it, as waits for locks (wrap_lock.c). The
 * interpreter waits 5 ms at a time and looks again: such waits are one span, or one for each thread that was
 * seen to hold it.
 *
 *   waits      |~~5 ms~~|~~5 ms~~|~~5 ms~~|~2~|       holders: a, a, b, b
 *   spans      |~~gil holder=a~~~|~~gil holder=b~|    the first has again=1: it did not end with the lock
 * taken
 */
#ifndef RECORD_AGENT_GIL_H
#define RECORD_AGENT_GIL_H

#include <pthread.h>
#include <stdint.h>

/* The real pthread_cond_timedwait for the lock that python_gil_of() told. */
int gil_wait(uint64_t gil, pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);

#endif
