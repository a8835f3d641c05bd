/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_child.h - runs a program to its end and keeps what it says: what hpct-doctor claims of programs, it
 * has tried. */
#ifndef RECORD_DOCTOR_CHILD_H
#define RECORD_DOCTOR_CHILD_H

#include <stddef.h>

#define DOCTOR_CHILD_LOST 255 /* it could not be started or was too slow, and `said` has a sentence */

/* Runs argv[0] (a path, or a name to be found on PATH) with stdin on /dev/null, and `preload`, unless NULL,
 * as its LD_PRELOAD. `said`: what it wrote to stdout and stderr, cut to room - 1 bytes. Kills it after
 * `wait_ms`. Returns its exit code, 128 + the signal, or DOCTOR_CHILD_LOST. Main thread alone. */
int doctor_child(const char *const *argv, const char *preload, unsigned wait_ms, char *said, size_t room);

#endif
