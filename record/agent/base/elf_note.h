/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note.h - the ELF note that marks a static program that contains an agent. It is in a PT_NOTE segment,
 * so `strip` keeps it.
 */
#ifndef RECORD_AGENT_ELF_NOTE_H
#define RECORD_AGENT_ELF_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_NOTE_NAME "hpct"
#define ELF_NOTE_TYPE 1u
#define ELF_NOTE_AGENT 1u   /* flags: the program contains an agent */
#define ELF_NOTE_MEMLEAK 2u /* the agent also wraps malloc */

struct elf_note {
	uint32_t version; /* EVENT_VERSION of the agent */
	uint32_t flags;
};

struct elf_note_record {
	uint32_t name_bytes, data_bytes, type;
	char name[8]; /* padded */
	struct elf_note note;
};

/* Finds the note in the open ELF file `fd`. Safe in vfork children. */
bool elf_note_find(int fd, struct elf_note *note);

#endif
