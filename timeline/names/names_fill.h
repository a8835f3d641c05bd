/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_fill.h - finds names for a finished run in the binaries that exist now, and stores them in the run's
 * cache (timeline/run/names_run_cache.h).
 */
#ifndef TIMELINE_NAMES_FILL_H
#define TIMELINE_NAMES_FILL_H

#include "timeline/names/names.h"
#include "timeline/run/run.h"

struct names_fill {
	uint64_t missing; /* frames without a name or without a line */
	uint64_t found;	  /* frames among them that now have a name or line */
	uint64_t modules; /* modules of these frames */
};

/* Searches names for all frames of the run that have none, or no line, and writes them to the cache; entries
 * of an older cache stay. ERROR_RUN: no run; ERROR_IO: the cache cannot be written. `note` (may be NULL)
 * gets a sentence for each module with missing names. */
int names_fill(const char *run_path, const struct names_options *options, struct names_fill *result,
	void (*note)(const char *sentence), struct error *error);

/* run_open(), after names_fill() if the options name places of binaries or debug information. Readers open
 * runs with this. */
int names_run_open(
	struct run **run, const char *path, const struct run_options *options, struct error *error);

#endif
