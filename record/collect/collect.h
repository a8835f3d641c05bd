/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - the collector: a separate process that drains the rings of all measured processes of a launch
 * on this host into one store, and ends after the last of them.
 */
#ifndef RECORD_COLLECT_H
#define RECORD_COLLECT_H

#include <stdbool.h>

#include "record/base/rendezvous.h"
#include "record/gauges/gauge_list.h"

struct collect_plan {
	const char *run;     /* absolute path of the run's directory, which must exist */
	const char *launch;  /* launch id */
	const char *command; /* shell-quoted */
	const char *events;
	const char *names;	    /* path of hpct-names */
	uint64_t keep_ns;	    /* older records are deleted; 0: all are kept */
	const char *unmonitored;    /* why the first program takes no agent; NULL: it takes one */
	struct gauges_asked gauges; /* figures over time */
	bool with_sources;	    /* keep the source files that symbols refer to */
};

/* Forks the collector, which takes over rendezvous->listener. Negative: it could not be started. */
int collect_start(const struct collect_plan *plan, const struct rendezvous *rendezvous, struct error *error);

#endif
