/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_threads.h - the threads of a process that an agent came to later: those that it finds, those that
 * begin afterwards, which nobody tells of, and their ends. Only the agent's own thread calls this.
 */
#ifndef RECORD_AGENT_INJECT_THREADS_H
#define RECORD_AGENT_INJECT_THREADS_H

#include <stdint.h>

/* Takes up all threads but the caller. Returns how many. */
uint32_t inject_threads_begin(void);

/* Takes up new ones, and lets go of those that have ended. */
void inject_threads_look(void);

/* Stops all timers, so that no more samples come. */
void inject_threads_stop(void);

/* Unmaps all blocks; no thread may be inside the agent (adopt_end). */
void inject_threads_free(void);

#endif
