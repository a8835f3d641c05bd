/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugger.h - is somebody looking on, as ptrace(2) has it? A debugger stops at each signal that it was not
 * told of; strace and the like let signals pass.
 */
#ifndef RECORD_AGENT_DEBUGGER_H
#define RECORD_AGENT_DEBUGGER_H

#include <stdbool.h>

/* Is this process traced? */
bool debugger_is_there(void);

/* Would samples stop the program in its debugger? Not if that was told of their signal on its command line,
 * or if the timer was asked for by its name. */
bool debugger_would_stop(void);

#endif
