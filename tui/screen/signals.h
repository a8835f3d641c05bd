/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - signals that end the view: Ctrl-C, kill, a hang-up, a crash. The terminal is always restored.
 * The view gets the chance to end itself; after a second, or at a second signal, the handler restores the
 * terminal without ncurses and ends the process.
 *
 * One terminal and one set of signals per process.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

#include <stdbool.h>

#include "store/base/error.h"

/* Keeps the modes of the terminal at standard input; call before anything changes them. */
int signals_open(struct error *error);
/* Takes the signals: `leave` is what the terminal must be sent when it is left (copied; cut where it is
 * longer than any). */
void signals_catch(const char *leave);
/* Gives the signals back. */
void signals_close(void);

/* A descriptor that is readable once a signal came. */
int signals_fd(void);
/* A signal asks the program to end. */
bool signals_is_over(void);
/* The same as if SIGHUP had come: the terminal is gone. */
void signals_hang_up(void);
/* Dies by the signal that came; after signals_close. */
void signals_die(void) __attribute__((noreturn));

#endif
