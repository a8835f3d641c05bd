/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_section.c - sections of a GPU binary by number and name, their bytes and strings, and relocations of
 * debug sections. Checks all against the file's size.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_code_internal.h"

#define RELOCATIONS_MAX ((size_t)4 << 20)
#define SECTIONS_MAX 0xff00u
#define NAME_MAX_BYTES ((size_t)32 << 10) /* templates have long ones */

static bool bytes_hold(struct gpu_bytes bytes, uint64_t at, uint64_t size)
{
	return at <= bytes.size && size <= bytes.size - at;
}

Elf64_Ehdr gpu_header(const struct gpu_code *code)
{
	Elf64_Ehdr header = {0};

	if (!code->is_patch)
		memcpy(&header, code->file.at, sizeof header);
	return header;
}

Elf64_Shdr gpu_section_at(const struct gpu_code *code, uint32_t index)
{
	Elf64_Ehdr header = gpu_header(code);
	Elf64_Shdr section = {0};
	uint64_t at = header.e_shoff + (uint64_t)index * sizeof section;

	if (index < header.e_shnum && at >= header.e_shoff && bytes_hold(code->file, at, sizeof section))
		memcpy(&section, code->file.at + at, sizeof section);
	return section;
}

struct gpu_bytes gpu_section_bytes(const struct gpu_code *code, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS ||
		(section->sh_flags & SHF_COMPRESSED) ||
		!bytes_hold(code->file, section->sh_offset, section->sh_size))
		return (struct gpu_bytes){0};
	return (struct gpu_bytes){code->file.at + section->sh_offset, (size_t)section->sh_size};
}

/* Many may begin in one that is long. */
const char *gpu_string_at(struct gpu_bytes strings, uint64_t at)
{
	size_t left = at < strings.size ? strings.size - (size_t)at : 0;

	if (!left || !memchr(strings.at + at, '\0', left < NAME_MAX_BYTES ? left : NAME_MAX_BYTES))
		return "";
	return (const char *)strings.at + at;
}

uint32_t gpu_section_find(const struct gpu_code *code, const char *name)
{
	Elf64_Ehdr header = gpu_header(code);
	Elf64_Shdr names = gpu_section_at(code, header.e_shstrndx);
	struct gpu_bytes strings = gpu_section_bytes(code, &names);

	for (uint32_t i = 1; i < header.e_shnum && i < SECTIONS_MAX; i++)
		if (!strcmp(gpu_string_at(strings, gpu_section_at(code, i).sh_name), name))
			return i;
	return 0;
}

struct gpu_bytes gpu_code_section(const struct gpu_code *code, const char *name)
{
	Elf64_Shdr section = gpu_section_at(code, gpu_section_find(code, name));

	return gpu_section_bytes(code, &section);
}

uint64_t gpu_section_base(const struct gpu_code *code, uint32_t index)
{
	Elf64_Shdr section = gpu_section_at(code, index);

	return section.sh_addr || !(section.sh_flags & SHF_ALLOC) ? 0 : section.sh_offset;
}

/* ---- relocations ---- */

uint64_t gpu_symbol_address(const struct gpu_code *code, uint32_t section, uint64_t index)
{
	Elf64_Shdr symbols = gpu_section_at(code, section);
	struct gpu_bytes table = gpu_section_bytes(code, &symbols);
	Elf64_Sym symbol;

	if (index >= table.size / sizeof symbol)
		return 0;
	memcpy(&symbol, table.at + index * sizeof symbol, sizeof symbol);
	return symbol.st_value + (symbol.st_shndx && symbol.st_shndx < SHN_LORESERVE
						 ? gpu_section_base(code, symbol.st_shndx)
						 : 0);
}

/* Debug sections have only whole addresses and offsets left open. Bytes of one; 0: something else. */
static size_t relocation_bytes(unsigned machine, uint64_t info)
{
	static const struct {
		uint16_t machine;
		uint8_t kind, bytes;
	} known[] = {{EM_CUDA, 1, 4}, {EM_CUDA, 2, 8}, {EM_AMDGPU, 6, 4}, {EM_AMDGPU, 3, 8},
		{EM_INTELGT, 2, 4}, {EM_INTELGT, 1, 8}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].machine == machine && known[i].kind == ELF64_R_TYPE(info))
			return known[i].bytes;
	return 0;
}

/* A section that is not loaded counts from its own begin, code from the file's. */
static void relocate_by(
	const struct gpu_code *code, const Elf64_Shdr *by, uint8_t *copy, size_t size, size_t *left)
{
	bool has_addend = by->sh_type == SHT_RELA;
	size_t step = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	struct gpu_bytes entries = gpu_section_bytes(code, by);

	for (size_t at = 0; at + step <= entries.size && *left; at += step, --*left) {
		Elf64_Rela entry = {0};
		uint64_t addend = 0, value;
		size_t width;

		memcpy(&entry, entries.at + at, step);
		width = relocation_bytes(gpu_header(code).e_machine, entry.r_info);
		if (!width || entry.r_offset > size || size - entry.r_offset < width)
			continue;
		memcpy(&addend, copy + entry.r_offset, width);
		value = gpu_symbol_address(code, by->sh_link, ELF64_R_SYM(entry.r_info)) +
			(has_addend ? (uint64_t)entry.r_addend : addend);
		memcpy(copy + entry.r_offset, &value, width);
	}
}

void gpu_code_relocate(const struct gpu_code *code, const char *name, uint8_t *copy, size_t size)
{
	uint32_t target = gpu_section_find(code, name), count = gpu_header(code).e_shnum;
	size_t left = RELOCATIONS_MAX;

	for (uint32_t i = 1; i < count && i < SECTIONS_MAX && target; i++) {
		Elf64_Shdr section = gpu_section_at(code, i);

		if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) && section.sh_info == target)
			relocate_by(code, &section, copy, size, &left);
	}
}

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7);
}

void *gpu_code_debug(const struct gpu_code *code)
{
	Elf64_Ehdr header = gpu_header(code);
	Elf64_Shdr names = gpu_section_at(code, header.e_shstrndx);
	struct gpu_bytes strings = gpu_section_bytes(code, &names);
	uint8_t *copy = gpu_section_find(code, ".debug_info") ? malloc(code->file.size) : NULL;
	size_t left = RELOCATIONS_MAX;

	if (!copy)
		return NULL;
	memcpy(copy, code->file.at, code->file.size);
	for (uint32_t i = 1; i < header.e_shnum && i < SECTIONS_MAX; i++) {
		Elf64_Shdr by = gpu_section_at(code, i), of = gpu_section_at(code, by.sh_info);
		struct gpu_bytes bytes = gpu_section_bytes(code, &of);

		if ((by.sh_type == SHT_RELA || by.sh_type == SHT_REL) && bytes.size &&
			is_debug(gpu_string_at(strings, of.sh_name)))
			relocate_by(code, &by, copy + (bytes.at - code->file.at), bytes.size, &left);
	}
	return copy;
}
