/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fatal_signal.h - a GPU runtime keeps finished operations in the process's memory, so a signal that ends the
 * process takes them with it. Where the program leaves such a signal its default action, a handler of ours
 * asks for them first, waits a bounded time, and lets the signal end the process as it would have. The
 * program never sees the handler: sigaction and signal go through fatal_signal_hide and fatal_signal_reveal.
 */
#ifndef RECORD_AGENT_FATAL_SIGNAL_H
#define RECORD_AGENT_FATAL_SIGNAL_H

#include <signal.h>

/* Installs the handler where the action is the default; any number of times. Not in a signal handler. */
void fatal_signal_watch(void);

/* *action is about to be installed: the default action of a watched signal becomes our handler. */
void fatal_signal_hide(int number, struct sigaction *action);
/* The action has become the default: installs our handler where the signal is watched. */
void fatal_signal_renew(int number);
/* *old is what the kernel had: our handler becomes the default action again. */
void fatal_signal_reveal(struct sigaction *old);

#endif
