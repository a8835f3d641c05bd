/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_find.h - finds the run's directory, and its stores. Opens nothing.
 */
#ifndef TIMELINE_RUN_FIND_H
#define TIMELINE_RUN_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "store/base/error.h"

/* The run's directory without trailing slashes: `path`, or if that is NULL the *.hpct of the current
 * directory whose stores were written last. The caller frees *found. ERROR_RUN if it is no run. */
int run_find(const char *path, char **found, struct error *error);

/* A directory with a run's suffix. */
struct run_found {
	char *path;
	struct timespec written; /* last write to a store; caches that readers add do not count */
	uint64_t bytes;		 /* size of its stores */
};

/* The runs of a directory ("." is left out of their paths), last written first. */
int run_find_all(const char *directory, struct run_found **found, size_t *count, struct error *error);
void run_find_all_free(struct run_found *found, size_t count);

/* Names of its stores, sorted, without cache.mdb and lock files; free them with run_find_free(). ERROR_RUN
 * if there is none. */
int run_find_stores(const char *path, char ***names, size_t *count, struct error *error);
void run_find_free(char **names, size_t count);

#endif
