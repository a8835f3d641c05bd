/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of hpct-record. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>

#include "record/events/events.h"
#include "record/gauges/gauge_list.h"

#define OPTIONS_NOTES_MAX 20u

struct options {
	const char *run; /* -o as given; NULL: default name */
	struct events_asked asked;
	char events[EVENT_EVENTS_MAX]; /* in the form of EVENT_ENV_EVENTS */
	char list[EVENT_EVENTS_MAX];   /* HPCRUN_EVENT_LIST; `asked` may point into it */
	bool cuda_hold, cuda_whole_graphs;
	struct events_gpu gpu; /* -e gpu=WORD: auto (the default), nvidia, opencl, level0, off */
	struct gauges_asked gauges;
	const char *pids;   /* -p as given; NULL: none */
	const char *comm;   /* --comm as given; NULL: none */
	const char *cgroup; /* --cgroup as given; NULL: none */
	bool is_newest;
	bool is_inject;	      /* by an agent that is loaded into them, not from outside */
	bool is_all;	      /* -a: the whole machine */
	uint64_t for_ns;      /* --for DURATION; 0: to the end */
	uint32_t stack_bytes; /* --stack-bytes; 0: what the stacks need */
	uint64_t keep_ns;     /* --keep DURATION: older records are deleted; 0: all are kept */
	const char *summary;  /* --summary FILE; NULL: none */
	const char *ranks;    /* --ranks as given; NULL: all */
	double fraction;      /* share of processes to measure; 1: all */
	bool no_children;
	bool is_dormant;   /* --dormant */
	const char *start; /* --start RUN; NULL: none */
	const char *stop;  /* --stop RUN; NULL: none */
	bool is_status;	   /* --status, of the run that is the first word of `program`, if any */
	bool names_node;   /* --node */
	bool names_java;   /* --java */
	bool overwrite, strict, no_switches, with_sources, is_delayed, keeps_recursion, has_libunwind,
		no_gprof, is_help, is_version, is_list;
	bool is_unsampled;		      /* -e NONE: no samples, whatever the program does */
	const char *notes[OPTIONS_NOTES_MAX]; /* sentences for the user, static */
	unsigned note_count;
	char **program; /* the program's argv; empty with pids or comm */
};

/* ERROR_USAGE on a bad command line. `program` points into argv. */
int options_parse(struct options *options, int argc, char **argv, struct error *error);
/* True if processes that run already are to be measured. */
bool options_attach(const struct options *options);
extern const char options_help[];

#endif
