/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_fast_math.c - precise functions of CUDA's math library (S2 Table II). */
#include "blame/advise/optimizer.h"

#include <string.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define CHAIN_MAX 16u

static bool is_math_name(const char *name)
{
	static const char *const begins[] = {"__internal_", "__nv_", "__cuda_sm", "_Z4sinf", "_Z4cosf",
		"_Z4expf", "_Z4logf", "_Z4powf", "_Z4tanf", "_Z5tanhf", "_Z5exp2f", "_Z5log2f", "_Z6log10f",
		"_Z6sincosf", "_Z4erff", "_Z5sqrtf", "_Z6rsqrtf", "_Z5atanf", "_Z6atan2f", "_Z4fmod", "sinf",
		"cosf", "expf", "logf", "powf", "tanf", "tanhf"};

	while (*name == '$')
		name++;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_math_file(const char *file)
{
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	return strncmp(base, "math_functions", 14) == 0 || strncmp(base, "device_functions", 16) == 0;
}

bool optimizer_is_math(const struct kernel_function *function, uint32_t instruction)
{
	struct gpu_frame frames[CHAIN_MAX];
	unsigned count;

	if (function->code.is_math[instruction] ||
		(!function->is_kernel && is_math_name(function->code.name)))
		return true;
	count = function->code.binary ? gpu_code_chain(function->code.binary,
						function->code.addresses[instruction], frames, CHAIN_MAX)
				      : 0;
	for (unsigned i = 0; i < count; i++)
		if (is_math_name(frames[i].name) || (i && is_math_file(frames[i].file)))
			return true;
	return false;
}

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	return optimizer_is_math(function, cause->use);
}

/* Fast forms have few instructions of what the precise ones have: not only stalls go. */
#define FAST_SHARE 0.25 /* of the precise form's instructions, at most */
#define FAST_LEAST 0.05

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	advice->speedup = estimate_elimination(kernel->total, advice->matched * (1 - FAST_SHARE));
	advice->high = estimate_elimination(kernel->total, advice->matched * (1 - FAST_LEAST));
	return advice->matched > 0;
}

const struct optimizer optimizer_fast_math = {.name = "fast-math",
	.title = "Fast Math",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "Time goes to precise functions of CUDA's math library.\n"
		 "1. Where their accuracy is not needed, use the fast forms: __sinf, __expf, __powf, "
		 "__fdividef.\n"
		 "2. Or compile with -use_fast_math. Check the results."};
