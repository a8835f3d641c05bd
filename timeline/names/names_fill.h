/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_fill.h - names a run after its recording, from the binaries that are there now, into the run's cache
 * (timeline/run/names_run_cache.h).
 */
#ifndef TIMELINE_NAMES_FILL_H
#define TIMELINE_NAMES_FILL_H

#include "timeline/names/names.h"
#include "timeline/run/run.h"

struct names_fill {
	uint64_t missing; /* frames without a name or without a line */
	uint64_t found;	  /* of them, that now have one or more of both */
	uint64_t modules; /* they lie in */
};

/* Looks for names of all frames of the run that have none, or no line, and writes what is found to the cache;
 * what an older cache held stays. ERROR_RUN: no run; ERROR_IO: the cache cannot be written. `note` is called
 * with a sentence about each module of which something is missing; may be NULL. */
int names_fill(const char *run_path, const struct names_options *options, struct names_fill *result,
	void (*note)(const char *sentence), struct error *error);

/* run_open(), after names_fill() where the options say where binaries or debug information are: who is told
 * where to look looks at once. Readers open runs by this. */
int names_run_open(
	struct run **run, const char *path, const struct run_options *options, struct error *error);

#endif
