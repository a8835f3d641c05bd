/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rundir.h - makes, joins or replaces the run's directory. Never mixes two launches in one run.
 *
 *   NAME.hpct/
 *     launch         id of the launch whose processes may join, if it has several hpct-records
 *     HOST-BOOT.mdb  one store for each recording host, made by its collector
 */
#ifndef RECORD_RUNDIR_H
#define RECORD_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "store/base/error.h"

/* `launch`: id that several hpct-records share, NULL: only one. Joins an existing run of the same launch,
 * else replaces it if `overwrite`, else fails (ERROR_USAGE). Only removes directories that contain nothing
 * but hpct's files. *made: the run is new, and the caller may undo it. */
int rundir_make(const char *path, const char *launch, bool overwrite, bool *made, struct error *error);
/* Removes a new run into which nothing was recorded. */
void rundir_unmake(const char *path);
/* Removes a run that turned out to be of no use, if it holds nothing but hpct's files. */
void rundir_remove(const char *path);
/* Path of a new store, HOST-BOOT.mdb or HOST-BOOT-2.mdb ... Negative: the path is too long. */
int rundir_store_path(char *path, size_t room, const char *run, const char *host, const char *boot);

#endif
