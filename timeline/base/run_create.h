/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_create.h - makes a run that is there as a whole or not at all: built in a hidden directory beside
 * its place, and renamed once all of its stores are closed. SIGINT, SIGTERM and SIGHUP take it away and then
 * do what they did. One at a time, one thread.
 */
#ifndef TIMELINE_RUN_CREATE_H
#define TIMELINE_RUN_CREATE_H

#include "store/base/error.h"
#include "store/write/writer.h"

struct new_run {
	char *path, *hidden;
};

/* ERROR_USAGE: something of that name is there. */
int new_run_begin(struct new_run *new_run, const char *path, struct error *error);
/* One more store of it, to be closed before the commit; `name` without suffix. */
int new_run_store(
	const struct new_run *new_run, const char *name, struct store_writer **writer, struct error *error);
/* Makes the closed store of that name an archive. */
int new_run_archive(const struct new_run *new_run, const char *name, struct error *error);
/* One more store of it: an archive of the store that is already there, under its name. */
int new_run_archive_of(const struct new_run *new_run, const char *store, struct error *error);
/* A file of a run beside its stores, if it is there. */
int new_run_keep_file(
	const struct new_run *new_run, const char *from_run, const char *name, struct error *error);
/* Exactly one of these ends it. */
int new_run_commit(struct new_run *new_run, struct error *error);
void new_run_abort(struct new_run *new_run);

#endif
