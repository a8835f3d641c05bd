/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_code.h - functions and lines of one GPU binary (NVIDIA cubin, AMD code object, Intel zebin: all ELF),
 * for readers and hpct-names; decode.h decodes the code in it. A program passed these bytes to its runtime,
 * so all is checked; work and memory are bounded.
 *
 * In most GPU binaries each function has a section that begins at address 0 and contains the functions that
 * it calls. So an address here is the section's file offset plus the offset in it (S0 5), and where
 * functions overlap the innermost owns the code:
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
	const char *name; /* mangled; of a function inside a kernel its own name, without the kernel's */
	uint64_t start, size;
	bool is_kernel; /* false: only other code of the binary calls it */
};

struct gpu_code;

/* True when the bytes begin like a readable GPU binary. */
bool gpu_code_is(const void *bytes, size_t size);
/* The caller owns the bytes, which must outlive the code. ERROR_IO: what is wrong with them. */
int gpu_code_open(struct gpu_code **code, const void *bytes, size_t size, struct error *error);
void gpu_code_close(struct gpu_code *code);
/* Sorted by start, outer functions before inner ones. */
const struct gpu_function *gpu_code_functions(const struct gpu_code *code, size_t *count);
/* The innermost function with that address; NULL: none. */
const struct gpu_function *gpu_code_at(const struct gpu_code *code, uint64_t address);
/* Its machine as decoder_open() (timeline/code/decode.h) takes it. */
unsigned gpu_code_machine(const struct gpu_code *code);
/* NVIDIA's generation, 90 for sm_90; 0: another vendor's. */
unsigned gpu_code_generation(const struct gpu_code *code);
/* `size` bytes of code at the address; NULL: not all in one section. */
const uint8_t *gpu_code_image(struct gpu_code *code, uint64_t address, size_t size);
/* The code of this function without its inner functions: at most `max` ranges (begin, end pairs); returns
 * their number. */
unsigned gpu_code_extent(const struct gpu_code *code, const struct gpu_function *function,
	uint64_t (*ranges)[2], unsigned max);
/* The i-th target of the indexed branch at `jump`; false: no more are known. */
bool gpu_code_target(struct gpu_code *code, uint64_t jump, uint32_t i, uint64_t *target);

/* The function that the call at `address` goes to by a relocation, as to another section; 0: none tells. */
uint64_t gpu_code_linked(struct gpu_code *code, uint64_t address);
/* Functions that a call through a pointer may go to: those whose address the binary stores or moves. */
const uint64_t *gpu_code_pointed(struct gpu_code *code, size_t *count);
bool gpu_code_is_pointed(struct gpu_code *code, uint64_t function);

struct gpu_call {
	uint64_t address, target; /* target 0: through a pointer, or unknown */
};
/* The calls in all functions, by address, in a malloc'ed array that the caller frees; none where the machine
 * cannot be decoded. Negative: no memory. */
int gpu_code_calls(struct gpu_code *code, struct gpu_call **calls, size_t *count, struct error *error);

/* One level of an address's inlined calls. */
struct gpu_frame {
	const char *name; /* mangled name of the inlined function; "" for the function itself */
	const char *file; /* of `line`, "" if unknown */
	uint32_t line;	  /* where the next inner one was inlined; innermost: the line of the address */
};
/* The inline chain at an address, outermost first, at most `max` (inner ones are cut); returns its length,
 * 0: the binary has no line for it. Only NVIDIA's line tables record inlined calls. */
unsigned gpu_code_chain(struct gpu_code *code, uint64_t address, struct gpu_frame *frames, unsigned max);

/* A copy of the file's bytes whose debug sections use the addresses of this header, for readers of debug
 * information; malloc'ed, the caller frees it. NULL: no debug information, or no memory. */
void *gpu_code_debug(const struct gpu_code *code);

/* File and line of an address; false: unknown (compiled without -lineinfo). The first call reads the lines;
 * the file's name lives as long as the code. */
bool gpu_code_line(struct gpu_code *code, uint64_t address, const char **file, uint32_t *line);

#endif
