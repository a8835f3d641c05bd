/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detach.h - turns a fork of hpct-record into the collector: it shares nothing with the program and does not
 * disturb it.
 */
#ifndef RECORD_DETACH_H
#define RECORD_DETACH_H

#define DETACH_LISTENER 3
#define DETACH_ABSTRACT 4 /* closed if there was none */

/* A session of its own, stdio on /dev/null, cwd /, all descriptors closed but `listener`, which becomes
 * DETACH_LISTENER, and `abstract_listener`, -1: none; signals as by default, limits as wide as allowed. Ends
 * the process if it cannot. */
void detach(int listener, int abstract_listener);
/* The calling thread is so nice at least, has little at a time, and is off the program's CPUs if there are
 * others. */
void detach_thread(int nice);

#endif
