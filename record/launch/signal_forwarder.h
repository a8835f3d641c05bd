/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_forwarder.h - tells signals to hpct-record alone from signals to its process group. The forwarder is
 * a process in hpct-record's group, session and job to which nothing sends signals directly:
 *
 *   kill PID of hpct-record            the forwarder gets nothing: forward the signal to the program
 *   kill -GROUP, a batch system's job  the forwarder gets it: so did the program, do not send it twice
 *
 * Killing hpct-record also kills the program: the forwarder does it. If hpct-record crashes, the program runs
 * on.
 */
#ifndef RECORD_SIGNAL_FORWARDER_H
#define RECORD_SIGNAL_FORWARDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Call in hpct-record's vfork child that becomes the program, with all signals blocked, so that no group
 * signal arrives in between; the forwarder is hpct-record's child. `words`: the program's argv. On
 * failure, which is no error, all signals count as sent to hpct-record alone. */
void signal_forwarder_start(pid_t recorder, char **words);
/* True if the forwarder also got the signal that `sender` just sent to us; waits a moment for it. Call
 * from the signal's handler, with the signal blocked. */
bool signal_forwarder_hears(int number, pid_t sender);
/* hpct-record is about to crash: do not kill the program. Async-signal-safe. */
void signal_forwarder_spare(void);
/* The program has ended: stops the forwarder. */
void signal_forwarder_end(void);

#endif
