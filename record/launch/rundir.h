/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rundir.h - the run's directory: made, joined or replaced, never mixed into.
 *
 *   NAME.hpct/
 *     launch         launch id of the processes that may join, for launches of several hpct-records
 *     HOST-BOOT.mdb  one store for each recording host, made by its collector
 */
#ifndef RECORD_RUNDIR_H
#define RECORD_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "store/base/error.h"

/* `launch`: id that several hpct-records share, NULL: this one records alone. A run that is there is joined
 * if it is of the same launch, else replaced if `overwrite` says so, else refused (ERROR_USAGE). Only a
 * directory that holds nothing but our files is ever removed. *made: it is new, and the caller's to take
 * back. */
int rundir_make(const char *path, const char *launch, bool overwrite, bool *made, struct error *error);
/* Takes back a run that nothing was recorded into. */
void rundir_unmake(const char *path);
/* Path of a store that is not there yet, HOST-BOOT.mdb or HOST-BOOT-2.mdb ... 0 or negative: it does not fit.
 */
int rundir_store_path(char *path, size_t room, const char *run, const char *host, const char *boot);

#endif
