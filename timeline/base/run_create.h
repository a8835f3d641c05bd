/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_create.h - creates a run completely or not at all: builds it in a hidden directory beside its place,
 * and renames it once all stores are closed. SIGINT, SIGTERM and SIGHUP delete it and then take effect. One
 * at a time, one thread.
 */
#ifndef TIMELINE_RUN_CREATE_H
#define TIMELINE_RUN_CREATE_H

#include "store/base/error.h"
#include "store/write/writer.h"

struct run_create {
	char *path, *hidden;
};

/* ERROR_USAGE: a file of that name exists. */
int run_create_begin(struct run_create *new_run, const char *path, struct error *error);
/* Adds a store, to be closed before the commit; `name` without suffix. */
int run_create_store(const struct run_create *new_run, const char *name, struct store_writer **writer,
	struct error *error);
/* Makes an archive of the closed store of that name. */
int run_create_archive(const struct run_create *new_run, const char *name, struct error *error);
/* Adds an archive of an existing store, under its name. */
int run_create_archive_of(const struct run_create *new_run, const char *store, struct error *error);
/* Copies a file beside the stores of a run, if it exists. */
int run_create_keep_file(
	const struct run_create *new_run, const char *from_run, const char *name, struct error *error);
/* Call exactly one of these at the end. */
int run_create_commit(struct run_create *new_run, struct error *error);
void run_create_abort(struct run_create *new_run);

#endif
