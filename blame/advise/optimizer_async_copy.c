/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_async_copy.c - tiles that go from global to shared memory through registers: the warp waits for
 * each load, to store it. */
#include "blame/advise/optimizer.h"

#define GENERATION 80u /* that has cp.async */

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *use = &function->code.instructions[cause->use];

	(void)kernel;
	return function->code.generation >= GENERATION && cause->stall == STALL_GMEM &&
	       cause->class == CAUSE_GLOBAL && use->kind == GPU_KIND_STORE &&
	       use->space == GPU_SPACE_SHARED &&
	       kernel_code_common_loop(&function->code, cause->define, cause->use) != LOOP_NONE &&
	       !memory_is_limit(function, cause);
}

const struct optimizer optimizer_async_copy = {.name = "async-copy",
	.title = "Asynchronous Copy",
	.category = OPTIMIZER_HIDES,
	.matches = matches,
	.hints = "A loop loads a tile into registers, waits for it, and stores it into shared memory.\n"
		 "1. Copy by cp.async (cuda::memcpy_async, __pipeline_memcpy_async) or TMA, without "
		 "registers.\n"
		 "2. Use several buffers: copy the tile of a later round while this round computes."};
