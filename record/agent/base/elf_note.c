/* SPDX-License-Identifier: Apache-2.0 */
/* elf_note.c - see elf_note.h. */
#include "record/agent/base/elf_note.h"

#include <assert.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 64
#define NOTES_BYTES 1024 /* of one segment, examined */

static_assert(sizeof(struct elf_note_record) == sizeof(Elf64_Nhdr) + 8 + sizeof(struct elf_note),
	"as ELF lays it out");

static bool notes_search(const unsigned char *at, uint64_t bytes, uint64_t align, struct elf_note *found)
{
	struct elf_note_record record;

	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		uint64_t whole;

		memcpy(&head, at, sizeof(head));
		whole = sizeof(head) + ((head.n_namesz + 3u) & ~UINT64_C(3)) + head.n_descsz;
		whole = (whole + align - 1) / align * align;
		if (head.n_type == ELF_NOTE_TYPE && head.n_namesz == sizeof(ELF_NOTE_NAME) &&
			head.n_descsz == sizeof(*found) && bytes >= sizeof(record)) {
			memcpy(&record, at, sizeof(record));
			*found = record.note;
			if (!memcmp(record.name, ELF_NOTE_NAME, sizeof(ELF_NOTE_NAME)))
				return true;
		}
		if (whole > bytes)
			break;
		at += whole;
		bytes -= whole;
	}
	return false;
}

bool elf_note_find(int fd, struct elf_note *found)
{
	unsigned char notes[NOTES_BYTES];
	Elf64_Phdr segment;
	Elf64_Ehdr elf;

	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
		elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(segment))
		return false;
	for (unsigned i = 0; i < elf.e_phnum && i < SEGMENTS_MAX; i++) {
		ssize_t got = 0;

		if (pread(fd, &segment, sizeof(segment), (off_t)(elf.e_phoff + i * sizeof(segment))) !=
			sizeof(segment))
			return false;
		if (segment.p_type == PT_NOTE)
			got = pread(fd, notes,
				segment.p_filesz < sizeof(notes) ? segment.p_filesz : sizeof(notes),
				(off_t)segment.p_offset);
		if (got > 0 && notes_search(notes, (uint64_t)got, segment.p_align > 4 ? 8 : 4, found))
			return true;
	}
	return false;
}
