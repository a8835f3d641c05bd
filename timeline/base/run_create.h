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

struct run_create {
	char *path, *hidden;
};

/* ERROR_USAGE: something of that name is there. */
int run_create_begin(struct run_create *new_run, const char *path, struct error *error);
/* One more store of it, to be closed before the commit; `name` without suffix. */
int run_create_store(const struct run_create *new_run, const char *name, struct store_writer **writer,
	struct error *error);
/* Makes the closed store of that name an archive. */
int run_create_archive(const struct run_create *new_run, const char *name, struct error *error);
/* One more store of it: an archive of the store that is already there, under its name. */
int run_create_archive_of(const struct run_create *new_run, const char *store, struct error *error);
/* A file of a run beside its stores, if it is there. */
int run_create_keep_file(
	const struct run_create *new_run, const char *from_run, const char *name, struct error *error);
/* Exactly one of these ends it. */
int run_create_commit(struct run_create *new_run, struct error *error);
void run_create_abort(struct run_create *new_run);

#endif
