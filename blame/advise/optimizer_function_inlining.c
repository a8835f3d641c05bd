/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_function_inlining.c - calls of device functions (S2 Table II). */
#include "blame/advise/optimizer.h"

#include <math.h>
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

/* What goes with calls: they themselves, and waits for the next instruction behind each jump: at the
 * function's first, and at the one that it returns to. */
struct overhead {
	double samples, issued;
};

static void overhead_take(struct overhead *overhead, const struct kernel_function *function)
{
	for (uint32_t i = 0; i < function->code.count; i++) {
		const struct cause_samples *samples = &function->samples[i];
		bool is_after = (i == 0 && !function->is_kernel) ||
				(i > 0 && strncmp(function->code.instructions[i - 1].name, "CALL", 4) == 0);

		if (is_call(&function->code.instructions[i])) {
			overhead->samples += cause_samples_sum(samples);
			overhead->issued += samples->all[STALL_NONE];
		} else if (is_after) {
			overhead->samples += samples->all[STALL_IFET];
		}
	}
}

/* Calls and returns go altogether; what is left has to be issued. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	struct overhead overhead = {0, 0};
	double floor;

	for (size_t f = 0; f < kernel->function_count; f++)
		if (kernel->functions[f].is_kernel || !optimizer_is_math(&kernel->functions[f], 0))
			overhead_take(&overhead, &kernel->functions[f]);
	floor = estimate_issue_floor(kernel->active, kernel->issued, overhead.issued);
	if (advice->matched > 0)
		advice->speedup = fmax(advice->speedup,
			estimate_elimination(kernel->total, fmin(overhead.samples, kernel->total - floor)));
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
