/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_words.h - for program.c only: parses the words of a command line into a program_call.
 */
#ifndef TIMELINE_PROGRAM_WORDS_H
#define TIMELINE_PROGRAM_WORDS_H

#include "timeline/report/program.h"

struct program_words {
	const struct program *program;
	struct program_call *call;
	char **argv;
	int argc, at;		  /* at: index of the current word */
	const char **debug_paths; /* the caller's array, one entry per word */
	bool help, version;	  /* options given */
};

/* Parses every word. Stops at --help and --version and notes it. 0 or negative. */
int program_parse(struct program_words *words, struct error *error);

/* What --help prints, on stdout. */
int program_print_help(const struct program *program, struct error *error);

#endif
