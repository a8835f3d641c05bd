/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_run_cache_file.h - the path of a run's cache; for names_run_cache.c, names_fill.c and
 * blame/idle/idle_cache.c, whose file is beside it.
 */
#ifndef TIMELINE_NAMES_RUN_CACHE_FILE_H
#define TIMELINE_NAMES_RUN_CACHE_FILE_H

#include <stdbool.h>

/* The caller frees it; NULL: no memory, or a read-only run and no user cache directory. */
char *names_run_cache_path(const char *run_path, bool for_writing);

#endif
