/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of hpct-record, and the name of the run it makes. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>

#include "record/events.h"

struct options {
	const char *run; /* -o as given; NULL: by default */
	struct events_asked asked;
	char events[EVENT_EVENTS_MAX]; /* as EVENT_ENV_EVENTS wants them */
	char list[EVENT_EVENTS_MAX];   /* HPCRUN_EVENT_LIST, whose words `asked` may point to */
	bool cuda_hold, cuda_whole_graphs;
	const char *gpu;     /* -e gpu=WORD: auto (the default), nvidia, opencl, level0, off */
	uint64_t keep_ns;    /* --keep DURATION: what is older loses its records; 0: nothing does */
	const char *summary; /* --summary FILE; NULL: none */
	const char *ranks;   /* --ranks as given; NULL: all */
	double fraction;     /* of processes to be measured; 1: all */
	bool no_children;
	bool overwrite, strict, no_switches, with_sources, is_delayed, keeps_recursion, has_libunwind,
		no_gprof, is_help, is_version, is_list;
	char **program; /* argv of the program */
};

/* ERROR_USAGE with a sentence. `program` points into argv. */
int options_parse(struct options *options, int argc, char **argv, struct error *error);
extern const char options_help[];

/* Names of a launch: job and step under a scheduler, else the launcher's own pid. */
struct launch_name {
	char id[256];		/* same for all processes of one launch; what makes a run one run */
	char label[64];		/* of the default run name */
	bool is_shared;		/* by all processes of a job step or of mpirun */
	char job[64], step[64]; /* "" when there is none */
};
void launch_name_find(struct launch_name *name);

/* Path of the run: `pattern` with %j %s %h %p %% replaced, or PROG-LABEL.hpct; ".hpct" is added where it is
 * missing. */
int run_path_make(char *path, unsigned room, const char *pattern, const char *program,
	const struct launch_name *name, struct error *error);

#endif
