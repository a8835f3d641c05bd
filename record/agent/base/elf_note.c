/* SPDX-License-Identifier: Apache-2.0 */
/* elf_note.c - see elf_note.h. */
#include "record/agent/base/elf_note.h"

#include <assert.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 64
#define NOTES_BYTES 1024 /* of one segment that are looked at */

static_assert(
	sizeof(struct inside_note) == sizeof(Elf64_Nhdr) + 8 + sizeof(struct inside), "as ELF lays it out");

static bool notes_search(const unsigned char *at, uint64_t bytes, uint64_t align, struct inside *inside)
{
	struct inside_note note;

	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		uint64_t whole;

		memcpy(&head, at, sizeof(head));
		whole = sizeof(head) + ((head.n_namesz + 3u) & ~UINT64_C(3)) + head.n_descsz;
		whole = (whole + align - 1) / align * align;
		if (head.n_type == INSIDE_TYPE && head.n_namesz == sizeof(INSIDE_NAME) &&
			head.n_descsz == sizeof(*inside) && bytes >= sizeof(note)) {
			memcpy(&note, at, sizeof(note));
			*inside = note.inside;
			if (!memcmp(note.name, INSIDE_NAME, sizeof(INSIDE_NAME)))
				return true;
		}
		if (whole > bytes)
			break;
		at += whole;
		bytes -= whole;
	}
	return false;
}

bool inside_find(int fd, struct inside *inside)
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
		if (got > 0 && notes_search(notes, (uint64_t)got, segment.p_align > 4 ? 8 : 4, inside))
			return true;
	}
	return false;
}
