/* SPDX-License-Identifier: Apache-2.0 */
/* detach.h - turns a fork of hpct-record into the collector: nothing of the program's, nothing in its way. */
#ifndef RECORD_DETACH_H
#define RECORD_DETACH_H

#define DETACH_LISTENER 3

/* A session of its own, stdio on /dev/null, cwd /, all descriptors closed but `listener`, which becomes
 * DETACH_LISTENER; signals as by default, limits as wide as allowed, nice, off the program's CPUs if there
 * are others. Ends the process if it cannot. */
void detach(int listener);

#endif
