/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_code.h - the code of one GPU function for advice: instructions, control flow between them, loops,
 * lines.
 */
#ifndef BLAME_KERNEL_CODE_H
#define BLAME_KERNEL_CODE_H

#include "blame/stalls/dependency.h"
#include "timeline/code/gpu_code.h"
#include "timeline/code/gpu_isa.h"
#include "timeline/code/loop_forest.h"

#define KERNEL_CODE_POINTER UINT64_MAX /* a call through a pointer: gpu_code_pointed() */

struct kernel_code {
	const char *name; /* mangled; of the binary */
	uint64_t start;	  /* address of its first byte (gpu_code.h) */
	const struct gpu_isa *isa;
	unsigned generation; /* of NVIDIA's; else 0 */
	uint32_t count;
	uint64_t *addresses; /* [count], ascending */
	uint8_t *sizes;	     /* [count] bytes */
	struct gpu_instruction *instructions;
	struct dependency_code flow;
	uint32_t *loop_of;	  /* [count] innermost loop, LOOP_NONE */
	struct loop_forest loops; /* its of_node is of blocks */
	uint32_t *loop_line;	  /* [loops.count] of its header; 0: unknown */
	bool *has_barrier;	  /* [loops.count] threads wait for each other in it */
	uint64_t
		*calls; /* [count] the function that it calls; 0: none; KERNEL_CODE_POINTER: one of several */
	bool *is_math;	/* [count] of CUDA's precise math functions, inlined */
	uint32_t opaque;	 /* instructions that the decoder does not know */
	struct gpu_code *binary; /* the caller's */
	/* -- owned -- */
	uint32_t *first_from, *from, *first_to, *to;
};

/* `function`: of the binary, which must outlive the code. Returns 0; 1: no code that can be decoded;
 * negative: no memory. Free in all cases. */
int kernel_code_read(struct kernel_code *code, struct gpu_code *binary, const struct gpu_function *function,
	struct error *error);
/* What an instruction computes; nothing known if the instruction set has no arithmetic (gpu_isa.h). */
void kernel_code_arithmetic(const struct kernel_code *code, uint32_t i, struct gpu_arithmetic *arithmetic);
/* Fills is_math; false: no memory. */
bool kernel_code_find_math(struct kernel_code *code);
void kernel_code_fini(struct kernel_code *code);
/* The instruction at an address; UINT32_MAX: none of this function. */
uint32_t kernel_code_find(const struct kernel_code *code, uint64_t address);
/* The innermost loop around both; LOOP_NONE: none. */
uint32_t kernel_code_common_loop(const struct kernel_code *code, uint32_t a, uint32_t b);

#endif
