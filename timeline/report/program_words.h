/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_words.h - for program.c alone: the words of a command line on their way into a program_call.
 */
#ifndef TIMELINE_PROGRAM_WORDS_H
#define TIMELINE_PROGRAM_WORDS_H

#include "timeline/report/program.h"

struct program_words {
	const struct program *program;
	struct program_call *call;
	char **argv;
	int argc, at;		  /* at: the word that is being taken */
	const char *run_path;	  /* NULL: none was named */
	const char **debug_paths; /* the caller's: room for one a word */
	bool help, version;	  /* asked for */
};

/* Takes every word. Stops at --help and --version, which it notes. 0 or negative. */
int program_parse(struct program_words *words, struct error *error);

/* What --help prints, on stdout. */
int program_print_help(const struct program *program, struct error *error);

#endif
