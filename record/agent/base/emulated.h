/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated.h - detects qemu-user and similar emulators, which run a program inside their own process and pass
 * it their environment: the agent is then loaded twice, into the emulator and into the emulated program.
 */
#ifndef RECORD_AGENT_EMULATED_H
#define RECORD_AGENT_EMULATED_H

#include <stdbool.h>

/* True if an agent outside the emulation already measures this process. Call once, when the agent is
 * loaded. Costs two system calls outside an emulator. */
bool emulated_is_measured(void);

#endif
