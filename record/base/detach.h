/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detach.h - turns a fork of hpct-record into the collector: it shares nothing with the program and does not
 * disturb it.
 */
#ifndef RECORD_DETACH_H
#define RECORD_DETACH_H

#define DETACH_LISTENER 3

/* Makes a new session, stdio on /dev/null, cwd /, default signals, limits at their hard maximum. Closes
 * all descriptors but `listener`, which becomes DETACH_LISTENER. Exits the process on failure. */
void detach(int listener);
/* Raises the calling thread's niceness to at least `nice`, shortens its time slice and moves it off the
 * program's CPUs if there are others. */
void detach_thread(int nice);

#endif
