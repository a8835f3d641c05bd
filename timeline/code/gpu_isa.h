/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_isa.h - the table of instruction sets whose dependencies hpct can follow: one row for each, so that
 * analyses (blame/stalls/) depend on none of them. A new one is a decoder and a row.
 *
 *   bytes --decode.h--> length, control flow
 *         --a row-----> what it defines, uses, counts and waits for (gpu_instruction.h); what it computes
 */
#ifndef TIMELINE_GPU_ISA_H
#define TIMELINE_GPU_ISA_H

#include <stddef.h>

#include "timeline/code/gpu_arithmetic.h"
#include "timeline/code/gpu_instruction.h"

enum gpu_vendor { GPU_VENDOR_NVIDIA, GPU_VENDOR_AMD, GPU_VENDOR_INTEL };

struct gpu_isa {
	enum gpu_vendor vendor;
	unsigned machine; /* as decoder_open() (timeline/code/decode.h) takes it */
	/* Of one whole instruction, as decode.h measures it. True: it is known. Of an unknown one the sets
	 * hold what the encoding tells of every instruction. Never fails. */
	bool (*instruction)(const uint8_t *bytes, size_t size, struct gpu_instruction *instruction);
	/* NULL: hpct follows no values in this code. */
	void (*arithmetic)(const uint8_t *bytes, size_t size, struct gpu_arithmetic *arithmetic);
	/* The vendor's spelling, "R7", and its length, as snprintf() has it. */
	int (*resource_name)(unsigned resource, char *text, size_t size);
	/* True where this resource and the next may be written as a range. */
	bool (*is_run)(unsigned resource);
};

/* NULL: no row has that machine. */
const struct gpu_isa *gpu_isa_of(unsigned machine);

/* ---- the rows ---- */

extern const struct gpu_isa gpu_isa_volta, gpu_isa_hopper, gpu_isa_gcn, gpu_isa_cdna2, gpu_isa_cdna3,
	gpu_isa_gen12, gpu_isa_xe_hp, gpu_isa_xe_hpc;

#endif
