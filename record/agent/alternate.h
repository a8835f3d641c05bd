/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alternate.h - handlers of the program on alternate stacks. Such a stack may have no room for our signals'
 * frame beside its own, and the kernel ends a program whose alternate stack overflows: so these handlers
 * block our signals, unless it is roomy. (Not always: who leaves such a handler by longjmp or an exception,
 * as Ada does, would leave them blocked for good.)
 */
#ifndef RECORD_AGENT_ALTERNATE_H
#define RECORD_AGENT_ALTERNATE_H

#include <signal.h>

/* The mask of a handler that the program installs, as it is to be. Any thread, one at a time for a signal. */
void alternate_filter(struct sigaction *action);

#endif
