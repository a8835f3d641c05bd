/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_code_internal.h - shared by gpu_*.c of this folder: an open binary, and its sections. */
#ifndef TIMELINE_GPU_CODE_INTERNAL_H
#define TIMELINE_GPU_CODE_INTERNAL_H

#include <elf.h>

#include "store/base/arena.h"
#include "timeline/code/gpu_code.h"

#ifndef EM_INTELGT
#define EM_INTELGT 205
#endif
#define GPU_LINES_MAX (4u << 20)

struct gpu_bytes {
	const uint8_t *at;
	size_t size;
};

/* One row of the line table; line 0 ends a sequence. */
struct gpu_line {
	uint64_t address;
	const char *file;
	uint32_t line;
	uint32_t call; /* 1 + the innermost inlined call it is in, 0: none */
};

/* Which function owns which code, without overlaps. */
struct gpu_range {
	uint64_t begin, end;
	uint32_t function;
};

/* A section of code. */
struct gpu_section {
	uint64_t begin;
	struct gpu_bytes bytes;
};

/* Targets of an indexed branch. */
struct gpu_jump {
	uint64_t address, base;
	const uint8_t *targets; /* u32, less base */
	uint32_t count;
};

/* An inlined call, from the line table. */
struct gpu_inline {
	const char *name; /* mangled name of the inlined function */
	const char *file; /* of the call; NULL: unknown */
	uint32_t line;
	uint32_t outer; /* 1 + the call around it, 0: none */
	uint32_t depth; /* 1: none is around it */
};

struct gpu_code {
	struct gpu_bytes file;
	uint32_t intel_family; /* of graphics cores; 0: unknown, or not Intel's */
	bool is_patch;	       /* no ELF file: see intel_patch_tokens.c */
	struct gpu_function *functions;
	size_t function_count;
	struct gpu_range *ranges;
	size_t range_count;
	bool has_lines; /* lines have been read */
	struct gpu_line *lines;
	size_t line_count, line_capacity;
	uint8_t *line_bytes; /* holds names of files */
	struct gpu_inline *inlines;
	size_t inline_count, inline_capacity;
	bool has_sections;
	struct gpu_section *sections;
	size_t section_count;
	bool has_jumps;
	struct gpu_jump *jumps; /* by address */
	size_t jump_count, jump_capacity;
	bool has_linked;
	struct gpu_call *linked; /* by address: calls whose target relocations tell */
	size_t linked_count, linked_capacity;
	uint64_t *pointed; /* functions whose address is stored or moved, ascending */
	size_t pointed_count, pointed_capacity;
	size_t path_bytes, path_count; /* of all units; the arena has the bytes */
	struct arena arena;
};

/* All-zero if the binary is not ELF. */
Elf64_Ehdr gpu_header(const struct gpu_code *code);
/* All-zero if there is none. */
Elf64_Shdr gpu_section_at(const struct gpu_code *code, uint32_t index);
struct gpu_bytes gpu_section_bytes(const struct gpu_code *code, const Elf64_Shdr *section);
/* 0: none of that name. */
uint32_t gpu_section_find(const struct gpu_code *code, const char *name);
/* Added to offsets in the section: its address, or its file offset where all begin at 0. */
uint64_t gpu_section_base(const struct gpu_code *code, uint32_t index);
/* 0: the table has no such symbol. */
uint64_t gpu_symbol_address(const struct gpu_code *code, uint32_t table, uint64_t index);
/* The string at that offset; "" if none ends within a limit. */
const char *gpu_string_at(struct gpu_bytes strings, uint64_t at);
/* Intel binaries of kernels without symbols; reads functions and sections at once. */
bool intel_patch_tokens_is(struct gpu_bytes file);
int intel_patch_tokens_read(struct gpu_code *code, struct error *error);
/* A section's bytes by name; empty: none. */
struct gpu_bytes gpu_code_section(const struct gpu_code *code, const char *name);
/* Applies relocations to a copy of the section. */
void gpu_code_relocate(const struct gpu_code *code, const char *name, uint8_t *copy, size_t size);

#endif
