/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_function_inlining.c - calls of device functions (S2 Table II). */
#include "blame/advise/optimizer.h"

#include <string.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

static bool is_call(const struct gpu_instruction *in)
{
	return in->kind == GPU_KIND_CONTROL &&
	       (strncmp(in->name, "CALL", 4) == 0 || strncmp(in->name, "RET", 3) == 0);
}

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	if (cause->stall == STALL_NONE || cause->stall == STALL_NSEL)
		return false;
	if (!function->is_kernel)
		return !optimizer_is_math(function, cause->use);
	return is_call(&function->code.instructions[cause->use]) ||
	       is_call(&function->code.instructions[cause->define]);
}

/* Calls and returns go altogether. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	advice->high = estimate_elimination(kernel->total, advice->matched);
	return true;
}

const struct optimizer optimizer_function_inlining = {.name = "function-inlining",
	.title = "Function Inlining",
	.category = OPTIMIZER_HIDES,
	.matches = matches,
	.judge = judge,
	.hints = "Warps wait in device functions that are called, and where they are called: no code can "
		 "move across a "
		 "call.\n"
		 "1. Declare the function __forceinline__ and define it where it is called.\n"
		 "2. Link device code with -dlto if it is in another file."};
