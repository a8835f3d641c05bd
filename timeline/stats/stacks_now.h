/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_now.h - a look at processes that run now: hpct-record measures them from outside for a moment, into
 * a run that is only there for the answer.
 */
#ifndef TIMELINE_STACKS_NOW_H
#define TIMELINE_STACKS_NOW_H

#include <stddef.h>

#include "store/base/error.h"

/* Records the processes, as -p of hpct-record takes them. `run`: gets the path of the run, of `room` bytes.
 * ERROR_USAGE: hpct-record has said why not; *error then has no text. ERROR_IO: it cannot be started. */
int stacks_now_record(const char *pids, char *run, size_t room, struct error *error);
/* Removes the run. */
void stacks_now_remove(const char *run);

#endif
