/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_gil.h - CPython's global interpreter lock, as its waits show it: a thread waits for it on a
 * condition that lies in the lock, at most 5 ms at a time, until it is free.
 *
 *   runtime (up to 3.11), or thread state -> interpreter state (from 3.12) -> lock { holder, taken, condition
 * }
 *
 * Neither allocates, locks or runs code of Python; all memory is read with care.
 */
#ifndef RECORD_AGENT_PYTHON_GIL_H
#define RECORD_AGENT_PYTHON_GIL_H

#include <stdbool.h>
#include <stdint.h>

/* The lock for which the calling thread waits if it waits on this condition; 0: it is not for a GIL, or the
 * interpreter has not been met yet. */
uint64_t python_gil_of(const void *condition);

/* The next two with the mutex of the wait held, which guards the lock. */
bool python_gil_is_taken(uint64_t gil);
/* pthread_self() of the thread that has it; 0: nobody, or not known. */
uint64_t python_gil_holder(uint64_t gil);

#endif
