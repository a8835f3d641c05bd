/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - forwards signals from hpct-record to the program. The program gets each signal once, whether it
 * was sent to hpct-record alone or to both (signal_forwarder.h). Signals of the terminal reach the program
 * directly: it is in our process group.
 */
#ifndef RECORD_SIGNALS_H
#define RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define SIGNALS_MAX 65

/* The dispositions and mask that hpct-record inherited and the program gets. */
struct signals {
	struct sigaction action[SIGNALS_MAX];
	sigset_t mask;
};

/* Blocks all signals until the program can receive them. */
void signals_take(struct signals *signals);
/* Call in the process that becomes the program. */
void signals_restore(const struct signals *signals);
/* Starts forwarding to `program`, which handles also the signals that hpct-record was started to ignore;
 * -1: no program. */
void signals_pass(pid_t program);
/* Call after the program was waited for. */
void signals_end(void);

/* Stops hpct-record with the signal that stopped the program. */
void signals_stop(int number);

/* True if a process other than the terminal just asked the program to stop. */
bool signals_ask_for_stop(void);
/* True if the program has ended and a signal asked hpct-record to end. */
bool signals_ask_for_end(void);

#endif
