/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_code_math.c - finds code of CUDA's precise math functions: they are inlined without a trace in line
 * tables, but each has coefficients that nothing else has. What stands on the same source line belongs to it,
 * and without lines what stands near.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/kernel_code.h"

#define NEAR 24u /* instructions */

/* Of sinf, cosf, tanf (2 / pi), expf, logf, powf, log2f, tanhf, erff, atanf: in no fast form. */
static const uint32_t coefficients[] = {
	0x3f22f983, 0x3bbb989d, 0x3e055027, 0x3a2c32e4, 0x3dc6b27f, 0x3c80f082, 0x3aae005b, 0x3b2090aa};

static bool has_coefficient(const struct kernel_code *code, uint32_t i)
{
	const uint8_t *bytes = code->isa->vendor == GPU_VENDOR_NVIDIA
				       ? gpu_code_image(code->binary, code->addresses[i], 8)
				       : NULL;
	uint32_t words[2];

	if (!bytes)
		return false;
	memcpy(words, bytes, sizeof words);
	if ((words[0] >> 9 & 7) != 2 && (words[0] >> 9 & 7) != 4) /* no immediate */
		return false;
	for (unsigned c = 0; c < sizeof coefficients / sizeof *coefficients; c++)
		if (words[1] == coefficients[c])
			return true;
	return false;
}

struct position {
	const char *file;
	uint32_t line;
};

static void mark_line(struct kernel_code *code, const struct position *of, const struct position *at)
{
	for (uint32_t i = 0; i < code->count; i++)
		code->is_math[i] |= of[i].line && of[i].line == at->line && strcmp(of[i].file, at->file) == 0;
}

static void mark_near(struct kernel_code *code, uint32_t at)
{
	uint32_t end = at + NEAR < code->count ? at + NEAR : code->count - 1;

	for (uint32_t i = at > NEAR ? at - NEAR : 0; i <= end; i++)
		code->is_math[i] = true;
}

bool kernel_code_find_math(struct kernel_code *code)
{
	struct position *positions = NULL;

	code->is_math = calloc((size_t)code->count + 1, sizeof *code->is_math);
	if (!code->is_math)
		return false;
	for (uint32_t i = 0; i < code->count; i++) {
		if (code->is_math[i] || !has_coefficient(code, i))
			continue;
		if (!positions) {
			positions = calloc((size_t)code->count + 1, sizeof *positions);
			if (!positions)
				return false;
			for (uint32_t p = 0; p < code->count; p++)
				if (!gpu_code_line(code->binary, code->addresses[p], &positions[p].file,
					    &positions[p].line))
					positions[p] = (struct position){"", 0};
		}
		if (positions[i].line)
			mark_line(code, positions, &positions[i]);
		else
			mark_near(code, i);
	}
	free(positions);
	return true;
}
