/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_code.h - functions and lines of one GPU binary (NVIDIA cubin, AMD code object, Intel zebin: all ELF),
 * for readers and hpct-names. Not for the machine code in it. The bytes are whatever a program handed its
 * runtime: all is checked before it is believed, work and memory are bounded.
 *
 * In most GPU binaries each function has a section that begins at address 0, with the functions that it calls
 * inside it. So an address here is the file's offset of the section plus the offset in it (S0 5), and of
 * functions that overlap the innermost has the code:
 *
 *   .text.field   |-- field --|-- gain --|------- slope -------|     symbols: field covers all
 */
#ifndef TIMELINE_GPU_CODE_H
#define TIMELINE_GPU_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/error.h"

struct gpu_function {
	const char
		*name; /* the linker's spelling; of what lies inside a kernel its own, without the kernel's */
	uint64_t start, size;
	bool is_kernel; /* else only other code of the binary calls it */
};

struct gpu_code;

/* Whether the bytes begin as a GPU binary that can be read. */
bool gpu_code_is(const void *bytes, size_t size);
/* The bytes stay the caller's and must outlive the code. ERROR_IO says what is wrong with them. */
int gpu_code_open(struct gpu_code **code, const void *bytes, size_t size, struct error *error);
void gpu_code_close(struct gpu_code *code);
/* By start, outer before inner ones. */
const struct gpu_function *gpu_code_functions(const struct gpu_code *code, size_t *count);
/* The innermost function with that address; NULL: none. */
const struct gpu_function *gpu_code_at(const struct gpu_code *code, uint64_t address);
/* File and line of an address; false: the binary does not say (compiled without -lineinfo). Lines are read at
 * the first call; the file's name lives as long as the code. */
bool gpu_code_line(struct gpu_code *code, uint64_t address, const char **file, uint32_t *line);

#endif
