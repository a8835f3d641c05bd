/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_code.c - see gpu_code.h: sections, symbols and relocations, read with the sizes of the format. */
#include "timeline/gpu_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/gpu_code_parts.h"

#ifndef EM_INTELGT
#define EM_INTELGT 205
#endif
#define CUDA_ENTRY 0x10 /* in st_other */
#define FUNCTIONS_MAX (1u << 20)
#define RELOCATIONS_MAX ((size_t)4 << 20)
#define SECTIONS_MAX 0xff00u
#define NAME_MAX_BYTES ((size_t)32 << 10) /* templates have long ones */

/* ---- sections ---- */

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

/* An all-zero one where there is none. */
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

/* Where the section begins: its own address, or its place in the file where all begin at 0. */
uint64_t gpu_section_base(const struct gpu_code *code, uint32_t index)
{
	Elf64_Shdr section = gpu_section_at(code, index);

	return section.sh_addr || !(section.sh_flags & SHF_ALLOC) ? 0 : section.sh_offset;
}

/* ---- functions ---- */

/* "$field$_Z4gainf": gain, inside field. */
static const char *own_name(const char *name)
{
	const char *second = name[0] == '$' ? strchr(name + 1, '$') : NULL;

	return second && second[1] ? second + 1 : name;
}

static int function_compare(const void *left, const void *right)
{
	const struct gpu_function *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* CUDA marks what can be launched. AMD's is what is seen from outside; Intel's are those that a section is
 * named after. */
static bool is_kernel(const struct gpu_code *code, const Elf64_Sym *symbol, const char *name)
{
	Elf64_Shdr names = gpu_section_at(code, gpu_header(code).e_shstrndx);
	const char *section;

	if (gpu_header(code).e_machine == EM_CUDA)
		return symbol->st_other & CUDA_ENTRY;
	if (gpu_header(code).e_machine != EM_INTELGT)
		return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
	section = gpu_string_at(
		gpu_section_bytes(code, &names), gpu_section_at(code, symbol->st_shndx).sh_name);
	return !strncmp(section, ".text.", 6) && !strcmp(section + 6, name);
}

/* The place where Intel's kernels are entered is no function of its own. */
static bool is_function(const Elf64_Sym *symbol, const char *name)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx &&
	       symbol->st_shndx < SHN_LORESERVE && symbol->st_size && name[0] && strcmp(name, "_entry");
}

static void functions_add(struct gpu_code *code, struct gpu_bytes table, struct gpu_bytes strings)
{
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size; at += sizeof(Elf64_Sym)) {
		struct gpu_function *function = &code->functions[code->function_count];
		const char *name;
		Elf64_Sym symbol;

		memcpy(&symbol, table.at + at, sizeof symbol);
		name = gpu_string_at(strings, symbol.st_name);
		if (!is_function(&symbol, name))
			continue;
		*function = (struct gpu_function){.name = own_name(name),
			.start = symbol.st_value + gpu_section_base(code, symbol.st_shndx),
			.size = symbol.st_size,
			.is_kernel = is_kernel(code, &symbol, name)};
		if (function->start <= UINT64_MAX - function->size)
			code->function_count++;
	}
}

static int functions_read(struct gpu_code *code, struct error *error)
{
	Elf64_Shdr section = gpu_section_at(code, gpu_section_find(code, ".symtab")), names;
	struct gpu_bytes table;

	if (section.sh_type == SHT_NULL)
		section = gpu_section_at(code, gpu_section_find(code, ".dynsym"));
	table = gpu_section_bytes(code, &section);
	if (table.size / sizeof(Elf64_Sym) > FUNCTIONS_MAX)
		return error_set(error, ERROR_IO, "the GPU binary has more symbols than any compiler makes");
	names = gpu_section_at(code, section.sh_link);
	code->functions = calloc(table.size / sizeof(Elf64_Sym) + 1, sizeof *code->functions);
	if (!code->functions)
		return error_memory(error);
	functions_add(code, table, gpu_section_bytes(code, &names));
	if (code->function_count)
		qsort(code->functions, code->function_count, sizeof *code->functions, function_compare);
	return 0;
}

/* ---- whose an address is ---- */

static void range_put(struct gpu_code *code, uint64_t begin, uint64_t end, uint32_t function)
{
	if (begin < end)
		code->ranges[code->range_count++] = (struct gpu_range){begin, end, function};
}

static uint64_t function_end(const struct gpu_code *code, uint32_t function)
{
	return code->functions[function].start + code->functions[function].size;
}

/* Functions come by start, outer first; those open at a place are a stack. Each function begins at most one
 * range of its own and lets at most one go on. */
static int ranges_make(struct gpu_code *code, struct error *error)
{
	uint32_t *open = calloc(code->function_count + 1, sizeof *open);
	size_t depth = 0;
	uint64_t done = 0;

	code->ranges = calloc(2 * code->function_count + 1, sizeof *code->ranges);
	if (!open || !code->ranges) {
		free(open);
		return error_memory(error);
	}
	for (size_t i = 0; i <= code->function_count; i++) {
		uint64_t start = i < code->function_count ? code->functions[i].start : UINT64_MAX;

		while (depth && function_end(code, open[depth - 1]) <= start) {
			uint64_t end = function_end(code, open[--depth]);

			range_put(code, done, end, open[depth]);
			done = end > done ? end : done;
		}
		if (depth)
			range_put(code, done, start, open[depth - 1]);
		done = start > done ? start : done;
		if (i < code->function_count)
			open[depth++] = (uint32_t)i;
	}
	free(open);
	return 0;
}

const struct gpu_function *gpu_code_at(const struct gpu_code *code, uint64_t address)
{
	size_t low = 0, high = code->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= code->ranges[low - 1].end)
		return NULL;
	return &code->functions[code->ranges[low - 1].function];
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

/* ---- the whole ---- */

static bool is_elf(const void *bytes, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof header)
		return false;
	memcpy(&header, bytes, sizeof header);
	return !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       (header.e_machine == EM_CUDA || header.e_machine == EM_AMDGPU ||
		       header.e_machine == EM_INTELGT) &&
	       header.e_shentsize == sizeof(Elf64_Shdr);
}

bool gpu_code_is(const void *bytes, size_t size)
{
	return is_elf(bytes, size) || gpu_patch_is((struct gpu_bytes){bytes, size});
}

int gpu_code_open(struct gpu_code **out, const void *bytes, size_t size, struct error *error)
{
	struct gpu_code *code;
	int rc;

	*out = NULL;
	if (!gpu_code_is(bytes, size))
		return error_set(error, ERROR_IO,
			"no GPU binary of a kind that can be read (cubin, AMD, Intel; 64-bit)");
	code = calloc(1, sizeof *code);
	if (!code)
		return error_memory(error);
	code->file = (struct gpu_bytes){bytes, size};
	code->is_patch = !is_elf(bytes, size);
	rc = code->is_patch ? gpu_patch_read(code, error) : functions_read(code, error);
	if (rc == 0)
		rc = ranges_make(code, error);
	if (rc < 0) {
		gpu_code_close(code);
		return rc;
	}
	*out = code;
	return 0;
}

void gpu_code_close(struct gpu_code *code)
{
	if (!code)
		return;
	free(code->functions);
	free(code->ranges);
	free(code->lines);
	free(code->line_bytes);
	free(code->inlines);
	free(code->sections);
	free(code->jumps);
	arena_fini(&code->arena);
	free(code);
}

const struct gpu_function *gpu_code_functions(const struct gpu_code *code, size_t *count)
{
	*count = code->function_count;
	return code->functions;
}

/* The row that says the address's line; NULL: none does. */
static const struct gpu_line *line_find(struct gpu_code *code, uint64_t address)
{
	size_t low = 0, high;

	if (!code->has_lines)
		gpu_lines_read(code);
	code->has_lines = true;
	high = code->line_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && code->lines[low - 1].line && code->lines[low - 1].file ? &code->lines[low - 1] : NULL;
}

bool gpu_code_line(struct gpu_code *code, uint64_t address, const char **file, uint32_t *line)
{
	const struct gpu_line *row = line_find(code, address);

	if (!row)
		return false;
	*file = row->file;
	*line = row->line;
	return true;
}

unsigned gpu_code_chain(struct gpu_code *code, uint64_t address, struct gpu_frame *frames, unsigned max)
{
	const struct gpu_line *row = line_find(code, address);
	unsigned depth = 1;

	if (!row || !max)
		return 0;
	for (uint32_t call = row->call; call; call = code->inlines[call - 1].outer)
		depth++;
	if (depth <= max)
		frames[depth - 1] = (struct gpu_frame){"", row->file, row->line};
	for (uint32_t call = row->call, i = depth - 1; call; i--, call = code->inlines[call - 1].outer) {
		const struct gpu_inline *in = &code->inlines[call - 1];

		if (i < max)
			frames[i].name = in->name;
		if (i <= max)
			frames[i - 1] = (struct gpu_frame){"", in->file ? in->file : "", in->line};
	}
	return depth < max ? depth : max;
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
