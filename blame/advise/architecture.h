/* SPDX-License-Identifier: Apache-2.0 */
/*
 * architecture.h - what advice must know of a GPU generation (S2 III, architectural features): limits of a
 * multiprocessor, and latencies of instructions as bounds for pruning (S2 IV, rule 3).
 */
#ifndef BLAME_ARCHITECTURE_H
#define BLAME_ARCHITECTURE_H

#include "timeline/code/gpu_instruction.h"

struct architecture {
	unsigned generation;	  /* 90: sm_90 */
	unsigned multiprocessors; /* of the largest product; a run that knows its GPU says so */
	unsigned schedulers;	  /* of a multiprocessor */
	unsigned warps, blocks, registers, shared_bytes; /* at most, in a multiprocessor */
	unsigned arithmetic_cycles;			 /* until a result of fixed latency may be used */
};

/* The nearest generation that is known, not newer if there is one. */
const struct architecture *architecture_of(unsigned generation);
/* Upper bound of an instruction's latency in cycles: of loads, a miss of the TLB. */
unsigned architecture_latency(
	const struct architecture *architecture, const struct gpu_instruction *instruction);
/* Warps of this shape that a multiprocessor runs at a time; 0: none fits. */
unsigned architecture_warps(const struct architecture *architecture, unsigned block_threads,
	unsigned thread_registers, unsigned block_shared_bytes);

#endif
