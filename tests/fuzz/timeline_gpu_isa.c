// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_gpu_isa - any bytes as code of each instruction set that hpct follows dependencies in: every
 * instruction has a length, a name and a kind; what it defines, uses, counts and waits for are resources with
 * names. Seeds: tests/gpu/.
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/code/decode.h"
#include "timeline/code/gpu_isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct gpu_isa *const sets[] = {
	&gpu_isa_volta, &gpu_isa_hopper, &gpu_isa_gcn, &gpu_isa_cdna2, &gpu_isa_cdna3};

static void check_set(const struct gpu_isa *isa, const struct gpu_set *set)
{
	char name[16];

	for (unsigned r = 0; r < 64 * sizeof set->words / sizeof *set->words; r++) {
		if (!gpu_set_has(set, r))
			continue;
		if (r >= GPU_RESOURCES || isa->resource_name(r, name, sizeof name) >= (int)sizeof name ||
			!*name)
			abort();
		if (isa->is_run(r) && r + 1 >= GPU_RESOURCES)
			abort();
	}
}

static void check(const struct gpu_isa *isa, const uint8_t *bytes, size_t size)
{
	struct gpu_instruction in;
	struct gpu_arithmetic arithmetic;
	bool is_known = isa->instruction(bytes, size, &in);

	if (!in.name || is_known != (in.kind != GPU_KIND_OPAQUE) || in.space >= GPU_SPACE_COUNT)
		abort();
	check_set(isa, &in.defines);
	check_set(isa, &in.uses);
	for (unsigned c = 0; c < GPU_COUNTERS; c++)
		if ((in.counts >> c & 1) != gpu_set_has(&in.defines, GPU_COUNTER + c) ||
			(in.waits >> c & 1) != gpu_set_has(&in.uses, GPU_COUNTER + c))
			abort();
	if (isa->arithmetic)
		isa->arithmetic(bytes, size, &arithmetic);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gpu_isa *isa = size ? sets[data[0] % (sizeof sets / sizeof *sets)] : NULL;
	struct decoder *decoder;
	struct instruction in;

	if (!isa || gpu_isa_of(isa->machine) != isa || decoder_open(&decoder, isa->machine))
		return 0;
	for (size_t at = 1; at < size; at += in.size) {
		decoder_next(decoder, data + at, size - at, at, &in);
		if (!in.size || in.size > size - at)
			abort();
		check(isa, data + at, in.size);
	}
	decoder_close(decoder);
	return 0;
}
