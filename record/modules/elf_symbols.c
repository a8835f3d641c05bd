/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols.c - see elf_symbols.h. */
#include "record/modules/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX (1u << 22)
#define CHAIN_MAX 4096u
#define NAME_BYTES_MAX 512u
#define PIECE 256u /* symbols read at once */

struct sections {
	Elf64_Ehdr header;
	Elf64_Shdr *list;
	unsigned count;
};

static bool get(const struct elf_source *source, uint64_t at, void *to, size_t bytes)
{
	return at <= source->bytes && bytes <= source->bytes - at && !source->read(source, at, to, bytes);
}

static bool header_get(const struct elf_source *source, Elf64_Ehdr *header)
{
	return get(source, 0, header, sizeof(*header)) && !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* The caller frees the list. False: no sections, and nothing to free. */
static bool sections_get(const struct elf_source *source, struct sections *of)
{
	*of = (struct sections){.list = NULL};
	if (!header_get(source, &of->header) || of->header.e_shentsize != sizeof(*of->list) ||
		!of->header.e_shnum)
		return false;
	of->count = of->header.e_shnum;
	of->list = calloc(of->count, sizeof(*of->list));
	if (of->list && get(source, of->header.e_shoff, of->list, of->count * sizeof(*of->list)))
		return true;
	free(of->list);
	return false;
}

static const Elf64_Shdr *section_of(const struct sections *of, uint32_t type)
{
	for (unsigned i = 0; i < of->count; i++)
		if (of->list[i].sh_type == type)
			return &of->list[i];
	return NULL;
}

/* The texts of a table of symbols. NULL: none. */
static const Elf64_Shdr *names_of(const struct sections *of, const Elf64_Shdr *symbols)
{
	return symbols->sh_link < of->count && of->list[symbols->sh_link].sh_type == SHT_STRTAB
		       ? &of->list[symbols->sh_link]
		       : NULL;
}

/* Its beginning, if it is long. False: none. */
static bool name_get(
	const struct elf_source *source, const Elf64_Shdr *names, uint32_t at, char name[NAME_BYTES_MAX])
{
	uint64_t left = at < names->sh_size ? names->sh_size - at : 0;
	size_t bytes = left < NAME_BYTES_MAX - 1 ? (size_t)left : NAME_BYTES_MAX - 1;

	if (!bytes || names->sh_offset > source->bytes || !get(source, names->sh_offset + at, name, bytes))
		return false;
	name[bytes] = '\0';
	return name[0] != '\0';
}

static bool is_named(
	const struct elf_source *source, const Elf64_Shdr *names, const Elf64_Sym *symbol, const char *name)
{
	char text[NAME_BYTES_MAX];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_name &&
	       name_get(source, names, symbol->st_name, text) && !strcmp(text, name);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Chains of the table: one hash a symbol, the lowest bit ends a chain. */
static uint64_t chain_find(const struct elf_source *source, const Elf64_Shdr *symbols,
	const Elf64_Shdr *names, uint64_t chains_at, uint32_t index, uint32_t first, const char *name)
{
	uint32_t hash = hash_of(name), word = 0;
	Elf64_Sym symbol;

	for (unsigned i = 0; i < CHAIN_MAX && !(word & 1); i++, index++) {
		if (!get(source, chains_at + 4 * (uint64_t)(index - first), &word, sizeof(word)))
			return 0;
		if ((word | 1) == (hash | 1) &&
			get(source, symbols->sh_offset + (uint64_t)index * sizeof(symbol), &symbol,
				sizeof(symbol)) &&
			is_named(source, names, &symbol, name))
			return symbol.st_value;
	}
	return 0;
}

/* | bucket count | first symbol | bloom words | shift | bloom | buckets | chains | */
static uint64_t exported_find(const struct elf_source *source, const struct sections *of, const char *name)
{
	const Elf64_Shdr *hash = section_of(of, SHT_GNU_HASH), *symbols = section_of(of, SHT_DYNSYM),
			 *names = symbols ? names_of(of, symbols) : NULL;
	uint32_t head[4], index;
	uint64_t buckets_at;

	if (!hash || !names || !get(source, hash->sh_offset, head, sizeof(head)) || !head[0])
		return 0;
	buckets_at = hash->sh_offset + sizeof(head) + 8 * (uint64_t)head[2];
	if (!get(source, buckets_at + 4 * (uint64_t)(hash_of(name) % head[0]), &index, sizeof(index)) ||
		index < head[1] || !index)
		return 0;
	return chain_find(source, symbols, names, buckets_at + 4 * (uint64_t)head[0], index, head[1], name);
}

struct looking {
	const struct elf_source *source;
	const struct sections *sections;
	const Elf64_Shdr *names;
	/* True: enough. */
	bool (*look)(struct looking *own, const Elf64_Sym *symbol);
	const char *wanted;
	uint64_t wanted_bytes, wanted_at, found;
	void (*take)(void *own, const struct elf_function *function);
	void *own;
	bool is_cut;
};

/* Each symbol of the table of all symbols. */
static void symbols_each(struct looking *own)
{
	const Elf64_Shdr *symbols = section_of(own->sections, SHT_SYMTAB);
	uint64_t count = symbols ? symbols->sh_size / sizeof(Elf64_Sym) : 0;
	Elf64_Sym piece[PIECE];

	own->names = symbols ? names_of(own->sections, symbols) : NULL;
	if (!own->names || count > SYMBOLS_MAX)
		return;
	for (uint64_t i = 0; i < count; i += PIECE) {
		size_t some = count - i < PIECE ? (size_t)(count - i) : PIECE;

		if (!get(own->source, symbols->sh_offset + i * sizeof(*piece), piece,
			    some * sizeof(*piece))) {
			own->is_cut = true;
			return;
		}
		for (size_t k = 0; k < some; k++)
			if (own->look(own, &piece[k]))
				return;
	}
}

/* Only a variable of the wanted size is worth a look at its name. */
static bool look_named(struct looking *own, const Elf64_Sym *symbol)
{
	if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size != own->wanted_bytes ||
		!is_named(own->source, own->names, symbol, own->wanted))
		return false;
	own->found = symbol->st_value;
	return true;
}

uint64_t elf_symbols_find(const struct elf_source *source, const char *name, uint64_t bytes)
{
	struct looking own = {.source = source, .look = look_named, .wanted = name, .wanted_bytes = bytes};
	struct sections sections;

	if (!sections_get(source, &sections))
		return 0;
	own.sections = &sections;
	own.found = exported_find(source, &sections, name);
	if (!own.found && sections.header.e_type != ET_REL)
		symbols_each(&own);
	free(sections.list);
	return own.found;
}

#define TEXT_BYTES 65536u /* of a table of names, read at once */

/* Where the name is in the table; 0: nowhere. */
static uint64_t text_find(const struct elf_source *source, const Elf64_Shdr *names, const char *name)
{
	char wanted[NAME_BYTES_MAX] = {0}, *piece = malloc(TEXT_BYTES);
	size_t length = strlen(name) + 2; /* with the NULs before and behind */
	uint64_t found = 0;

	if (piece && length <= sizeof(wanted)) {
		memcpy(wanted + 1, name, length - 2);
		for (uint64_t at = 0; !found && at + length <= names->sh_size;
			at += TEXT_BYTES - length + 1) {
			uint64_t left = names->sh_size - at;
			size_t bytes = left < TEXT_BYTES ? (size_t)left : TEXT_BYTES;
			const char *here;

			if (names->sh_offset > source->bytes ||
				!get(source, names->sh_offset + at, piece, bytes))
				break;
			here = memmem(piece, bytes, wanted, length);
			found = here ? at + (uint64_t)(here - piece) + 1 : 0;
		}
	}
	free(piece);
	return found;
}

static bool look_defined(struct looking *own, const Elf64_Sym *symbol)
{
	own->found = symbol->st_name == own->wanted_at && symbol->st_shndx != SHN_UNDEF;
	return own->found;
}

bool elf_symbols_defines(const struct elf_source *source, const char *name)
{
	struct looking own = {.source = source, .look = look_defined};
	const Elf64_Shdr *symbols, *names;
	struct sections sections;

	if (!sections_get(source, &sections))
		return false;
	own.sections = &sections;
	symbols = section_of(&sections, SHT_SYMTAB);
	names = symbols ? names_of(&sections, symbols) : NULL;
	own.wanted_at = names ? text_find(source, names, name) : 0;
	if (own.wanted_at)
		symbols_each(&own);
	free(sections.list);
	return own.found;
}

bool elf_symbols_bias(const struct elf_source *source, uint64_t begin, uint64_t *bias)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!header_get(source, &header) || header.e_phentsize != sizeof(segment))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (!get(source, header.e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && segment.p_offset < 4096) {
			*bias = begin - (segment.p_vaddr & ~UINT64_C(4095));
			return true;
		}
	}
	return false;
}

static bool look_function(struct looking *own, const Elf64_Sym *symbol)
{
	const struct sections *of = own->sections;
	char name[NAME_BYTES_MAX];
	uint64_t base = 0;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_size || symbol->st_shndx == SHN_UNDEF)
		return false;
	if (of->header.e_type == ET_REL && symbol->st_shndx < of->count)
		base = of->list[symbol->st_shndx].sh_addr;
	if (name_get(own->source, own->names, symbol->st_name, name))
		own->take(own->own, &(struct elf_function){base + symbol->st_value, symbol->st_size, name});
	return false;
}

bool elf_symbols_functions(const struct elf_source *source,
	void (*take)(void *own, const struct elf_function *function), void *own)
{
	struct looking looking = {.source = source, .look = look_function, .take = take, .own = own};
	struct sections sections;

	if (!sections_get(source, &sections))
		return false;
	looking.sections = &sections;
	symbols_each(&looking);
	free(sections.list);
	return !looking.is_cut;
}
