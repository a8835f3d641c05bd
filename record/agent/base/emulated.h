/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated.h - qemu-user and its like run a program inside a process of their own, and hand it their
 * environment: the agent is then loaded twice, into the emulator and into what that emulates.
 */
#ifndef RECORD_AGENT_EMULATED_H
#define RECORD_AGENT_EMULATED_H

#include <stdbool.h>

/* Does another agent measure this process already, from outside of what is emulated? Called once, as the
 * agent is loaded; two system calls for all that are not emulated. */
bool emulated_is_measured(void);

#endif
