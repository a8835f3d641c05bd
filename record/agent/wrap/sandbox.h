/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a program that locks itself up by seccomp is left alone where the
 * filter would end it for a system call that only the agent makes: its measurement
 * ends there, and what it starts is not measured. Filters that refuse with an errno,
 * as containers' do, the agent lives with.
 */
#ifndef RECORD_AGENT_SANDBOX_H
#define RECORD_AGENT_SANDBOX_H

#include <stdbool.h>

/* Ahead of the call that sets `mode` (SECCOMP_MODE_*) with the program's `filter`: ends the measurement where
 * it must. true: it has, and sandbox_failed takes that back should the call fail. errno is kept. */
bool sandbox_begin(unsigned long mode, const void *filter);
void sandbox_failed(void);

#endif
