/* SPDX-License-Identifier: Apache-2.0 */
/* sass_isa.c - NVIDIA's rows of gpu_isa.h: words are the same from sm_70 on, branches changed with sm_90. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "timeline/code/gpu_isa.h"
#include "timeline/code/sass_word.h"

struct words {
	uint64_t low, high;
};

static struct words words_of(const uint8_t *bytes, size_t size)
{
	struct words words = {0};

	if (size >= sizeof words)
		memcpy(&words, bytes, sizeof words);
	return words;
}

static bool instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	struct words words = words_of(bytes, size);

	return sass_instruction(words.low, words.high, in);
}

static void arithmetic(const uint8_t *bytes, size_t size, struct gpu_arithmetic *to)
{
	struct words words = words_of(bytes, size);

	sass_arithmetic(words.low, words.high, to);
}

/* One number of each space. */
static int resource_name(unsigned resource, char *text, size_t size)
{
	if (resource < GPU_UNIFORM)
		return snprintf(text, size, "R%u", resource);
	if (resource < GPU_PREDICATE)
		return snprintf(text, size, "UR%u", resource - GPU_UNIFORM);
	if (resource < GPU_UNIFORM_PREDICATE)
		return snprintf(text, size, "P%u", resource - GPU_PREDICATE);
	if (resource < GPU_BARRIER)
		return snprintf(text, size, "UP%u", resource - GPU_UNIFORM_PREDICATE);
	return snprintf(text, size, "B%u", resource - GPU_BARRIER);
}

static bool is_run(unsigned resource)
{
	return resource + 1 != GPU_UNIFORM && resource + 1 < GPU_PREDICATE;
}

const struct gpu_isa gpu_isa_volta = {.vendor = GPU_VENDOR_NVIDIA,
	.machine = EM_CUDA | SASS_VOLTA << 16,
	.instruction = instruction,
	.arithmetic = arithmetic,
	.resource_name = resource_name,
	.is_run = is_run};
const struct gpu_isa gpu_isa_hopper = {.vendor = GPU_VENDOR_NVIDIA,
	.machine = EM_CUDA | SASS_HOPPER << 16,
	.instruction = instruction,
	.arithmetic = arithmetic,
	.resource_name = resource_name,
	.is_run = is_run};
