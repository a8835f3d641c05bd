/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_strength_reduction.c - arithmetic of long latency that cheaper arithmetic can replace (S2 Table
 * II). */
#include "blame/advise/optimizer.h"

#include <string.h>

/* Doubles in code (NVIDIA's) that converts neither to nor from floats are the program's data: nothing cheaper
 * computes the same. */
static bool has_other_floats(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->count; i++)
		if (code->instructions[i].kind == GPU_KIND_CONVERT &&
			!strncmp(code->instructions[i].name, "F2F", 3))
			return true;
	return false;
}

static bool is_long(const struct kernel_code *code, const struct gpu_instruction *in)
{
	if (in->kind == GPU_KIND_DOUBLE)
		return !code->generation || has_other_floats(code);
	return in->kind == GPU_KIND_CONVERT || in->kind == GPU_KIND_SPECIAL;
}

/* A division by what the compiler does not know multiplies for the high half and corrects the result. */
static bool is_division(const struct kernel_code *code, uint32_t at)
{
	if (code->instructions[at].kind != GPU_KIND_INTEGER || code->loop_of[at] == LOOP_NONE)
		return false;
	for (uint32_t i = 0; i < code->count; i++)
		if (code->loop_of[i] == code->loop_of[at] &&
			strcmp(code->instructions[i].name, "IMAD.HI") == 0)
			return true;
	return false;
}

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *define = &function->code.instructions[cause->define];

	(void)kernel;
	if (optimizer_is_math(function, cause->define))
		return false;
	if (!is_long(&function->code, define))
		return cause->stall == STALL_PIPE && is_division(&function->code, cause->define);
	return cause->class == CAUSE_ARITHMETIC || cause->stall == STALL_PIPE || cause->stall == STALL_MTHR;
}

const struct optimizer optimizer_strength_reduction = {.name = "strength-reduction",
	.title = "Strength Reduction",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.hints = "Instructions of long latency compute what cheaper ones can.\n"
		 "1. Divide by multiplying with the reciprocal, computed once outside the loop.\n"
		 "2. Write constants of float expressions as float (2.0f, not 2.0): a double constant makes "
		 "the "
		 "compiler convert and compute in double.\n"
		 "3. Move conversions between integers and floats out of loops."};
