/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_content.h - the hash by which the collector tells whether the file at a module's path is the one
 * that is mapped, where the module has no build id: the agent takes it of memory, the collector of the file.
 * It covers the first page, which holds the ELF header and the program headers, and the first bytes of code.
 */
#ifndef STORE_MODULE_CONTENT_H
#define STORE_MODULE_CONTENT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MODULE_CONTENT_PAGE 4096u
#define MODULE_CONTENT_CODE_MAX 16384u
#define MODULE_CONTENT_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Which bytes the hash covers. */
struct module_content {
	uint64_t header_bytes; /* from the file's begin */
	uint64_t code_offset;  /* in the file */
	uint64_t code_address; /* in the program headers' addresses */
	uint64_t code_bytes;
};

/* `page`: the file's first MODULE_CONTENT_PAGE bytes. false: they hold no 64-bit ELF header with its program
 * headers, or no segment begins there, or none has code that can be read. */
static inline bool module_content_place(const uint8_t *page, struct module_content *content)
{
	Elf64_Ehdr header;

	memcpy(&header, page, sizeof(header));
	*content = (struct module_content){0};
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > MODULE_CONTENT_PAGE ||
		header.e_phnum > (MODULE_CONTENT_PAGE - header.e_phoff) / sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, page + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type != PT_LOAD)
			continue;
		if (!segment.p_offset && !content->header_bytes)
			content->header_bytes = segment.p_filesz < MODULE_CONTENT_PAGE ? segment.p_filesz
										       : MODULE_CONTENT_PAGE;
		if ((segment.p_flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_X) || content->code_bytes)
			continue;
		content->code_offset = segment.p_offset;
		content->code_address = segment.p_vaddr;
		content->code_bytes = segment.p_filesz < MODULE_CONTENT_CODE_MAX ? segment.p_filesz
										 : MODULE_CONTENT_CODE_MAX;
	}
	return content->header_bytes && content->code_bytes;
}

/* Pieces of any size, but the last, must be multiples of 8 bytes. */
static inline uint64_t module_content_add(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = 0;

		memcpy(&word, (const char *)bytes + at, size - at < 8 ? size - at : 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	return hash;
}

#endif
