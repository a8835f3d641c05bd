/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_find.h - which directory is the run, and which files in it are stores. Nothing is opened here.
 */
#ifndef TIMELINE_RUN_FIND_H
#define TIMELINE_RUN_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "store/base/error.h"

/* The run's directory without trailing slashes: `path`, or when that is NULL the *.hpct of the current
 * directory whose stores were written last. *found is the caller's to free. ERROR_RUN when it is no run. */
int run_find(const char *path, char **found, struct error *error);

/* A directory that is called like a run. */
struct run_found {
	char *path;
	struct timespec written; /* a store of it, last; caches that readers leave behind do not count */
	uint64_t bytes;		 /* that its stores take */
};

/* Those in a directory ("." is no part of their paths), the one written last first. */
int run_find_all(const char *directory, struct run_found **found, size_t *count, struct error *error);
void run_find_all_free(struct run_found *found, size_t count);

/* Names of the stores in it, sorted; neither cache.mdb nor lock files. run_find_free() ends them. ERROR_RUN
 * when there is none. */
int run_find_stores(const char *path, char ***names, size_t *count, struct error *error);
void run_find_free(char **names, size_t count);

#endif
