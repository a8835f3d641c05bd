/* SPDX-License-Identifier: Apache-2.0 */
/* architecture.c - see architecture.h. Limits are those of NVIDIA's programming guide, table of compute
 * capabilities; latencies are upper bounds from published microbenchmarks (S2 [18]). */
#include "blame/stalls/architecture.h"

#include "timeline/code/amd_word.h"
#include "timeline/code/intel_word.h"

#define REGISTERS_UNIT 8u /* of a thread, that are given out together */

static const struct architecture architectures[] = {
	{GPU_VENDOR_NVIDIA, 70, 32, 80, 4, 64, 32, 65536, 96 << 10, 6},
	{GPU_VENDOR_NVIDIA, 75, 32, 72, 4, 32, 16, 65536, 64 << 10, 6},
	{GPU_VENDOR_NVIDIA, 80, 32, 108, 4, 64, 32, 65536, 164 << 10, 6},
	{GPU_VENDOR_NVIDIA, 86, 32, 84, 4, 48, 16, 65536, 100 << 10, 6},
	{GPU_VENDOR_NVIDIA, 89, 32, 142, 4, 48, 24, 65536, 100 << 10, 6},
	{GPU_VENDOR_NVIDIA, 90, 32, 132, 4, 64, 32, 65536, 228 << 10, 6},
	{GPU_VENDOR_NVIDIA, 100, 32, 148, 4, 64, 32, 65536, 228 << 10, 6},
	{GPU_VENDOR_NVIDIA, 120, 32, 170, 4, 48, 24, 65536, 100 << 10, 6},
	/* AMD's manuals: registers are those of vector and, since CDNA 2, accumulation. */
	{GPU_VENDOR_AMD, AMD_GCN, 64, 120, 4, 40, 16, 65536, 64 << 10, 8},
	{GPU_VENDOR_AMD, AMD_CDNA2, 64, 110, 4, 32, 16, 131072, 64 << 10, 8},
	{GPU_VENDOR_AMD, AMD_CDNA3, 64, 304, 4, 32, 16, 131072, 64 << 10, 8},
	/* Intel's: Xe cores, vector engines, threads of 16 lanes. */
	{GPU_VENDOR_INTEL, INTEL_GEN12, 16, 6, 16, 112, 16, 229376, 64 << 10, 16},
	{GPU_VENDOR_INTEL, INTEL_XE_HP, 16, 32, 16, 128, 32, 262144, 128 << 10, 16},
	{GPU_VENDOR_INTEL, INTEL_XE_HPC, 16, 128, 8, 64, 32, 131072, 128 << 10, 16},
};

static const struct architecture *nearest(enum gpu_vendor vendor, unsigned generation)
{
	const struct architecture *found = NULL;

	for (unsigned i = 0; i < sizeof architectures / sizeof *architectures; i++)
		if (architectures[i].vendor == vendor &&
			(!found || architectures[i].generation <= generation))
			found = &architectures[i];
	return found ? found : architectures;
}

const struct architecture *architecture_of(unsigned generation)
{
	return nearest(GPU_VENDOR_NVIDIA, generation);
}

const struct architecture *architecture_of_isa(const struct gpu_isa *isa, unsigned generation)
{
	if (isa->vendor == GPU_VENDOR_NVIDIA)
		return architecture_of(generation);
	return nearest(isa->vendor, isa->machine >> 16);
}

/* The scalar cache of AMD's misses as any other does. */
static unsigned memory_latency(const struct architecture *architecture, enum gpu_space space)
{
	static const unsigned cycles[GPU_SPACE_COUNT] = {[GPU_SPACE_GLOBAL] = 1200,
		[GPU_SPACE_LOCAL] = 1200,
		[GPU_SPACE_TEXTURE] = 1200,
		[GPU_SPACE_ANY] = 1200,
		[GPU_SPACE_SHARED] = 120,
		[GPU_SPACE_CONSTANT] = 300};

	if (architecture->vendor == GPU_VENDOR_AMD && space == GPU_SPACE_CONSTANT)
		return cycles[GPU_SPACE_GLOBAL];
	return cycles[space];
}

unsigned architecture_latency(const struct architecture *architecture, const struct gpu_instruction *in)
{
	switch ((enum gpu_kind)in->kind) {
	case GPU_KIND_LOAD:
	case GPU_KIND_STORE:
	case GPU_KIND_ATOMIC:
	case GPU_KIND_COPY:
	case GPU_KIND_FENCE:
		return memory_latency(architecture, in->space) ? memory_latency(architecture, in->space)
							       : 1200;
	case GPU_KIND_SPECIAL:
	case GPU_KIND_CONVERT:
	case GPU_KIND_DOUBLE:
		return 64;
	case GPU_KIND_MATRIX:
		return 256;
	case GPU_KIND_OPAQUE:
	case GPU_KIND_BARRIER:
	case GPU_KIND_WAIT:
	case GPU_KIND_CONTROL:
		return 1200;
	default:
		break;
	}
	/* A barrier tells that the latency is not fixed. */
	if (in->write_barrier != GPU_NO_BARRIER || in->read_barrier != GPU_NO_BARRIER)
		return 64;
	return in->stall > architecture->arithmetic_cycles ? in->stall : architecture->arithmetic_cycles;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned architecture_warps(const struct architecture *architecture, unsigned block_threads,
	unsigned thread_registers, unsigned block_shared_bytes)
{
	unsigned threads = architecture->threads, unit = REGISTERS_UNIT * threads;
	unsigned warps = (block_threads + threads - 1) / threads, blocks, each;

	if (!warps)
		return 0;
	blocks = least(architecture->blocks, architecture->warps / warps);
	each = (thread_registers * threads + unit - 1) / unit * unit * warps;
	if (each)
		blocks = least(blocks, architecture->registers / each);
	if (block_shared_bytes)
		blocks = least(blocks, architecture->shared_bytes / block_shared_bytes);
	return blocks * warps;
}
