/* SPDX-License-Identifier: Apache-2.0 */
/* architecture.c - see architecture.h. Limits are those of NVIDIA's programming guide, table of compute
 * capabilities; latencies are upper bounds from published microbenchmarks (S2 [18]). */
#include "blame/advise/architecture.h"

#define WARP 32u
#define REGISTERS_UNIT 256u /* of a warp */

static const struct architecture architectures[] = {
	{70, 80, 4, 64, 32, 65536, 96 << 10, 6},
	{75, 72, 4, 32, 16, 65536, 64 << 10, 6},
	{80, 108, 4, 64, 32, 65536, 164 << 10, 6},
	{86, 84, 4, 48, 16, 65536, 100 << 10, 6},
	{89, 142, 4, 48, 24, 65536, 100 << 10, 6},
	{90, 132, 4, 64, 32, 65536, 228 << 10, 6},
	{100, 148, 4, 64, 32, 65536, 228 << 10, 6},
	{120, 170, 4, 48, 24, 65536, 100 << 10, 6},
};

const struct architecture *architecture_of(unsigned generation)
{
	const struct architecture *found = architectures;

	for (unsigned i = 0; i < sizeof architectures / sizeof *architectures; i++)
		if (architectures[i].generation <= generation)
			found = &architectures[i];
	return found;
}

static unsigned memory_latency(enum gpu_space space)
{
	static const unsigned cycles[GPU_SPACE_COUNT] = {[GPU_SPACE_GLOBAL] = 1200,
		[GPU_SPACE_LOCAL] = 1200,
		[GPU_SPACE_TEXTURE] = 1200,
		[GPU_SPACE_ANY] = 1200,
		[GPU_SPACE_SHARED] = 120,
		[GPU_SPACE_CONSTANT] = 300};

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
		return memory_latency(in->space) ? memory_latency(in->space) : 1200;
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
	unsigned warps = (block_threads + WARP - 1) / WARP, blocks, each;

	if (!warps)
		return 0;
	blocks = least(architecture->blocks, architecture->warps / warps);
	each = (thread_registers * WARP + REGISTERS_UNIT - 1) / REGISTERS_UNIT * REGISTERS_UNIT * warps;
	if (each)
		blocks = least(blocks, architecture->registers / each);
	if (block_shared_bytes)
		blocks = least(blocks, architecture->shared_bytes / block_shared_bytes);
	return blocks * warps;
}
