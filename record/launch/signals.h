/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - what is sent to hpct-record is meant for the program: it gets it, once, whether it was sent to
 * hpct-record alone or to both (signal_forwarder.h). Signals of the terminal reach the program by themselves:
 * its process group is ours.
 */
#ifndef RECORD_SIGNALS_H
#define RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define SIGNALS_MAX 65

/* What hpct-record had when it was started, which is what the program gets. */
struct signals {
	struct sigaction action[SIGNALS_MAX];
	sigset_t mask;
};

/* All signals wait until the program is there to get them. */
void signals_take(struct signals *signals);
/* In the process that becomes the program. */
void signals_restore(const struct signals *signals);
/* From here on they are passed on to `program`, which may take what hpct-record was started not to; -1: there
 * is none. */
void signals_pass(pid_t program);
/* The program has been waited for. */
void signals_end(void);

/* Stops hpct-record as the program was stopped. */
void signals_stop(int number);

/* Someone other than the terminal has just asked that the program stop. */
bool signals_ask_for_stop(void);
/* The program has ended, and someone asked hpct-record to end, too. */
bool signals_ask_for_end(void);

#endif
