/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_tensor_cores.c - loops that multiply matrices by ordinary arithmetic. */
#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define GENERATION 75u /* all of whose products have tensor cores */
#define BUSY_LEAST 0.3
#define RATE 8.0 /* of tensor cores, at least, in ordinary multiply-adds; 16 of 16-bit numbers */

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	return function->code.generation >= GENERATION && function->code.loop_of[cause->use] != LOOP_NONE &&
	       memory_scope_of(&function->memory, &function->code, cause->use)->is_product;
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	/* Loops that wait for their own results are too short for matrix instructions. */
	if (kernel->active < kernel->total * BUSY_LEAST)
		return false;
	advice->speedup = estimate_elimination(kernel->total, advice->matched * (1 - 1 / RATE));
	advice->low = 1;
	advice->high = estimate_elimination(kernel->total, advice->matched * (1 - 1 / (2 * RATE)));
	return advice->matched > 0;
}

const struct optimizer optimizer_tensor_cores = {.name = "tensor-cores",
	.title = "Tensor Cores",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "A loop multiplies values of tiles with each other and adds them up, as a product of "
		 "matrices does, "
		 "by ordinary arithmetic.\n"
		 "1. Call a library: cuBLAS, CUTLASS, torch.matmul.\n"
		 "2. Use the matrix instructions (nvcuda::wmma, mma): of 16-bit numbers with sums of 32 "
		 "bits, or of "
		 "floats as TF32 where 10 bits of mantissa are enough."};
