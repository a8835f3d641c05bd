/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - the collector: a process of its own that drains the rings of all measured processes
 * of a launch into one store, and ends after the last of them.
 */
#ifndef RECORD_COLLECT_H
#define RECORD_COLLECT_H

#include <stdbool.h>

#include "record/base/rendezvous.h"

struct collect_plan {
	const char *run;     /* absolute path of the run's directory, which exists */
	const char *launch;  /* launch id */
	const char *command; /* shell-quoted */
	const char *events;
	const char *names;	 /* path of hpct-names */
	uint64_t keep_ns;	 /* what is older loses its records; 0: nothing does */
	const char *unmonitored; /* why the first program takes no agent; NULL: it does */
	bool with_sources;	 /* keep the source files that names mention */
};

/* Forks the collector; it takes over rendezvous->listener. Negative: it could not be started. */
int collect_start(const struct collect_plan *plan, const struct rendezvous *rendezvous, struct error *error);

#endif
