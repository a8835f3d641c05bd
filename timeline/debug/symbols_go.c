/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols_go.c - functions of a Go program by the runtime's own table, .gopclntab, which stays when all
 * symbols are stripped (Go's debug/gosym and runtime/symtab.go):
 *
 *   | magic 0 0 quantum pointer-size | functions files [text] names units files pcs table | ... |
 *   table: functions x (entry, offset of the function's record), end;  record: entry, offset of its name, ...
 */
#include "timeline/debug/symbols_internal.h"

#include <string.h>

#include "store/base/array.h"

#define MAGIC_16 0xfffffffau /* Go 1.16: addresses */
#define MAGIC_18 0xfffffff0u /* Go 1.18: 32-bit offsets from the text's begin */
#define MAGIC_20 0xfffffff1u /* Go 1.20: the same */
#define FUNCTIONS_MAX (8u << 20)
#define RANK_LAST 127

struct go_table {
	const unsigned char *data;
	uint64_t bytes;
	uint64_t text, names, names_end, functions; /* offsets in data, but `text`, an address */
	uint64_t count;
	unsigned width; /* of an entry's halves */
};

static uint64_t number_at(const struct go_table *go, uint64_t at, unsigned width)
{
	uint64_t value = 0;

	if (at > go->bytes || width > go->bytes - at)
		return 0;
	memcpy(&value, go->data + at, width);
	return value;
}

/* Word `index` behind the eight bytes of the header. */
static uint64_t word_of(const struct go_table *go, unsigned index)
{
	return number_at(go, 8 + 8 * (uint64_t)index, 8);
}

/* A program that may be loaded anywhere has no address in the file: the loader puts it there. */
static uint64_t text_begin(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".text"))
			return header.sh_addr;
	}
	return 0;
}

static bool table_open(struct go_table *go, Elf *elf)
{
	uint32_t magic = (uint32_t)number_at(go, 0, 4);
	bool is_relative = magic == MAGIC_18 || magic == MAGIC_20;
	unsigned at = is_relative ? 3 : 2;

	if (go->bytes < 72 || (!is_relative && magic != MAGIC_16) || go->data[4] || go->data[5] ||
		go->data[7] != 8)
		return false;
	go->count = word_of(go, 0);
	go->text = is_relative ? word_of(go, 2) : 0;
	if (is_relative && !go->text)
		go->text = text_begin(elf);
	go->names = word_of(go, at);
	go->names_end = word_of(go, at + 1);
	go->functions = word_of(go, at + 4);
	go->width = is_relative ? 4 : 8;
	return go->count && go->count <= FUNCTIONS_MAX && go->names < go->names_end &&
	       go->names_end <= go->bytes && go->functions < go->bytes &&
	       (2 * go->count + 1) * go->width <= go->bytes - go->functions;
}

static const char *name_at(const struct go_table *go, uint64_t record)
{
	uint64_t place = go->names + number_at(go, go->functions + record + go->width, 4);

	if (record > go->bytes || place >= go->names_end ||
		!memchr(go->data + place, '\0', go->names_end - place))
		return NULL;
	return (const char *)go->data + place;
}

static int table_take(struct symbol_table *table, const struct go_table *go)
{
	for (uint64_t i = 0; i < go->count; i++) {
		uint64_t at = go->functions + 2 * i * go->width;
		uint64_t begin = number_at(go, at, go->width),
			 end = number_at(go, at + 2 * go->width, go->width);
		const char *name = name_at(go, number_at(go, at + go->width, go->width));

		if (!name || !name[0] || end <= begin)
			continue;
		if (!array_widen(&table->symbols, &table->capacity, table->count, sizeof *table->symbols))
			return -1;
		table->symbols[table->count++] = (struct symbol){
			.start = go->text + begin, .end = go->text + end, .name = name, .rank = RANK_LAST};
	}
	return 0;
}

int symbol_table_add_go(struct symbol_table *table, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		const char *dot = name ? strrchr(name, '.') : NULL;
		Elf_Data *data = dot && !strcmp(dot, ".gopclntab") && header.sh_type != SHT_NOBITS
					 ? elf_rawdata(section, NULL)
					 : NULL;
		struct go_table go = {.data = data ? data->d_buf : NULL, .bytes = data ? data->d_size : 0};

		if (go.data && table_open(&go, elf))
			return table_take(table, &go);
	}
	return 0;
}
