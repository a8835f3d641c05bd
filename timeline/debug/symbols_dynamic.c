/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols_dynamic.c - the symbols of a file without section headers, which the recorder's copies of mapped
 * modules are (record/modules/module_image.h) and stripped files may be: by its dynamic section, as the
 * loader finds them. How many there are is said by the hash table alone.
 */
#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "timeline/debug/symbols_internal.h"

#define DYNAMIC_MAX 4096u
#define SYMBOLS_MAX (1u << 26)

struct dynamic {
	uint64_t symbols, strings, strings_bytes, symbol_bytes, hash,
		gnu_hash; /* addresses and sizes; 0: none */
};

static void entry_take(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
	uint64_t *to = entry->d_tag == DT_SYMTAB     ? &dynamic->symbols
		       : entry->d_tag == DT_STRTAB   ? &dynamic->strings
		       : entry->d_tag == DT_STRSZ    ? &dynamic->strings_bytes
		       : entry->d_tag == DT_SYMENT   ? &dynamic->symbol_bytes
		       : entry->d_tag == DT_HASH     ? &dynamic->hash
		       : entry->d_tag == DT_GNU_HASH ? &dynamic->gnu_hash
						     : NULL;

	if (to)
		*to = entry->d_un.d_val;
}

static void dynamic_read(struct dynamic *dynamic, Elf *elf, const GElf_Phdr *segment)
{
	Elf64_Dyn entry;

	for (unsigned i = 0; i < DYNAMIC_MAX && i < segment->p_filesz / sizeof(entry); i++) {
		if (!elf_image_read(elf, segment->p_vaddr + i * sizeof(entry), &entry, sizeof(entry)) ||
			entry.d_tag == DT_NULL)
			return;
		entry_take(dynamic, &entry);
	}
}

static bool dynamic_find(struct dynamic *dynamic, Elf *elf)
{
	size_t segments;

	*dynamic = (struct dynamic){0};
	if (gelf_getclass(elf) != ELFCLASS64 || elf_getphdrnum(elf, &segments))
		return false;
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_DYNAMIC)
			dynamic_read(dynamic, elf, &segment);
	}
	return dynamic->symbols && dynamic->strings && dynamic->symbol_bytes == sizeof(Elf64_Sym);
}

/* ---- how many ---- */

/* nbucket, nchain, ...: a link for each symbol. */
static uint32_t hash_count(Elf *elf, uint64_t hash)
{
	uint32_t head[2];

	return elf_image_read(elf, hash, head, sizeof(head)) ? head[1] : 0;
}

/* buckets, first symbol, words of the bloom filter, shift | filter | buckets | chains: the chain that begins
 * last ends with the last symbol, marked by its lowest bit. Symbols ahead of the first are others' functions.
 */
static uint32_t gnu_hash_count(Elf *elf, uint64_t hash)
{
	uint32_t head[4], last = 0, bucket, link = 0;
	uint64_t buckets, chains;

	if (!elf_image_read(elf, hash, head, sizeof(head)) || head[0] > SYMBOLS_MAX || head[2] > SYMBOLS_MAX)
		return 0;
	buckets = hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	for (uint32_t i = 0; i < head[0]; i++) {
		if (!elf_image_read(elf, buckets + (uint64_t)i * 4, &bucket, sizeof(bucket)))
			return 0;
		last = bucket > last ? bucket : last;
	}
	if (last < head[1])
		return 0;
	while (last < SYMBOLS_MAX && !(link & 1)) {
		if (!elf_image_read(elf, chains + (uint64_t)(last - head[1]) * 4, &link, sizeof(link)))
			return last;
		last++;
	}
	return last;
}

/* ---- the symbols ---- */

/* NULL: it leads out of the table. */
static const char *string_at(Elf *elf, const struct dynamic *dynamic, uint32_t at)
{
	uint64_t left = at < dynamic->strings_bytes ? dynamic->strings_bytes - at : 0;
	const char *text = left ? (const char *)elf_image(elf, dynamic->strings + at, 1) : NULL;
	uint64_t room = text ? elf_image_room(elf, dynamic->strings + at) : 0;

	return text && memchr(text, 0, left < room ? left : room) ? text : NULL;
}

int symbol_table_add_dynamic(struct symbol_table *table, Elf *elf)
{
	struct dynamic dynamic;
	uint32_t count;

	if (!dynamic_find(&dynamic, elf))
		return 0;
	count = dynamic.gnu_hash ? gnu_hash_count(elf, dynamic.gnu_hash) : 0;
	if (!count && dynamic.hash)
		count = hash_count(elf, dynamic.hash);
	for (uint32_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!elf_image_read(
			    elf, dynamic.symbols + (uint64_t)i * sizeof(symbol), &symbol, sizeof(symbol)))
			break;
		name = string_at(elf, &dynamic, symbol.st_name);
		if (name && symbol_table_take(table, &symbol, name, NULL, 0))
			return -1;
	}
	return 0;
}
