/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugger.h - detects tracers (ptrace(2)). A debugger stops at each signal that it is not configured to
 * pass; strace and similar tools pass signals.
 */
#ifndef RECORD_AGENT_DEBUGGER_H
#define RECORD_AGENT_DEBUGGER_H

#include <stdbool.h>

/* True if this process is traced. */
bool debugger_is_there(void);

/* True if samples would stop the program in its debugger. False if the debugger's command line passes the
 * signal, or if the user chose the timer by name. */
bool debugger_would_stop(void);

#endif
