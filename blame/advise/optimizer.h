/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer.h - optimizers: each matches samples of a kernel that its change would remove or hide (S2 Table
 * II). One file each; optimizers.c is the table. A new one is a file and a line there.
 */
#ifndef BLAME_OPTIMIZER_H
#define BLAME_OPTIMIZER_H

#include "blame/stalls/kernel.h"

enum optimizer_category { OPTIMIZER_ELIMINATES, OPTIMIZER_HIDES, OPTIMIZER_PARALLEL, OPTIMIZER_CATEGORIES };

struct advice;

struct optimizer {
	const char *name; /* "strength-reduction" */
	const char *title;
	enum optimizer_category category;
	bool is_scoped; /* hides: moves code within a loop only (Eq 5) */
	bool is_moved;	/* eliminates: the wait may only move to another place, with nothing gained */
	const char *hints;
	/* What eliminates or hides: true if the cause is its matter. */
	bool (*matches)(const struct kernel *kernel, const struct kernel_function *function,
		const struct cause *cause);
	/* Of what eliminates: an instruction that leaves the code, whatever it waits for itself; NULL: none.
	 * Then the estimate is of all that goes with these. */
	bool (*leaves)(const struct kernel_function *function, uint32_t at);
	/* Of what eliminates: samples of a cause of its matter that stay; NULL: none. */
	double (*stays)(const struct kernel_function *function, const struct cause *cause);
	/* Of what hides: the part of a cause's latency that goes without other work to fill it, since loads
	 * of several rounds are under way together; NULL: none. */
	double (*overlaps)(const struct kernel_function *function, const struct cause *cause);
	/* May be NULL. Parallel ones: fills speedup and its interval. Others: may mend the estimate from what
	 * they match. False withholds the advice. The interval is made to contain the speedup. */
	bool (*judge)(const struct kernel *kernel, struct advice *advice);
};

extern const struct optimizer *const optimizers[];
extern const unsigned optimizer_count;

extern const struct optimizer optimizer_register_reuse, optimizer_strength_reduction,
	optimizer_function_split, optimizer_fast_math, optimizer_warp_balance, optimizer_memory_transactions,
	optimizer_shared_memory, optimizer_loop_unrolling, optimizer_code_reordering,
	optimizer_function_inlining, optimizer_block_increase, optimizer_thread_increase,
	optimizer_divergence, optimizer_wave_tail, optimizer_graph_launch, optimizer_vector_access,
	optimizer_redundant_loads, optimizer_async_copy, optimizer_tensor_cores;

/* True where an address lies in code of CUDA's math library, inlined or called. */
bool optimizer_is_math(const struct kernel_function *function, uint32_t instruction);

#endif
