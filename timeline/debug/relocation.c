/* SPDX-License-Identifier: Apache-2.0 */
/* relocation.c - see relocation.h. */
#include "timeline/debug/relocation.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>

#include "store/base/array.h"

#define LIST_MAX ((size_t)4 << 20)

static uint32_t relative_kind(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	return header.e_machine == EM_X86_64	? R_X86_64_RELATIVE
	       : header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE
						: 0;
}

static bool section_is(Elf_Scn *section, GElf_Shdr *header)
{
	return gelf_getshdr(section, header) && header->sh_type == SHT_RELA &&
	       (header->sh_flags & SHF_ALLOC) && header->sh_size / sizeof(Elf64_Rela) <= LIST_MAX;
}

static void section_read(struct relocations *relocations, Elf_Scn *section, uint32_t kind)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && data->d_type == ELF_T_RELA ? data->d_size / sizeof(Elf64_Rela) : 0;

	if (!count || relocations->count + count > LIST_MAX ||
		!array_resize(&relocations->list, relocations->count + count, sizeof *relocations->list))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela entry;

		if (gelf_getrela(data, (int)i, &entry) && GELF_R_TYPE(entry.r_info) == kind)
			relocations->list[relocations->count++] =
				(struct relocation){entry.r_offset, (uint64_t)entry.r_addend};
	}
}

static int compare(const void *left, const void *right)
{
	const struct relocation *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void list_read(struct relocations *relocations, Elf *elf)
{
	uint32_t kind = relative_kind(elf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (kind && (section = elf_nextscn(elf, section)))
		if (section_is(section, &header))
			section_read(relocations, section, kind);
	if (relocations->count)
		qsort(relocations->list, relocations->count, sizeof *relocations->list, compare);
}

bool relocations_find(struct relocations *relocations, Elf *elf, uint64_t address, uint64_t *value)
{
	const struct relocation key = {.at = address}, *found;

	if (!relocations->is_read)
		list_read(relocations, elf);
	relocations->is_read = true;
	if (!relocations->count)
		return false;
	found = bsearch(&key, relocations->list, relocations->count, sizeof key, compare);
	if (found)
		*value = found->value;
	return found;
}

void relocations_fini(struct relocations *relocations)
{
	free(relocations->list);
	*relocations = (struct relocations){0};
}
