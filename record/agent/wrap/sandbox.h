/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - if a program installs a seccomp filter that would kill it for a system call that only the agent
 * makes, the measurement ends there, and programs it starts are not measured. The agent works with filters
 * that refuse with an errno, as containers' do, except where they refuse one of the few calls that tell
 * processes apart or block signals. Where a filter would kill it only for asking what a descriptor is
 * (cause.h), nothing is asked any more, and programs it starts are not measured.
 */
#ifndef RECORD_AGENT_SANDBOX_H
#define RECORD_AGENT_SANDBOX_H

#include <stdbool.h>

/* Call before the call that sets `mode` (SECCOMP_MODE_*) with the program's `filter`: ends the measurement
 * if required and then returns true; if the call fails, sandbox_failed undoes that. Keeps errno. */
bool sandbox_begin(unsigned long mode, const void *filter);
void sandbox_failed(void);

#endif
