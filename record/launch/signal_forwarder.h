/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_forwarder.h - a process beside hpct-record, in its group, session and job, that nothing is sent to
 * alone:
 *
 *   kill PID of hpct-record            the witness hears nothing: to be passed on to the program
 *   kill -GROUP, a batch system's job  it hears it: the program has got it, too, and is not to get it twice
 *
 * When hpct-record is killed, the witness kills the program: who kills what he has started means that. What
 * hpct-record dies of by its own fault leaves the program running.
 */
#ifndef RECORD_SIGNAL_FORWARDER_H
#define RECORD_SIGNAL_FORWARDER_H

#include <stdbool.h>
#include <sys/types.h>

/* In the vfork child of hpct-record that becomes the program, all signals being blocked, so that nothing is
 * sent to the group between the two; the witness is hpct-record's child. `words` are the program's argv.
 * Without a witness, which is not an error, all signals count as sent to hpct-record alone. */
void signal_forwarder_start(pid_t recorder, char **words);
/* Has it got, too, what `sender` has just sent to us? Waits a moment for it. From a signal handler, whose
 * signal is blocked. */
bool signal_forwarder_hears(int number, pid_t sender);
/* hpct-record is about to die of a fault of its own. For signal handlers. */
void signal_forwarder_spare(void);
/* The program has ended. */
void signal_forwarder_end(void);

#endif
