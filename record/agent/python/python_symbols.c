/* SPDX-License-Identifier: Apache-2.0 */
/* python_symbols.c - see python_symbols.h. */
#include "record/agent/python/python_symbols.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#define CHAIN_MAX 4096u

/* GNU's hash table: | buckets | first symbol | bloom words | shift | bloom | buckets | chains | */
struct gnu_hash {
	uint32_t bucket_count, symbol_first, bloom_count, bloom_shift;
};

static bool holds(const struct python_symbols *of, uint64_t at, uint64_t bytes)
{
	return at >= of->begin && at < of->end && bytes <= of->end - at;
}

/* The loader has made addresses of these entries, except in the vDSO and on some architectures. */
static uint64_t dynamic_address(const struct python_symbols *of, uint64_t value)
{
	return value >= of->begin && value < of->end ? value : value + of->bias;
}

static void dynamic_read(struct python_symbols *of, const ElfW(Dyn) * entry, size_t count)
{
	for (size_t i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
		uint64_t address = dynamic_address(of, entry[i].d_un.d_ptr);

		if (entry[i].d_tag == DT_STRSZ)
			of->names_bytes = entry[i].d_un.d_val;
		if (!holds(of, address, sizeof(struct gnu_hash)))
			continue;
		if (entry[i].d_tag == DT_GNU_HASH)
			of->hash = (const void *)(uintptr_t)address;
		if (entry[i].d_tag == DT_SYMTAB)
			of->symbols = (const void *)(uintptr_t)address;
		if (entry[i].d_tag == DT_STRTAB)
			of->names = (const void *)(uintptr_t)address;
	}
}

bool python_symbols_open(struct python_symbols *of, uint64_t begin, uint64_t end, uint64_t bias)
{
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)begin;
	const ElfW(Phdr) * segment;

	*of = (struct python_symbols){.begin = begin, .end = end, .bias = bias};
	if (end - begin < 4096 || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
		header->e_phentsize != sizeof(*segment) || header->e_phoff > 4096 ||
		header->e_phoff + header->e_phnum * sizeof(*segment) > 4096)
		return false;
	segment = (const void *)((const char *)header + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC &&
			holds(of, bias + segment[i].p_vaddr, segment[i].p_memsz))
			dynamic_read(of, (const void *)(uintptr_t)(bias + segment[i].p_vaddr),
				segment[i].p_memsz / sizeof(ElfW(Dyn)));
	return of->hash && of->symbols && of->names;
}

bool python_symbols_loaded(struct python_symbols *of, const struct dl_phdr_info *info)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		begin = at < begin ? at : begin;
		end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
	}
	return end && python_symbols_open(of, begin & ~UINT64_C(4095), end, info->dlpi_addr);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static const ElfW(Sym) * symbol_if(const struct python_symbols *of, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = (const ElfW(Sym) *)of->symbols + index;
	size_t bytes = strlen(name) + 1;

	if (!holds(of, (uintptr_t)symbol, sizeof(*symbol)) || symbol->st_shndx == SHN_UNDEF ||
		symbol->st_name >= of->names_bytes || of->names_bytes - symbol->st_name < bytes ||
		!holds(of, (uintptr_t)of->names + symbol->st_name, bytes) ||
		memcmp(of->names + symbol->st_name, name, bytes) != 0 ||
		!holds(of, of->bias + symbol->st_value, sizeof(uint64_t)))
		return NULL;
	return symbol;
}

static const ElfW(Sym) * symbol_find(const struct python_symbols *of, const char *name)
{
	const struct gnu_hash *head = (const void *)of->hash;
	const uint32_t *buckets = of->hash + sizeof(*head) / 4 + 2 * (uint64_t)head->bloom_count, *chains,
		       *bucket;
	const uint64_t *bloom = (const void *)(of->hash + sizeof(*head) / 4);
	uint32_t hash = hash_of(name), index;
	const ElfW(Sym) * found;
	uint64_t word;

	if (!head->bucket_count || !head->bloom_count || head->bloom_count & (head->bloom_count - 1) ||
		!holds(of, (uintptr_t)buckets, head->bucket_count * 4ull))
		return NULL;
	word = bloom[hash / 64 & (head->bloom_count - 1)];
	if (!(word >> hash % 64 & word >> (hash >> head->bloom_shift) % 64 & 1))
		return NULL;
	chains = buckets + head->bucket_count;
	bucket = &buckets[hash % head->bucket_count];
	index = *bucket;
	for (unsigned steps = 0; index >= head->symbol_first && steps < CHAIN_MAX; steps++, index++) {
		const uint32_t *chain = &chains[index - head->symbol_first];

		if (!index || !holds(of, (uintptr_t)chain, 4))
			return NULL;
		found = (*chain | 1) == (hash | 1) ? symbol_if(of, index, name) : NULL;
		if (found || *chain & 1)
			return found;
	}
	return NULL;
}

uint64_t python_symbols_range(const struct python_symbols *of, const char *name, uint64_t *bytes)
{
	const ElfW(Sym) *symbol = symbol_find(of, name);

	*bytes = symbol ? symbol->st_size : 0;
	return symbol ? of->bias + symbol->st_value : 0;
}

uint64_t python_symbols_find(const struct python_symbols *of, const char *name)
{
	uint64_t bytes;

	return python_symbols_range(of, name, &bytes);
}
