/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note.h - the ELF note by which a static program says that it holds an agent: in a
 * PT_NOTE segment, so that `strip` leaves it there.
 */
#ifndef RECORD_AGENT_ELF_NOTE_H
#define RECORD_AGENT_ELF_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define INSIDE_NAME "hpct"
#define INSIDE_TYPE 1u
#define INSIDE_AGENT 1u	  /* flags: it is there */
#define INSIDE_MEMLEAK 2u /* it also stands in front of malloc */

struct inside {
	uint32_t version; /* EVENT_VERSION of the agent */
	uint32_t flags;
};

struct inside_note {
	uint32_t name_bytes, data_bytes, type;
	char name[8]; /* with its padding */
	struct inside inside;
};

/* Looks for the note in the open ELF file `fd`. Fit for vfork children. */
bool inside_find(int fd, struct inside *inside);

#endif
