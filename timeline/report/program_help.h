/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_help.h - what --help of a reader prints: its options, the selector's, those that readers share, its
 * notes.
 */
#ifndef TIMELINE_PROGRAM_HELP_H
#define TIMELINE_PROGRAM_HELP_H

#include "timeline/report/program.h"

/* Whether the selector's option of that name says nothing to the program. */
bool program_refuses(const struct program *program, const char *name, size_t name_size);

/* On stdout. On a terminal lines are broken between words; what an option does goes on below itself. */
int program_help(const struct program *program, const struct program_option *const *shared,
	size_t shared_count, struct error *error);

#endif
