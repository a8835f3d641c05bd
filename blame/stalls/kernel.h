/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - a GPU kernel as advice needs it: the functions it consists of with their samples and causes, and
 * how it was launched. kernels.h reads them from a run.
 */
#ifndef BLAME_KERNEL_H
#define BLAME_KERNEL_H

#include "blame/stalls/causes.h"
#include "blame/stalls/divergence.h"
#include "blame/stalls/kernel_code.h"
#include "blame/stalls/memory_use.h"
#include "timeline/sum/launch_samples.h"

struct kernel_function {
	struct kernel_code code;
	struct cause_samples *samples; /* [code.count] */
	struct causes causes;
	struct lanes lanes;
	struct divergence divergence;
	struct memory_use memory;
	double total, active; /* samples x period */
	bool is_kernel;	      /* false: a device function that it calls */
};

/* How the kernel was launched for most of its time, from all paths together. */
struct kernel_shape {
	uint64_t grid, block; /* blocks, threads of a block; 0: unknown */
	uint32_t extent[6];   /* grid x y z, block x y z */
	uint32_t registers, shared_bytes;
};

struct kernel {
	const char *name; /* as the run names it */
	uint64_t time_ns, launches;
	uint32_t context; /* of the run: the launching path that took most time; 0: no launch is known */
	uint64_t context_ns, paths; /* its time; how many paths there are */
	/* Launches that their queue waited for (kernels_chains.c), their time, and that of the gaps before.
	 */
	uint64_t chained, chained_ns, chained_gap_ns;
	/* Of its samples: to launches of one call path, or of several. */
	struct launch_samples_share share;
	struct kernel_shape shape;
	const struct architecture *architecture;
	unsigned multiprocessors;
	uint64_t period; /* cycles between samples; 0: unknown */
	struct kernel_function *functions;
	size_t function_count, function_room;
	/* T, A, L of S2 V, in samples x period; issued: of the warps that were sampled */
	double total, active, latency, issued;
	double expected; /* samples x period that full use of the GPU gives in its time; 0: unknown */
	double unread;	 /* part of `total`: of code that could not be read */
};

/* True of a wait for a load that waits behind others: with more of them under way at once it takes longer. */
static inline bool memory_is_limit(const struct kernel_function *function, const struct cause *cause)
{
	return cause->class == CAUSE_GLOBAL && cause->stall == STALL_GMEM &&
	       memory_is_saturated(memory_scope_of(&function->memory, &function->code, cause->use));
}

/* True where scalar memory is asked for as any other: AMD's; NVIDIA's constants come with the instruction. */
static inline bool scalar_memory_is_load(const struct kernel_function *function, const struct cause *cause)
{
	return cause->class == CAUSE_CONSTANT && function->code.isa->vendor == GPU_VENDOR_AMD;
}

/* True of a wait for room in the queue of global memory: a full one holds back whatever comes next. */
static inline bool memory_queue_is_full(const struct kernel_function *function, const struct cause *cause)
{
	const struct cause_samples *samples = &function->samples[cause->use];

	return cause->stall == STALL_MTHR && samples->near * 2 <= samples->all[STALL_MTHR] &&
	       function->code.instructions[cause->use].space != GPU_SPACE_LOCAL;
}

/* Finds causes and totals, once functions have code and samples. */
int kernel_analyse(struct kernel *kernel, struct error *error);

#endif
