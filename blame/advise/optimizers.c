/* SPDX-License-Identifier: Apache-2.0 */
/* optimizers.c - the table of optimizers. */
#include "blame/advise/optimizer.h"

const struct optimizer *const optimizers[] = {&optimizer_register_reuse, &optimizer_strength_reduction,
	&optimizer_function_split, &optimizer_fast_math, &optimizer_warp_balance,
	&optimizer_memory_transactions, &optimizer_shared_memory, &optimizer_loop_unrolling,
	&optimizer_code_reordering, &optimizer_function_inlining, &optimizer_block_increase,
	&optimizer_thread_increase, &optimizer_divergence, &optimizer_wave_tail, &optimizer_graph_launch,
	&optimizer_vector_access, &optimizer_redundant_loads, &optimizer_async_copy, &optimizer_tensor_cores};
const unsigned optimizer_count = sizeof optimizers / sizeof *optimizers;
