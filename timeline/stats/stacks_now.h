/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_now.h - a look at processes that run now: hpct-record measures them from outside for a moment, into
 * a run that is only there for the answer.
 */
#ifndef TIMELINE_STACKS_NOW_H
#define TIMELINE_STACKS_NOW_H

#include <stddef.h>
#include <sys/types.h>

#include "store/base/error.h"

/* Records the processes, as -p of hpct-record takes them. `run`: gets the path of the run, of `room` bytes.
 * ERROR_USAGE: hpct-record has said why not; *error then has no text. ERROR_IO: it cannot be started. */
int stacks_now_record(const char *pids, char *run, size_t room, struct error *error);
/* Begins to record them into such a run, until stacks_now_end; returns when the run can be opened, or as
 * above. The recorder ends with us. */
int stacks_now_begin(const char *pids, char *run, size_t room, pid_t *recorder, struct error *error);
/* Ends that; the processes go on. The run is complete then. */
void stacks_now_end(pid_t recorder, const char *run);
/* Moves the run to where it is to stay. */
int stacks_now_keep(const char *run, const char *path, struct error *error);
/* Removes the run, or what is left of its folder. */
void stacks_now_remove(const char *run);

/* Takes -p PIDS, however written, out of a command line; NULL: it is not there. */
const char *stacks_now_pids(int *argc, char **argv);
/* ERROR_USAGE unless they are numbers, "17" or "17,18". */
int stacks_now_pids_check(const char *pids, struct error *error);

#endif
