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

#include "store/base/error.h"

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
/* Its machine as decoder_open() (timeline/code/decode.h) takes it. */
unsigned gpu_code_machine(const struct gpu_code *code);
/* `size` bytes of code at the address; NULL: not all of them are in one section. */
const uint8_t *gpu_code_image(struct gpu_code *code, uint64_t address, size_t size);
/* The code that is this function's and no inner one's: at most `max` ranges (begin, end pairs); their number.
 */
unsigned gpu_code_extent(const struct gpu_code *code, const struct gpu_function *function,
	uint64_t (*ranges)[2], unsigned max);
/* The i-th place that the indexed branch at `jump` leads to; false: no more are known. */
bool gpu_code_target(struct gpu_code *code, uint64_t jump, uint32_t i, uint64_t *target);

struct gpu_call {
	uint64_t address, target; /* target 0: through a pointer, or not known */
};
/* The calls in all functions, by address, in a malloc'ed array (the caller's); none where the machine cannot
 * be decoded. Negative: memory. */
int gpu_code_calls(struct gpu_code *code, struct gpu_call **calls, size_t *count, struct error *error);

/* One level of an address's inlined calls. */
struct gpu_frame {
	const char *name; /* of what was inlined, the linker's spelling; "" of the function itself */
	const char *file; /* of `line`, "" when not known */
	uint32_t line;	  /* where the next inner one was inlined, of the innermost the address's own */
};
/* Outermost first, at most `max` of them (of a deeper chain the inner ones are left out); their number, 0
 * where the binary has no line for it. Only NVIDIA's line tables tell of inlined calls. */
unsigned gpu_code_chain(struct gpu_code *code, uint64_t address, struct gpu_frame *frames, unsigned max);

/* A copy of the file's bytes with debug sections that refer to the addresses used here, for readers of debug
 * information; malloc'ed, the caller's. NULL: the file has none, or memory. */
void *gpu_code_debug(const struct gpu_code *code);

/* File and line of an address; false: the binary does not say (compiled without -lineinfo). Lines are read at
 * the first call; the file's name lives as long as the code. */
bool gpu_code_line(struct gpu_code *code, uint64_t address, const char **file, uint32_t *line);

#endif
