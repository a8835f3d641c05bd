/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_calls.h - which calls of the program go through wrappers while an agent that came later measures:
 * those that move bytes, with -e IO, and MPI's, where a library of MPI is loaded. inject_slots.h leads them
 * there. Only the agent's own thread calls this, between inject_fork_enter and inject_fork_leave.
 */
#ifndef RECORD_AGENT_INJECT_CALLS_H
#define RECORD_AGENT_INJECT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* As the settings ask; `locks`: see inject_slots_begin. The process must be measured. */
void inject_calls_begin(uint64_t locks);
/* Takes up what was loaded since the last time. Returns how many slots were led to wrappers so far. */
uint32_t inject_calls_look(void);
/* There are calls to lead to wrappers, as of the last look. */
bool inject_calls_are_wanted(void);
/* From here on no call goes to a wrapper; some may still be in one. */
void inject_calls_end(void);

#endif
