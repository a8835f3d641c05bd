/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - what hpct-link adds to a link command, and what came of it. */
#ifndef RECORD_LINK_H
#define RECORD_LINK_H

#include <stdbool.h>

#include "record/agent/base/elf_note.h"
#include "store/base/error.h"

enum link_outcome {
	LINK_WITH_AGENT,    /* a static program with an agent */
	LINK_WITHOUT_AGENT, /* one without */
	LINK_DYNAMIC,
	LINK_NO_PROGRAM /* an object, a library, no ELF file */
};

/* Is the program of that name a linker, rather than a compiler that calls one? */
bool link_is_linker(const char *program);

/* `command` with the agent's options added, NULL at its end; free() it once and keep `command` as long. With
 * an empty command the options alone. `agent`: hpct-agent.so, beside which the archives lie. NULL:
 * ERROR_IO with a sentence. */
char **link_command(
	char *const *command, const char *agent, bool memleak, bool is_linker, struct error *error);

/* The file that the command makes. */
const char *link_output(char *const *command);

/* What the open file is; *inside is filled where an agent is. */
enum link_outcome link_look(int fd, struct elf_note *note);

#endif
