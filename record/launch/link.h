/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - the options that hpct-link adds to a link command, and a check of the result. */
#ifndef RECORD_LINK_H
#define RECORD_LINK_H

#include <stdbool.h>

#include "record/agent/base/elf_note.h"
#include "store/base/error.h"

enum link_outcome {
	LINK_WITH_AGENT,    /* a static program that contains an agent */
	LINK_WITHOUT_AGENT, /* a static program without an agent */
	LINK_DYNAMIC,
	LINK_NO_PROGRAM /* an object, a library, or no ELF file */
};

/* True if the program of that name is a linker, false for a compiler that calls one. */
bool link_is_linker(const char *program);

/* Returns `command` with the agent's options added, NULL-terminated; for an empty command the options
 * alone. The caller frees the array but keeps `command`, whose strings it uses. `agent`: path of
 * hpct-agent.so, beside which the archives are. NULL: ERROR_IO. */
char **link_command(
	char *const *command, const char *agent, bool memleak, bool is_linker, struct error *error);

/* The output file of the command. */
const char *link_output(char *const *command);

/* Classifies the open file; fills *note if it contains an agent. */
enum link_outcome link_look(int fd, struct elf_note *note);

#endif
