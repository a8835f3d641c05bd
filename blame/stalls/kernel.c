/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - see kernel.h. */
#include "blame/stalls/kernel.h"

/* Of the search for causes. What an instruction takes grows with its function: 6 to 230 steps in kernels of 4
 * to 600 instructions. */
#define STEPS_FEW (UINT64_C(1) << 24)
#define STEPS_EACH (UINT64_C(1) << 16) /* of each instruction */

/* How threads of a warp differ, and what that costs. */
static int lanes_analyse(const struct kernel *kernel, struct kernel_function *function, struct error *error)
{
	int rc = lanes_find(
		&function->lanes, &function->code, function->is_kernel, kernel->shape.extent + 3, error);

	if (rc)
		return rc;
	if (!memory_use_find(&function->memory, &function->code, &function->lanes, function->samples))
		return error_memory(error);
	return divergence_find(&function->divergence, &function->code, &function->lanes, function->samples,
		kernel->period, error);
}

int kernel_analyse(struct kernel *kernel, struct error *error)
{
	int rc = 0;

	kernel->total = kernel->unread;
	kernel->latency = kernel->issued = 0;
	for (size_t f = 0; f < kernel->function_count && rc == 0; f++) {
		struct kernel_function *function = &kernel->functions[f];
		struct parse_budget budget;

		function->total = function->active = 0;
		for (uint32_t i = 0; i < function->code.count; i++)
			for (unsigned s = 0; s < STALL_COUNT; s++) {
				function->total += function->samples[i].all[s];
				function->active +=
					function->samples[i].all[s] - function->samples[i].latency[s];
			}
		for (uint32_t i = 0; i < function->code.count; i++)
			kernel->issued += function->samples[i].all[STALL_NONE];
		kernel->total += function->total;
		kernel->latency += function->total - function->active;
		parse_budget_allow(&budget, STEPS_FEW + (uint64_t)function->code.count * STEPS_EACH, 0);
		rc = causes_find(&function->causes, &function->code.flow, function->samples,
			kernel->architecture, &budget, error);
		if (rc == 0)
			rc = lanes_analyse(kernel, function, error);
	}
	kernel->active = kernel->total - kernel->latency;
	return rc;
}
