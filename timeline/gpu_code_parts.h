/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_code_parts.h - inside gpu_code*.c and gpu_lines.c: the code's state. */
#ifndef TIMELINE_GPU_CODE_PARTS_H
#define TIMELINE_GPU_CODE_PARTS_H

#include "store/arena.h"
#include "timeline/gpu_code.h"

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
};

/* What of the functions' code is whose, without overlaps. */
struct gpu_range {
	uint64_t begin, end;
	uint32_t function;
};

struct gpu_code {
	struct gpu_bytes file;
	struct gpu_function *functions;
	size_t function_count;
	struct gpu_range *ranges;
	size_t range_count;
	bool has_lines; /* read */
	struct gpu_line *lines;
	size_t line_count, line_room;
	uint8_t *line_bytes;	       /* that names of files point into */
	size_t path_bytes, path_count; /* of all units, the bytes in the arena */
	struct arena arena;
};

/* The string at that place; "" where there is none that ends soon. */
const char *gpu_string_at(struct gpu_bytes strings, uint64_t at);
/* A section's bytes by its name; empty: there is none. */
struct gpu_bytes gpu_code_section(const struct gpu_code *code, const char *name);
/* Writes the addresses that the linker left open into a copy of the section. */
void gpu_code_relocate(const struct gpu_code *code, const char *name, uint8_t *copy, size_t size);
/* Reads code->lines, sorted. What is malformed ends the table it is in. */
void gpu_lines_read(struct gpu_code *code);

#endif
