/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note.h - the ELF note by which a static program says that it holds an agent: in a
 * PT_NOTE segment, so that `strip` leaves it there.
 */
#ifndef RECORD_AGENT_ELF_NOTE_H
#define RECORD_AGENT_ELF_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_NOTE_NAME "hpct"
#define ELF_NOTE_TYPE 1u
#define ELF_NOTE_AGENT 1u   /* flags: it is there */
#define ELF_NOTE_MEMLEAK 2u /* it also stands in front of malloc */

struct elf_note {
	uint32_t version; /* EVENT_VERSION of the agent */
	uint32_t flags;
};

struct elf_note_record {
	uint32_t name_bytes, data_bytes, type;
	char name[8]; /* with its padding */
	struct elf_note note;
};

/* Looks for the note in the open ELF file `fd`. Fit for vfork children. */
bool elf_note_find(int fd, struct elf_note *note);

#endif
