/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c - function symbols of an ELF file in one sorted table. Respects sizes; where several symbols
 * cover an address the innermost wins, with a fixed order for ties.
 */
#include "timeline/debug/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/debug/symbols_internal.h"

#define SECTIONS_MAX 65536u

void symbol_table_fini(struct symbol_table *table)
{
	free(table->symbols);
	free(table->reach);
	memset(table, 0, sizeof *table);
}

static bool symbol_is_function(const GElf_Sym *symbol, const uint8_t *is_code, size_t sections)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !symbol->st_value)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && symbol->st_shndx < sections && is_code[symbol->st_shndx];
}

/* Lower is better: a function before a mere label, visible before local, plain before _decorated. */
static uint8_t symbol_rank(const GElf_Sym *symbol, const char *name)
{
	size_t underscores = strspn(name, "_");
	bool mangled = underscores == 1 && (name[1] == 'Z' || name[1] == 'R');
	uint8_t rank = 0;

	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank |= 64;
	if (GELF_ST_BIND(symbol->st_info) == STB_LOCAL)
		rank |= 32;
	if (!mangled)
		rank |= underscores < 31 ? underscores : 31;
	return rank;
}

static int table_push(struct symbol_table *table, const GElf_Sym *from, const char *name)
{
	if (!array_widen(&table->symbols, &table->capacity, table->count, sizeof *table->symbols))
		return -1;
	table->symbols[table->count++] = (struct symbol){
		.start = from->st_value,
		.end = from->st_size > UINT64_MAX - from->st_value ? UINT64_MAX
								   : from->st_value + from->st_size,
		.name = name,
		.rank = symbol_rank(from, name),
	};
	return 0;
}

int symbol_table_take(struct symbol_table *table, const GElf_Sym *symbol, const char *name,
	const uint8_t *is_code, size_t sections)
{
	if (!symbol_is_function(symbol, is_code, sections) || !name || !name[0] || name[0] == '$' ||
		name[0] == '.')
		return 0;
	return table_push(table, symbol, name);
}

/* `is_code` of every section, so that a label counts only where code is. */
static uint8_t *sections_code(Elf *elf, size_t *count)
{
	Elf_Scn *section = NULL;
	uint8_t *is_code;

	if (elf_getshdrnum(elf, count) || *count > SECTIONS_MAX)
		return NULL;
	is_code = calloc(*count + 1, 1);
	while (is_code && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		size_t index = elf_ndxscn(section);

		if (index < *count && gelf_getshdr(section, &header))
			is_code[index] = (header.sh_flags & SHF_EXECINSTR) != 0;
	}
	return is_code;
}

static int table_add_section(struct symbol_table *table, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
	const uint8_t *is_code, size_t sections)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol) &&
			symbol_table_take(table, &symbol, elf_strptr(elf, header->sh_link, symbol.st_name),
				is_code, sections))
			return -1;
	}
	return 0;
}

int symbol_table_add(struct symbol_table *table, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t sections = 0;
	uint8_t *is_code = sections_code(elf, &sections);
	bool is_stripped = true;
	int rc = 0;

	table->sorted = false;
	while (is_code && !rc && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header = {.sh_type = SHT_NULL};

		if (gelf_getshdr(section, &header) &&
			(header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			rc = table_add_section(table, elf, section, &header, is_code, sections);
		is_stripped = is_stripped && header.sh_type != SHT_SYMTAB;
	}
	if (!rc && is_code && is_stripped)
		rc = symbol_table_add_go(table, elf);
	free(is_code);
	return rc || sections ? rc : symbol_table_add_dynamic(table, elf);
}

static int name_compare(const struct symbol *a, const struct symbol *b)
{
	size_t a_size, b_size;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	a_size = strlen(a->name);
	b_size = strlen(b->name);
	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return memcmp(a->name, b->name, a_size);
}

static int symbol_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static bool table_sort(struct symbol_table *table)
{
	uint64_t reach = 0;

	if (table->sorted)
		return table->reach != NULL;
	free(table->reach);
	table->reach = malloc((table->count + 1) * sizeof *table->reach);
	table->sorted = true;
	if (!table->reach)
		return false;
	if (table->count)
		qsort(table->symbols, table->count, sizeof *table->symbols, symbol_compare);
	for (size_t i = 0; i < table->count; i++) {
		if (table->symbols[i].end > reach)
			reach = table->symbols[i].end;
		table->reach[i] = reach;
	}
	return true;
}

/* Number of symbols that start at or before `offset`. */
static size_t table_upper(const struct symbol_table *table, uint64_t offset)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbols[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct symbol *symbol_table_find(
	struct symbol_table *table, uint64_t offset, struct symbol_stretch *stretch)
{
	const struct symbol *best = NULL;
	size_t i;

	if (!table_sort(table))
		return NULL;
	i = table_upper(table, offset);
	symbol_stretch_cut(stretch, i ? table->symbols[i - 1].start : 0,
		i < table->count ? table->symbols[i].start : UINT64_MAX);
	for (; i > 0 && table->reach[i - 1] > offset; i--) {
		const struct symbol *symbol = &table->symbols[i - 1];

		if (best && symbol->start != best->start)
			break;
		if (symbol->end <= offset) {
			symbol_stretch_cut(stretch, symbol->end, UINT64_MAX);
			continue;
		}
		symbol_stretch_cut(stretch, 0, symbol->end);
		if (!best || name_compare(symbol, best) < 0)
			best = symbol;
	}
	if (i && table->reach[i - 1] <= offset)
		symbol_stretch_cut(stretch, table->reach[i - 1], UINT64_MAX);
	return best;
}

const struct symbol *symbol_table_at(struct symbol_table *table, uint64_t start)
{
	const struct symbol *best = NULL;

	if (!table_sort(table))
		return NULL;
	for (size_t i = table_upper(table, start); i > 0 && table->symbols[i - 1].start == start; i--)
		if (!best || name_compare(&table->symbols[i - 1], best) < 0)
			best = &table->symbols[i - 1];
	return best;
}
