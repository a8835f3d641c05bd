/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.c - see build_id.h. */
#include "record/modules/build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 64u

void build_id_take(struct build_id *id, const uint8_t *notes, size_t bytes)
{
	size_t at = 0;

	while (!id->size && bytes - at > sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		size_t name = at + sizeof(head), data;

		memcpy(&head, notes + at, sizeof(head));
		data = name + (((size_t)head.n_namesz + 3u) & ~(size_t)3);
		if (data > bytes || head.n_descsz > bytes - data)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
			head.n_descsz <= sizeof(id->bytes)) {
			id->size = (uint8_t)head.n_descsz;
			memcpy(id->bytes, notes + data, head.n_descsz);
		}
		at = data + (((size_t)head.n_descsz + 3u) & ~(size_t)3);
		if (at > bytes)
			return;
	}
}

bool build_id_is_of_file(int fd, const uint8_t *wanted, size_t bytes)
{
	uint8_t notes[BUILD_ID_NOTES_MAX];
	struct build_id found = {.size = 0};
	Elf64_Phdr segment;
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_phentsize != sizeof(segment))
		return false;
	for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX && !found.size; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return false;
		if (segment.p_type == PT_NOTE && segment.p_filesz <= sizeof(notes) &&
			pread(fd, notes, segment.p_filesz, (off_t)segment.p_offset) ==
				(ssize_t)segment.p_filesz)
			build_id_take(&found, notes, segment.p_filesz);
	}
	return found.size == bytes && !memcmp(found.bytes, wanted, bytes);
}
