/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_code.c - the functions of a GPU binary, and which one owns an address. gpu_section.c reads sections,
 * gpu_lines.c lines, gpu_flow.c instructions.
 */
#include "timeline/code/gpu_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/gpu_code_internal.h"

#define CUDA_ENTRY 0x10 /* in st_other */
#define FUNCTIONS_MAX (1u << 20)

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

/* The entry label of Intel's kernels is no function. */
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

/* Functions come by start, outer first; those that contain the current address are a stack. Each function
 * begins at most one range of its own and lets at most one continue. */
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
	return is_elf(bytes, size) || intel_patch_tokens_is((struct gpu_bytes){bytes, size});
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
	rc = code->is_patch ? intel_patch_tokens_read(code, error) : functions_read(code, error);
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
	free(code->linked);
	free(code->pointed);
	arena_fini(&code->arena);
	free(code);
}

const struct gpu_function *gpu_code_functions(const struct gpu_code *code, size_t *count)
{
	*count = code->function_count;
	return code->functions;
}
