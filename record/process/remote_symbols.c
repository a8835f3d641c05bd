/* SPDX-License-Identifier: Apache-2.0 */
/* remote_symbols.c - see remote_symbols.h. */
#include "record/process/remote_symbols.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define IMAGE_BYTES_MAX (64u << 20)

static char *image_copy(uint32_t pid, uint64_t begin, uint64_t bytes)
{
	char *image;

	if (bytes > IMAGE_BYTES_MAX)
		return NULL;
	image = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (image == MAP_FAILED)
		return NULL;
	for (uint64_t at = 0; at < bytes; at += 4096) {
		size_t got = remote_unwind_read_some(pid, begin + at, image + at, bytes - at);

		at += got & ~(size_t)4095;
	}
	return image;
}

/* What the loader there made addresses of is moved to the copy. */
static void dynamic_move(char *image, uint64_t begin, uint64_t bytes, uint64_t bias)
{
	const ElfW(Ehdr) *header = (const void *)image;
	const ElfW(Phdr) *segment = (const void *)(image + header->e_phoff);

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(*segment) ||
		header->e_phoff > 4096 || header->e_phoff + header->e_phnum * sizeof(*segment) > 4096)
		return;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t at = bias + segment[i].p_vaddr - begin,
			 count = segment[i].p_memsz / sizeof(ElfW(Dyn));
		ElfW(Dyn) *entry = (void *)(image + at);

		if (segment[i].p_type != PT_DYNAMIC || at >= bytes || segment[i].p_memsz > bytes - at)
			continue;
		for (; count && entry->d_tag != DT_NULL; count--, entry++)
			if (entry->d_un.d_ptr >= begin && entry->d_un.d_ptr < begin + bytes &&
				entry->d_tag != DT_STRSZ)
				entry->d_un.d_ptr += (uintptr_t)image - begin;
	}
}

/* Where its last segment ends: variables without initial value lie behind what is mapped of the file. */
static uint64_t end_of(uint32_t pid, const struct remote_unwind_module *module)
{
	_Alignas(8) char page[4096];
	const ElfW(Ehdr) *header = (const void *)page;
	const ElfW(Phdr) * segment;
	uint64_t end = module->cfi.end;

	if (remote_unwind_read(pid, module->cfi.begin & ~UINT64_C(4095), page, sizeof(page)) ||
		memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(*segment) ||
		header->e_phoff > sizeof(page) || header->e_phoff % 8 ||
		header->e_phnum > (sizeof(page) - header->e_phoff) / sizeof(*segment))
		return end;
	segment = (const void *)(page + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t over = module->bias + segment[i].p_vaddr + segment[i].p_memsz;

		if (segment[i].p_type == PT_LOAD && over > end && over - end < IMAGE_BYTES_MAX)
			end = over;
	}
	return (end + 4095) & ~UINT64_C(4095);
}

bool remote_symbols_open(
	struct remote_symbols *symbols, uint32_t pid, const struct remote_unwind_module *module)
{
	uint64_t begin = module->cfi.begin & ~UINT64_C(4095), bytes = end_of(pid, module) - begin;
	char *image = image_copy(pid, begin, bytes);

	if (!image)
		return false;
	dynamic_move(image, begin, bytes, module->bias);
	*symbols = (struct remote_symbols){
		.image = image, .begin = begin, .bytes = bytes, .shift = begin - (uintptr_t)image};
	if (python_symbols_open(&symbols->table, (uintptr_t)image, (uintptr_t)image + bytes,
		    module->bias + (uintptr_t)image - begin))
		return true;
	remote_symbols_close(symbols);
	return false;
}

void remote_symbols_close(struct remote_symbols *symbols)
{
	if (symbols->image)
		munmap(symbols->image, symbols->bytes);
	symbols->image = NULL;
}

uint64_t remote_symbols_find(const struct remote_symbols *symbols, const char *name, uint64_t *bytes)
{
	uint64_t here = python_symbols_range(&symbols->table, name, bytes);

	return here ? here + symbols->shift : 0;
}
