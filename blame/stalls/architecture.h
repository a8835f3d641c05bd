/* SPDX-License-Identifier: Apache-2.0 */
/*
 * architecture.h - what advice must know of a GPU generation (S2 III, architectural features): limits of a
 * multiprocessor, and latencies of instructions as bounds for pruning (S2 IV, rule 3).
 */
#ifndef BLAME_ARCHITECTURE_H
#define BLAME_ARCHITECTURE_H

#include "timeline/code/gpu_isa.h"

struct architecture {
	enum gpu_vendor vendor;
	unsigned generation;	  /* 90: sm_90; of AMD as timeline/code/amd_word.h numbers families */
	unsigned threads;	  /* of a warp */
	unsigned multiprocessors; /* of the largest product; a run that knows its GPU says so */
	unsigned schedulers;	  /* of a multiprocessor */
	unsigned warps, blocks, registers, shared_bytes; /* at most, in a multiprocessor */
	unsigned arithmetic_cycles;			 /* until a result of fixed latency may be used */
};

/* NVIDIA's nearest generation that is known, not newer if there is one. */
const struct architecture *architecture_of(unsigned generation);
/* The same for code of any vendor; `generation`: of NVIDIA's. */
const struct architecture *architecture_of_isa(const struct gpu_isa *isa, unsigned generation);
/* Upper bound of an instruction's latency in cycles: of loads, a miss of the TLB. */
unsigned architecture_latency(
	const struct architecture *architecture, const struct gpu_instruction *instruction);
/* Warps of this shape that a multiprocessor runs at a time; 0: none fits. */
unsigned architecture_warps(const struct architecture *architecture, unsigned block_threads,
	unsigned thread_registers, unsigned block_shared_bytes);

#endif
