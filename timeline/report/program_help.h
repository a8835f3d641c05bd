/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_help.h - prints a reader's --help: its options, the selector's, those that all readers share, its
 * notes.
 */
#ifndef TIMELINE_PROGRAM_HELP_H
#define TIMELINE_PROGRAM_HELP_H

#include "timeline/report/program.h"

/* True when the selector's option of that name means nothing to the program. */
bool program_refuses(const struct program *program, const char *name, size_t name_size);

/* Prints to stdout. On a terminal it wraps lines between words; an option's text continues below its start.
 */
int program_help(const struct program *program, const struct program_option *const *shared,
	size_t shared_count, struct error *error);

#endif
