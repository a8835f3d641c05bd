/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_code_internal.h - inside gpu_*.c of this room: the state of a binary that is read, and its sections. */
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

/* What of the functions' code is whose, without overlaps. */
struct gpu_range {
	uint64_t begin, end;
	uint32_t function;
};

/* A section of code. */
struct gpu_section {
	uint64_t begin;
	struct gpu_bytes bytes;
};

/* Where an indexed branch may lead. */
struct gpu_jump {
	uint64_t address, base;
	const uint8_t *targets; /* u32, less base */
	uint32_t count;
};

/* A call that the compiler inlined, as the line table tells it. */
struct gpu_inline {
	const char *name; /* of what was inlined, the linker's spelling */
	const char *file; /* of the call; NULL: not known */
	uint32_t line;
	uint32_t outer; /* 1 + the call around it, 0: none */
	uint32_t depth; /* 1: none is around it */
};

struct gpu_code {
	struct gpu_bytes file;
	uint32_t intel_family; /* of graphics cores; 0: not known, or no binary of Intel's */
	bool is_patch;	       /* no ELF file: see intel_patch_tokens.c */
	struct gpu_function *functions;
	size_t function_count;
	struct gpu_range *ranges;
	size_t range_count;
	bool has_lines; /* read */
	struct gpu_line *lines;
	size_t line_count, line_capacity;
	uint8_t *line_bytes; /* that names of files point into */
	struct gpu_inline *inlines;
	size_t inline_count, inline_capacity;
	bool has_sections;
	struct gpu_section *sections;
	size_t section_count;
	bool has_jumps;
	struct gpu_jump *jumps; /* by address */
	size_t jump_count, jump_capacity;
	size_t path_bytes, path_count; /* of all units, the bytes in the arena */
	struct arena arena;
};

/* All-zero where the binary is no ELF file. */
Elf64_Ehdr gpu_header(const struct gpu_code *code);
/* An all-zero one where there is none. */
Elf64_Shdr gpu_section_at(const struct gpu_code *code, uint32_t index);
struct gpu_bytes gpu_section_bytes(const struct gpu_code *code, const Elf64_Shdr *section);
/* 0: none of that name. */
uint32_t gpu_section_find(const struct gpu_code *code, const char *name);
/* What is added to offsets in the section: its own address, or its place in the file where all begin at 0. */
uint64_t gpu_section_base(const struct gpu_code *code, uint32_t index);
/* 0 where the table has no such symbol. */
uint64_t gpu_symbol_address(const struct gpu_code *code, uint32_t table, uint64_t index);
/* The string at that place; "" where there is none that ends soon. */
const char *gpu_string_at(struct gpu_bytes strings, uint64_t at);
/* Intel's binaries of kernels without symbols; functions and sections are read at once. */
bool intel_patch_tokens_is(struct gpu_bytes file);
int intel_patch_tokens_read(struct gpu_code *code, struct error *error);
/* A section's bytes by its name; empty: there is none. */
struct gpu_bytes gpu_code_section(const struct gpu_code *code, const char *name);
/* Writes the addresses that the linker left open into a copy of the section. */
void gpu_code_relocate(const struct gpu_code *code, const char *name, uint8_t *copy, size_t size);

#endif
