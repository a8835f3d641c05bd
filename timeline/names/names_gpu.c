/* SPDX-License-Identifier: Apache-2.0 */
/* names_gpu.c - see names_gpu.h. */
#include "timeline/names/names_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/debug/demangle.h"
#include "timeline/debug/dwarf.h"

#define KNOWN 1024u

/* A symbol's name as people know it; loops ask for the same few over and over. */
struct known {
	const char *symbol, *name;
};

struct names_gpu {
	struct gpu_code *code;
	void *debug; /* the bytes as the debug information is read from; NULL: there is none */
	Elf *elf;    /* of them */
	struct dwarf_module *dwarf;
	struct known known[KNOWN];
	struct arena arena;
};

static void debug_open(struct names_gpu *gpu, size_t size)
{
	struct dwarf_code everywhere = {.range = {{0, UINT64_MAX}}, .count = 1};
	struct error error;

	gpu->debug = gpu_code_debug(gpu->code);
	if (!gpu->debug)
		return;
	elf_version(EV_CURRENT);
	gpu->elf = elf_memory(gpu->debug, size);
	if (gpu->elf && dwarf_module_open(&gpu->dwarf, gpu->elf, NULL, &everywhere, &error))
		gpu->dwarf = NULL;
}

int names_gpu_open(
	struct names_gpu **out, const void *bytes, size_t size, bool wants_debug, struct error *error)
{
	struct names_gpu *gpu = calloc(1, sizeof *gpu);
	int rc;

	*out = NULL;
	if (!gpu)
		return error_memory(error);
	rc = gpu_code_open(&gpu->code, bytes, size, error);
	if (rc) {
		names_gpu_close(gpu);
		return rc;
	}
	if (wants_debug)
		debug_open(gpu, size);
	*out = gpu;
	return 0;
}

void names_gpu_close(struct names_gpu *gpu)
{
	if (!gpu)
		return;
	dwarf_module_close(gpu->dwarf);
	elf_end(gpu->elf);
	free(gpu->debug);
	gpu_code_close(gpu->code);
	arena_fini(&gpu->arena);
	free(gpu);
}

struct gpu_code *names_gpu_code(struct names_gpu *gpu)
{
	return gpu->code;
}

bool names_gpu_lacks_inlined(const struct names_gpu *gpu)
{
	return gpu->dwarf && (gpu_code_machine(gpu->code) & 0xffff) == EM_CUDA;
}

void names_gpu_allow(struct names_gpu *gpu, uint64_t cpu_ns)
{
	if (gpu->dwarf)
		dwarf_module_allow(gpu->dwarf, cpu_ns);
}

bool names_gpu_is_spent(const struct names_gpu *gpu)
{
	return gpu->dwarf && dwarf_module_is_spent(gpu->dwarf);
}

static const char *name_of(struct names_gpu *gpu, const char *symbol)
{
	struct known *known = &gpu->known[((uintptr_t)symbol * 0x9e3779b97f4a7c15u >> 32) % KNOWN];
	char name[DEMANGLE_MAX];

	if (known->symbol == symbol)
		return known->name;
	demangle_symbol(symbol, name, sizeof name);
	known->name = strcmp(name, symbol) ? arena_copy(&gpu->arena, name, strlen(name)) : symbol;
	known->symbol = known->name ? symbol : NULL;
	return known->name;
}

static bool scope_put(struct names_gpu *gpu, struct names_scope *scope, const char *symbol, uint64_t start)
{
	const char *name = name_of(gpu, symbol);

	*scope = (struct names_scope){.kind = NAMES_FUNCTION,
		.start = start,
		.name = name,
		.linkage = name == symbol ? "" : symbol,
		.file = "",
		.decl_file = ""};
	return name;
}

static int line_chain(
	struct names_gpu *gpu, uint64_t address, struct names_scope *scopes, struct error *error)
{
	const struct gpu_function *function = gpu_code_at(gpu->code, address);
	struct gpu_frame frames[NAMES_SCOPE_MAX];
	unsigned count = function ? gpu_code_chain(gpu->code, address, frames, NAMES_SCOPE_MAX) : 0;

	for (unsigned i = 0; i < count; i++) {
		if (!scope_put(gpu, &scopes[i], i ? frames[i].name : function->name, function->start))
			return error_memory(error);
		scopes[i].kind = i ? NAMES_INLINE : NAMES_FUNCTION;
		scopes[i].file = frames[i].file;
		scopes[i].line = frames[i].line;
	}
	if (count)
		gpu_code_line(gpu->code, function->start, &scopes[0].decl_file, &scopes[0].decl_line);
	return (int)count;
}

/* Fills in from the line table what debug information lacks. */
static int chain(void *context, uint64_t address, struct names_scope *scopes, struct error *error)
{
	struct names_gpu *gpu = context;
	struct dwarf_spot spot = {.stretch = {0, UINT64_MAX}};
	int count = 0;

	if (gpu->dwarf)
		count = dwarf_module_find(gpu->dwarf, address, scopes, &spot, error);
	if (count > 0 && !scopes[0].name[0])
		count = 0;
	return count ? count : line_chain(gpu, address, scopes, error);
}

int names_gpu_find(struct names_gpu *gpu, uint64_t address, struct symbol_answer *answer, struct error *error)
{
	const struct gpu_function *function = gpu_code_at(gpu->code, address);
	int count = chain(gpu, address, answer->scopes, error);

	if (count > 0) {
		answer->scope_count = (uint32_t)count;
		answer->source = NAMES_FROM_DEBUG;
	} else if (!count && function) {
		answer->scope_count = 1;
		answer->source = NAMES_FROM_SYMBOL;
		if (!scope_put(gpu, &answer->scopes[0], function->name, function->start))
			return error_memory(error);
	}
	return count < 0 ? count : 0;
}

void names_gpu_extent(const struct names_gpu *gpu, uint64_t address, struct loops_function *extent)
{
	const struct gpu_function *function = gpu_code_at(gpu->code, address);
	uint64_t ranges[CFG_RANGES_MAX][2];

	*extent = (struct loops_function){.range_count = 0};
	if (!function)
		return;
	extent->entry = function->start;
	extent->range_count = gpu_code_extent(gpu->code, function, ranges, CFG_RANGES_MAX);
	for (unsigned i = 0; i < extent->range_count; i++)
		extent->ranges[i] = (struct cfg_range){ranges[i][0], ranges[i][1]};
}

struct names_lines names_gpu_lines(struct names_gpu *gpu)
{
	return (struct names_lines){chain, gpu};
}
